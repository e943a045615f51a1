/* SPDX-License-Identifier: MIT
 * preflight.c - a walk over /proc of the capsule: state, credentials, namespaces, files, mappings */
#include "preflight.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "descriptor.h"
#include "shm.h"
#include "sockets.h"

#define STATUS_MAX (64u << 10)

struct walk {
	const struct preflight *p;
	struct findings *found;
	struct sockets sockets; /* of all processes */
	struct pipes pipes;     /* likewise */
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

static void look_at_file(struct walk *w, pid_t pid, int fd, const char *link)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (stat(path, &st) < 0)
		return; /* closed meanwhile */
	if (S_ISSOCK(st.st_mode) && !strncmp(link, "socket:", 7))
		sockets_add(&w->sockets, st.st_ino, pid);
	else if (S_ISFIFO(st.st_mode))
		pipes_add(&w->pipes, pid, fd, &st);
	else
		descriptor_look(pid, link, &st, w->found);
}

static void look_at_files(struct walk *w, pid_t pid)
{
	char dir[32], link[256];
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

		if (n <= 0)
			continue;
		link[n] = '\0';
		look_at_file(w, pid, (int)strtol(e->d_name, NULL, 10), link);
	}
}

/* A ring or a device may be mapped after its descriptor was closed. */
static void look_at_mappings(struct walk *w, pid_t pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	char path[32];
	size_t cap = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && getline(&line, &cap, f) > 0) {
		const char *name = strpbrk(line, "/[");
		const char *object = strstr(line, "anon_inode:");

		if (object || name)
			mapping_look(pid, object ? object : name, w->found);
	}
}

static int64_t status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static int link_read(const char *path, char *ret, size_t size)
{
	ssize_t n = readlink(path, ret, size - 1);

	if (n < 0)
		return -1;
	ret[n] = '\0';
	return 0;
}

/* criu dumps the namespaces of the job's first process, and no others below them. */
static void look_at_namespaces(struct walk *w, pid_t pid)
{
	static const char *const names[] = {"net", "user", "mnt", "pid", "ipc", "uts", "time"};
	char path[64], its[64], roots[64];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, names[i]);
		if (link_read(path, its, sizeof(its)) < 0)
			continue;
		/* the root's are ours, but for System V memory (start.c) and the clock (criu) */
		snprintf(path, sizeof(path), "/proc/%d/ns/%s",
			strcmp(names[i], "ipc") && strcmp(names[i], "time") ? (int)getpid()
									    : (int)w->p->root,
			names[i]);
		if (link_read(path, roots, sizeof(roots)) == 0 && strcmp(its, roots) != 0)
			findings_add(w->found, GRADE_RAM, pid,
				"start it without its sandbox (unshare, bwrap, container)",
				"has its own %s namespace", names[i]);
	}
}

/* /proc lists by PID, and after a wrap a child may come before its parent; criu starts from the
 * root, so a process that hangs below PID 1 instead was left behind by a parent that ended. */
static void look_at_status(struct walk *w, pid_t pid, const char *status)
{
	pid_t parent = (pid_t)status_number(status, "\nPPid:");
	pid_t tracer = (pid_t)status_number(status, "\nTracerPid:");
	uid_t uid = (uid_t)status_number(status, "\nUid:");

	if (pid != w->p->root && parent == 1)
		findings_add(w->found, GRADE_RAM, pid, "let the job wait for it",
			"was left behind by its parent (a daemon outside the job's tree)");
	if (tracer)
		findings_add(w->found, GRADE_RAM, pid, "end the debugger",
			"is traced by process %d (a debugger)", (int)tracer);
	if (status_number(status, "\nHugetlbPages:"))
		findings_add(w->found, GRADE_RAM, pid, "use madvise(MADV_HUGEPAGE) instead of MAP_HUGETLB",
			"has memory in reserved huge pages");
	if (uid != geteuid() && uid != w->p->uid && !can_dump_other_users())
		findings_add(w->found, GRADE_RAM, pid, "give gqd CAP_SYS_RESOURCE",
			"runs as uid %u and this machine lacks CAP_SYS_RESOURCE", (unsigned)uid);
}

static void look_at(struct walk *w, pid_t pid)
{
	_cleanup_free_ char *status = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read(path, STATUS_MAX, &status, NULL, NULL) < 0)
		return; /* it has just ended */
	if (strstr(status, "\nState:\tZ"))
		return;
	w->bytes += (status_number(status, "\nRssAnon:") + status_number(status, "\nRssShmem:")) << 10;
	look_at_status(w, pid, status);
	look_at_namespaces(w, pid);
	look_at_files(w, pid);
	look_at_mappings(w, pid);
}

static void look_at_all(struct walk *w)
{
	_cleanup_closedir_ DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)strtol(e->d_name, NULL, 10) : 0;

		if (pid > 0 && pid != getpid())
			look_at(w, pid);
	}
}

static void look_at_job(struct walk *w)
{
	if (!w->p->can_freeze)
		findings_add(w->found, GRADE_NONE, 0, "mount cgroup v2",
			"cgroup v2 is not mounted, nothing can be frozen");
	if (w->p->uid != geteuid() && !can_dump_other_users())
		findings_add(w->found, GRADE_RAM, 0, "give gqd CAP_SYS_RESOURCE",
			"the job runs as uid %u and this machine lacks CAP_SYS_RESOURCE, without which only "
			"root's processes can be dumped", (unsigned)w->p->uid);
}

static int64_t shm_bytes(void)
{
	struct statvfs v;

	return statvfs(SHM_DIR, &v) < 0 ? 0 : (int64_t)(v.f_blocks - v.f_bfree) * (int64_t)v.f_frsize;
}

void preflight(const struct preflight *p, struct findings *ret, int64_t *ret_bytes)
{
	struct walk w = {.p = p, .found = ret};

	findings_begin(ret);
	look_at_job(&w);
	look_at_all(&w);
	sockets_look(&w.sockets, ret);
	pipes_look(&w.pipes, ret);
	sockets_clear(&w.sockets);
	pipes_clear(&w.pipes);
	if (ret_bytes)
		*ret_bytes = w.bytes + shm_bytes();
}
