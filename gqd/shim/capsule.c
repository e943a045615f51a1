/* SPDX-License-Identifier: MIT
 * capsule.c - namespaces, cgroup, and the processes inside */
#include "capsule.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"

static int write_text(const char *path, const char *text, struct gq_err *err)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return gq_err_sys(err, -errno, "%s", path);
	return 0;
}

/* The namespaces exist already (gqd cloned us into them); here they get their contents. Mounts
 * that the host makes or takes away later still arrive, ours never leave. */
int capsule_enter(struct gq_err *err)
{
	if (getpid() != 1) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		return 0;
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return gq_err_sys(err, -errno, "own mount namespace");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return gq_err_sys(err, -errno, "own /proc");
	/* Its own /dev/shm goes into the image and ends with the job; the host's would do neither. */
	if (mount("gq-shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0 &&
		errno != ENOENT)
		return gq_err_sys(err, -errno, "own /dev/shm");
	return 0;
}

static int first_pid_set(const struct launch *l, struct gq_err *err)
{
	char text[16];

	if (getpid() != 1)
		return gq_err_set(err, -EPROTO, "not started as PID 1 of a capsule");
	if (l->image)
		return 0; /* criu takes the low PIDs, and its gate sets the counter afterwards */
	snprintf(text, sizeof(text), "%d", CAPSULE_FIRST_PID - 1);
	return write_text("/proc/sys/kernel/ns_last_pid", text, err);
}

int capsule_make(const struct launch *l, int *ret_cgroup_fd, struct gq_err *err)
{
	int fd = -1, r;

	*ret_cgroup_fd = -1;
	if (!l->capsule)
		return 0;
	r = first_pid_set(l, err);
	if (r < 0)
		return r;
	if (l->cgroup) {
		if (mkdir(l->cgroup, 0755) < 0 && errno != EEXIST && dir_make(l->cgroup, 0755, err) < 0)
			return gq_err_prefix(err, -EIO, "cgroup");
		fd = open(l->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return gq_err_sys(err, -errno, "cgroup %s", l->cgroup);
	}
	*ret_cgroup_fd = fd;
	return 0;
}

void capsule_thaw(int cgroup_fd)
{
	_cleanup_close_ int fd = -1;
	ssize_t w;

	if (cgroup_fd < 0)
		return;
	fd = openat(cgroup_fd, "cgroup.freeze", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	w = write(fd, "0", 1);
	(void)w; /* it fails only when the cgroup is gone */
}

void capsule_remove(const struct launch *l)
{
	if (l->cgroup)
		rmdir(l->cgroup);
}

struct process {
	pid_t pid, parent;
};

struct processes {
	struct process *list; /* owned */
	size_t len, cap;
};

static void processes_clear(struct processes *p)
{
	free(p->list);
}

static pid_t parent_of(pid_t pid)
{
	char path[32], text[512], *close;
	_cleanup_close_ int fd = -1;
	ssize_t n;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	close = strrchr(text, ')'); /* the name before it may hold anything */
	if (!close || sscanf(close + 1, " %*c %d", &parent) != 1)
		return -1;
	return parent;
}

static void processes_read(struct processes *p)
{
	_cleanup_closedir_ DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		pid_t pid, parent;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		pid = (pid_t)strtol(e->d_name, NULL, 10);
		parent = parent_of(pid);
		if (parent < 0)
			continue;
		if (p->len == p->cap) {
			p->cap = p->cap ? p->cap * 2 : 64;
			p->list = xrealloc(p->list, p->cap, sizeof(*p->list));
		}
		p->list[p->len++] = (struct process){pid, parent};
	}
}

/* Keeps only the descendants of @root (without it). /proc lists by PID and a parent usually has
 * the lower one, so one pass nearly always does; repeat until nothing is added. */
static void processes_keep_below(struct processes *p, pid_t root)
{
	size_t kept = 0;
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = kept; i < p->len; i++) {
			struct process t = p->list[i];
			bool below = t.parent == root;

			for (size_t k = 0; k < kept && !below; k++)
				below = p->list[k].pid == t.parent;
			if (!below)
				continue;
			p->list[i] = p->list[kept];
			p->list[kept++] = t;
			more = true;
		}
	}
	p->len = kept;
}

void capsule_signal(const struct launch *l, int signal)
{
	_cleanup_(processes_clear) struct processes p = {0};

	if (l->capsule) {
		kill(-1, signal); /* in our PID namespace that is everybody but PID 1 */
		return;
	}
	processes_read(&p);
	processes_keep_below(&p, getpid());
	for (size_t i = 0; i < p.len; i++)
		kill(p.list[i].pid, signal);
}

static int64_t rss_of(pid_t pid)
{
	char path[32], text[128];
	_cleanup_close_ int fd = -1;
	ssize_t n;
	long pages;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sscanf(text, "%*s %ld", &pages) == 1 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

int64_t capsule_rss_mib(const struct launch *l)
{
	_cleanup_(processes_clear) struct processes p = {0};
	int64_t bytes = 0;

	(void)l;
	processes_read(&p);
	processes_keep_below(&p, getpid());
	for (size_t i = 0; i < p.len; i++)
		bytes += rss_of(p.list[i].pid);
	return (bytes + (1 << 20) - 1) >> 20;
}
