/* SPDX-License-Identifier: MIT
 * descriptor.c - knows files by their names in /proc, devices by their numbers, pipes by both ends */
#include "descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"

#define OWN_CURE "let the program save its state by itself (gqsub --checkpoint=app)"

static const struct rule {
	const char *link; /* how it begins */
	const char *what, *cure;
} rules[] = {
	{"anon_inode:[io_uring]", "uses io_uring",
		"set UV_USE_IO_URING=0, or switch it off in the program"},
	{"anon_inode:[perf_event]", "has a performance counter open", "run it without the profiler"},
	{"anon_inode:[fanotify]", "uses fanotify", "watch files with inotify"},
	{"anon_inode:[userfaultfd]", "handles page faults itself (userfaultfd)", OWN_CURE},
	{"anon_inode:seccomp notify", "supervises system calls (seccomp notification)",
		"start the job without that supervisor"},
	{"anon_inode:kvm", "runs a virtual machine", OWN_CURE},
	{"/dev/fuse", "serves a FUSE file system", "mount that file system outside the job"},
	{"/dev/net/tun", "has a network device open", "make that device outside the job"},
	{"/dev/loop", "has a loop device open", "set up that device outside the job"},
	{"/dev/infiniband/", "uses InfiniBand (RDMA)",
		"keep to TCP and shared memory: NCCL_IB_DISABLE=1, UCX_TLS=tcp,self,posix,cma"},
	{"/dev/pts/", "has a terminal open", "use files or pipes"},
	{"/dev/ptmx", "has a terminal open", "use files or pipes"},
};

/* What criu can store. */
static const char *const good_inodes[] = {"anon_inode:[eventfd]", "anon_inode:[eventpoll]",
	"anon_inode:[timerfd]", "anon_inode:inotify", "anon_inode:[signalfd]", "anon_inode:[pidfd]",
	"anon_inode:bpf-map"};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool by_rule(pid_t pid, const char *link, struct findings *found)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		if (!begins(link, rules[i].link))
			continue;
		findings_add(found, GRADE_RAM, pid, rules[i].cure, "%s", rules[i].what);
		return true;
	}
	return false;
}

/* A kernel object without a file: what is not known to work does not. */
static void look_at_object(pid_t pid, const char *link, struct findings *found)
{
	for (size_t i = 0; i < ARRAY_LEN(good_inodes); i++)
		if (begins(link, good_inodes[i]))
			return;
	findings_add(found, GRADE_RAM, pid, OWN_CURE, "holds a kernel object that criu does not know: %.60s",
		link + strlen("anon_inode:"));
}

/* The driver's own devices are the business of whoever parks the card. */
static void look_at_device(pid_t pid, const char *link, const struct stat *st, struct findings *found)
{
	if (major(st->st_rdev) == 1 || begins(link, "/dev/nvidia"))
		return;
	findings_add(found, GRADE_RAM, pid, "close it, or let a process outside the job use it",
		"has the device %.80s open", link);
}

void descriptor_look(pid_t pid, const char *link, const struct stat *st, struct findings *found)
{
	if (by_rule(pid, link, found))
		return;
	if (begins(link, "anon_inode:"))
		look_at_object(pid, link, found);
	else if (S_ISCHR(st->st_mode))
		look_at_device(pid, link, st, found);
}

void mapping_look(pid_t pid, const char *name, struct findings *found)
{
	by_rule(pid, name, found);
}

/* --- pipes ----------------------------------------------------------------------------------- */

static int flags_of(pid_t pid, int fd)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	if (file_read(path, 4096, &text, NULL, NULL) < 0)
		return O_RDWR;
	at = strstr(text, "flags:");
	return at ? (int)strtol(at + 6, NULL, 8) & O_ACCMODE : O_RDWR;
}

void pipes_add(struct pipes *p, pid_t pid, int fd, const struct stat *st)
{
	int mode = flags_of(pid, fd);
	size_t i = 0;

	while (i < p->len && (p->list[i].inode != st->st_ino || p->list[i].dev != st->st_dev))
		i++;
	if (i == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 16;
		p->list = xrealloc(p->list, p->cap, sizeof(*p->list));
	}
	if (i == p->len)
		p->list[p->len++] = (struct pipe_end){st->st_dev, st->st_ino, pid, fd, false, false};
	p->list[i].reads |= mode != O_WRONLY;
	p->list[i].writes |= mode != O_RDONLY;
}

/* The job has one end: is there another one anywhere? */
static bool has_other_end(const struct pipe_end *e)
{
	_cleanup_close_ int process = (int)syscall(SYS_pidfd_open, e->pid, 0);
	_cleanup_close_ int ours = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, e->fd, 0);
	struct pollfd p = {ours, e->reads ? POLLIN : POLLOUT, 0};

	if (ours < 0 || poll(&p, 1, 0) < 0)
		return false;
	return !(p.revents & (POLLHUP | POLLERR));
}

void pipes_look(const struct pipes *p, struct findings *found)
{
	for (size_t i = 0; i < p->len; i++) {
		const struct pipe_end *e = &p->list[i];

		if (e->reads && e->writes)
			continue;
		if (has_other_end(e))
			findings_add(found, GRADE_RAM, e->pid, "use a file, or move the other end into the job",
				"%s a pipe of a process outside the job",
				e->reads ? "reads from" : "writes to");
	}
}

void pipes_clear(struct pipes *p)
{
	free(p->list);
	*p = (struct pipes){0};
}
