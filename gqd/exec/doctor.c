/* SPDX-License-Identifier: MIT
 * doctor.c - what works on this machine, and what to do where it does not
 * criu is asked once, in the background, when the room is opened. */
#include "private.h"

#include <linux/capability.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"

typedef void (*finding_fn)(void *ctx, const char *what, bool ok, const char *text,
	const char *cure);

struct criu_check {
	int pidfd, out_fd; /* -1 = not running */
	bool done, ok;
	char version[32];
	char text[200]; /* its last line */
};

struct criu_check *criu_check_begin(struct exec *x)
{
	char *argv[] = {(char *)"sh", (char *)"-c",
		(char *)"\"$0\" --version && exec \"$0\" check", (char *)x->conf.criu, NULL};
	struct criu_check *c = xnew(struct criu_check);

	c->out_fd = memfd_create("gq-criu-check", MFD_CLOEXEC);
	c->pidfd = c->out_fd < 0 ? -1 : spawn_output("/bin/sh", argv, c->out_fd);
	if (c->pidfd < 0) {
		c->done = true;
		str_copy(c->text, sizeof(c->text), "could not be run");
	}
	return c;
}

struct criu_check *criu_check_free(struct criu_check *c)
{
	if (!c)
		return NULL;
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->out_fd >= 0)
		close(c->out_fd);
	free(c);
	return NULL;
}

/* "Version: 4.2.1", perhaps more, then what `criu check` says; its errors are indented dates. */
static void output_read(struct criu_check *c)
{
	char out[4096], *save = NULL;
	ssize_t n = pread(c->out_fd, out, sizeof(out) - 1, 0);

	out[n < 0 ? 0 : n] = '\0';
	for (char *l = strtok_r(out, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(l, "Version: ", 9))
			str_copy(c->version, sizeof(c->version), l + 9);
		else if (!strstr(l, "RLIMIT_NOFILE"))
			str_copy(c->text, sizeof(c->text), l);
	}
}

/* true when it is known how it ended */
static bool criu_check_look(struct criu_check *c, int wait_ms)
{
	struct pollfd p = {c->pidfd, POLLIN, 0};
	siginfo_t info = {0};

	if (c->done)
		return true;
	if (poll(&p, 1, wait_ms) <= 0)
		return false;
	waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED);
	c->ok = info.si_code == CLD_EXITED && info.si_status == 0;
	c->done = true;
	output_read(c);
	close(TAKE_FD(c->pidfd));
	close(TAKE_FD(c->out_fd));
	return true;
}

const char *criu_check_version(struct criu_check *c)
{
	return c && criu_check_look(c, 0) && c->version[0] ? c->version : NULL;
}

/* Linux 6.16 took SO_PASSCRED from internet sockets; before 4.2 criu asks every socket for it. */
static bool criu_is_old(const char *version)
{
	int major, minor, kernel[2];
	struct utsname u;

	return uname(&u) == 0 && sscanf(u.release, "%d.%d", &kernel[0], &kernel[1]) == 2 &&
	       (kernel[0] > 6 || (kernel[0] == 6 && kernel[1] >= 16)) &&
	       sscanf(version, "%d.%d", &major, &minor) == 2 &&
	       (major < 4 || (major == 4 && minor < 2));
}

static void find_criu(const struct exec *x, finding_fn fn, void *ctx)
{
	char text[400];
	bool ok;

	if (!criu_check_look(x->check, 0)) { /* gqd waits for nobody */
		fn(ctx, "criu", false, "its check has not ended yet", "ask again in a second");
		return;
	}
	ok = x->check->ok && !criu_is_old(x->check->version);
	snprintf(text, sizeof(text), "%s %s: %s", x->conf.criu, x->check->version,
		x->check->ok && !ok ? "too old for this kernel, whatever its check says" : x->check->text);
	fn(ctx, "criu", ok, text, ok ? NULL
		: "no snapshots until it works; ./setup.sh deps installs or builds a criu that fits");
}

static bool cgroup_file(const struct exec *x, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", x->cgroup, name);
	return access(path, W_OK) == 0;
}

static void find_cgroup(const struct exec *x, finding_fn fn, void *ctx)
{
	char text[PATH_MAX + 64];
	bool ok;

	if (!x->cgroup) {
		fn(ctx, "cgroup", false, "version 2 is not mounted: no snapshots",
			"mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified");
		return;
	}
	ok = cgroup_file(x, "cgroup.freeze") && cgroup_file(x, "cgroup.kill");
	snprintf(text, sizeof(text), "%s%s", x->cgroup,
		ok ? ", can freeze and kill" : " has no cgroup.freeze or no cgroup.kill");
	fn(ctx, "cgroup", ok, text, ok ? NULL : "Linux 5.14 or newer is needed");
}

static void find_capability(finding_fn fn, void *ctx)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {0};
	bool ok;

	syscall(SYS_capget, &head, data);
	ok = data[CAP_SYS_RESOURCE / 32].effective & 1u << CAP_SYS_RESOURCE % 32;
	fn(ctx, "snapshots of users' jobs", ok,
		ok ? "CAP_SYS_RESOURCE is there" : "CAP_SYS_RESOURCE is missing: only root's jobs can be stored",
		ok ? NULL : "give the container or unit that capability");
}

/* A job reads its script below the state directory as its own user. */
static void find_path(const struct exec *x, finding_fn fn, void *ctx)
{
	char path[PATH_MAX], text[PATH_MAX + 64];
	struct stat st;

	str_copy(path, sizeof(path), x->conf.state_dir);
	for (char *slash = path + strlen(path); slash && slash > path; slash = strrchr(path, '/')) {
		*slash = '\0';
		if (stat(path, &st) == 0 && !(st.st_mode & S_IXOTH)) {
			snprintf(text, sizeof(text), "%s cannot be passed by users", path);
			fn(ctx, "state directory", false, text, "chmod o+x it, or only root can run jobs");
			return;
		}
	}
	fn(ctx, "state directory", true, x->conf.state_dir, NULL);
}

void exec_doctor(const struct exec *x, finding_fn fn, void *ctx)
{
	if (!x->conf.capsule) {
		fn(ctx, "capsule", false, "not root: jobs run as plain children, without snapshots",
			"run gqd as root");
		return;
	}
	fn(ctx, "capsule", true, "jobs run in namespaces of their own", NULL);
	find_criu(x, fn, ctx);
	find_cgroup(x, fn, ctx);
	find_capability(fn, ctx);
	find_path(x, fn, ctx);
}
