/* SPDX-License-Identifier: MIT
 * preflight.c - a walk over /proc of the capsule: descriptors, sockets, parents, credentials */
#include "preflight.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "shm.h"
#include "sockets.h"

#define STATUS_MAX (64u << 10)

static const struct {
	const char *link, *what;
} refused_files[] = {
	{"anon_inode:[io_uring]", "uses io_uring"},
	{"anon_inode:[perf_event]", "has a performance counter open"},
	{"anon_inode:[fanotify]", "uses fanotify"},
	{"anon_inode:kvm-vm", "runs a virtual machine"},
	{"/dev/fuse", "serves a FUSE file system"},
	{"/dev/net/tun", "has a network device open"},
	{"/dev/pts/", "has a terminal open"},
};

struct walk {
	pid_t root;
	struct sockets sockets; /* of all processes */
	int64_t bytes;
};

static bool can_dump_other_users(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	return data[CAP_SYS_RESOURCE / 32].effective & 1u << CAP_SYS_RESOURCE % 32;
}

static void comm_of(pid_t pid, char *ret, size_t size)
{
	_cleanup_free_ char *text = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (file_read(path, 64, &text, NULL, NULL) < 0)
		text = xstrdup("?");
	text[strcspn(text, "\n")] = '\0';
	str_copy(ret, size, text);
}

static int refuse(pid_t pid, const char *what, struct gq_err *err)
{
	char name[32];

	comm_of(pid, name, sizeof(name));
	return gq_err_set(err, -ENOTSUP, "process %d (%s) %s, which a snapshot cannot hold", (int)pid,
		name, what);
}

static int look_at_file(struct walk *w, pid_t pid, const char *link, struct gq_err *err)
{
	unsigned long inode;

	for (size_t i = 0; i < ARRAY_LEN(refused_files); i++)
		if (!strncmp(link, refused_files[i].link, strlen(refused_files[i].link)))
			return refuse(pid, refused_files[i].what, err);
	if (sscanf(link, "socket:[%lu]", &inode) == 1)
		sockets_add(&w->sockets, inode, pid);
	return 0;
}

static int look_at_files(struct walk *w, pid_t pid, struct gq_err *err)
{
	char dir[32], link[256];
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
		int r;

		if (n <= 0)
			continue;
		link[n] = '\0';
		r = look_at_file(w, pid, link, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int64_t status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* /proc lists by PID, and after a wrap a child may come before its parent; criu starts from the
 * root, so a process that hangs below PID 1 instead was left behind by a parent that ended. */
static int look_at_parent(struct walk *w, pid_t pid, const char *status, struct gq_err *err)
{
	pid_t parent = (pid_t)status_number(status, "\nPPid:");

	if (pid != w->root && parent == 1)
		return refuse(pid, "was left behind by its parent (a daemon outside the job's tree)", err);
	return 0;
}

static int look_at(struct walk *w, pid_t pid, struct gq_err *err)
{
	_cleanup_free_ char *status = NULL;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read(path, STATUS_MAX, &status, NULL, NULL) < 0)
		return 0; /* it has just ended */
	if (strstr(status, "\nState:\tZ"))
		return 0;
	w->bytes += (status_number(status, "\nRssAnon:") + status_number(status, "\nRssShmem:")) << 10;
	r = look_at_parent(w, pid, status, err);
	return r < 0 ? r : look_at_files(w, pid, err);
}

static int look_at_all(struct walk *w, struct gq_err *err)
{
	_cleanup_closedir_ DIR *d = opendir("/proc");
	struct dirent *e;

	if (!d)
		return gq_err_sys(err, -errno, "/proc");
	while ((e = readdir(d))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)strtol(e->d_name, NULL, 10) : 0;
		int r;

		if (pid <= 0 || pid == getpid())
			continue;
		r = look_at(w, pid, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int look_at_sockets(struct walk *w, struct gq_err *err)
{
	char what[128];
	pid_t pid = sockets_outside(&w->sockets, what, sizeof(what));

	return pid ? refuse(pid, what, err) : 0;
}

static int64_t shm_bytes(void)
{
	struct statvfs v;

	return statvfs(SHM_DIR, &v) < 0 ? 0 : (int64_t)(v.f_blocks - v.f_bfree) * (int64_t)v.f_frsize;
}

int preflight(pid_t root, uid_t uid, int64_t *ret_bytes, struct gq_err *err)
{
	struct walk w = {.root = root};
	int r;

	if (uid != geteuid() && !can_dump_other_users())
		return gq_err_set(err, -ENOTSUP, "the job runs as uid %u and this machine lacks "
			"CAP_SYS_RESOURCE, without which only root's processes can be dumped",
			(unsigned)uid);
	r = look_at_all(&w, err);
	if (!r)
		r = look_at_sockets(&w, err);
	sockets_clear(&w.sockets);
	if (!r)
		*ret_bytes = w.bytes + shm_bytes();
	return r;
}
