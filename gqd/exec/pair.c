/* SPDX-License-Identifier: MIT
 * pair.c - one (job, incarnation): the connection to its shim, and what to believe without one
 * A shim that is gone left a record, or it left nothing. In the second case the last processes of
 * its capsule may still be dying, so a lost pair is looked at again and again until its cgroup (or
 * its session) is empty; only then is it reported. */
#include "private.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/kv.h"
#include "base/mem.h"

#define LOOK_AGAIN GQ_MSEC(10)

static uint64_t pair_key(uint32_t job, uint32_t inc)
{
	return (uint64_t)job << 32 | inc;
}

struct pair *pair_get(const struct exec *x, uint32_t job, uint32_t inc)
{
	return map_get(&x->pairs, pair_key(job, inc));
}

struct pair *pair_alloc(enum pair_state state)
{
	struct pair *p = xnew(struct pair);

	p->state = state;
	p->link_fd = p->pidfd = -1;
	p->link = (struct source){.kind = SOURCE_LINK, .pair = p};
	p->process = (struct source){.kind = SOURCE_PROCESS, .pair = p};
	return p;
}

void pair_name(struct exec *x, struct pair *p, uint32_t job, uint32_t inc)
{
	p->job = job;
	p->incarnation = inc;
	p->state = PAIR_LIVE;
	map_put(&x->pairs, pair_key(job, inc), p);
}

struct pair *pair_new(struct exec *x, uint32_t job, uint32_t inc)
{
	struct pair *p = pair_alloc(PAIR_LIVE);

	pair_name(x, p, job, inc);
	return p;
}

/* Freed later: events of this turn may still point to it. */
void pair_drop(struct exec *x, struct pair *p)
{
	pair_close_link(x, p);
	if (p->child && p->pidfd >= 0) {
		/* A shim that was forgotten is on its way out; it must not stay a zombie. Its watch
		 * is handed over, never doubled: epoll knows the file behind a descriptor. */
		struct source *s = xnew(struct source);
		struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};

		*s = (struct source){.kind = SOURCE_HELPER, .fd = TAKE_FD(p->pidfd)};
		epoll_ctl(x->epoll_fd, EPOLL_CTL_MOD, s->fd, &e);
	}
	if (p->pidfd >= 0)
		exec_unwatch(x, TAKE_FD(p->pidfd));
	p->dead = true;
	p->next = x->dead;
	x->dead = p;
}

void pair_del(struct exec *x, struct pair *p)
{
	map_del(&x->pairs, pair_key(p->job, p->incarnation));
	if (!spare_keep(x, p))
		pair_drop(x, p);
}

void pair_watch(struct exec *x, struct pair *p, int link_fd, int pidfd)
{
	p->link_fd = link_fd;
	p->pidfd = pidfd;
	exec_watch(x, link_fd, &p->link);
	if (pidfd >= 0)
		exec_watch(x, pidfd, &p->process);
}

void pair_close_link(struct exec *x, struct pair *p)
{
	if (p->link_fd >= 0)
		exec_unwatch(x, TAKE_FD(p->link_fd));
}

void pair_close_process(struct exec *x, struct pair *p)
{
	if (p->pidfd < 0)
		return;
	if (p->child)
		waitid(P_PIDFD, (id_t)p->pidfd, &(siginfo_t){0}, WEXITED | WNOHANG);
	exec_unwatch(x, TAKE_FD(p->pidfd));
}

int pair_connect(struct exec *x, struct pair *p)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;
	struct ucred shim;
	socklen_t n = sizeof(shim);
	char path[PATH_MAX];
	int pidfd = p->pidfd;

	path_socket(x, path, p->job, p->incarnation);
	str_copy(a.sun_path, sizeof(a.sun_path), path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -errno;
	if (pidfd < 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &shim, &n) == 0)
		pidfd = (int)syscall(SYS_pidfd_open, shim.pid, 0);
	if (p->pidfd >= 0) {
		p->link_fd = TAKE_FD(fd);
		return exec_watch(x, p->link_fd, &p->link);
	}
	pair_watch(x, p, TAKE_FD(fd), pidfd);
	return 0;
}

int pair_tell(struct exec *x, struct pair *p, const struct buf *message)
{
	(void)x;
	if (p->link_fd >= 0)
		send(p->link_fd, message->data, message->len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return 0;
}

static const struct {
	const char *name;
	enum exec_report_type type;
	bool last;
} messages[] = {
	{"started", EXEC_STARTED, false},
	{"store-failed", EXEC_STORE_FAILED, false},
	{"size", EXEC_SIZE, false},
	{"grade", EXEC_GRADE, false},
	{"exited", EXEC_EXITED, true},
	{"stored", EXEC_STORED, true},
	{"start-failed", EXEC_START_FAILED, true},
	{"restore-failed", EXEC_RESTORE_FAILED, true},
};

static void findings_read(const char *data, size_t len, struct exec_report *r)
{
	size_t pos = 0, n;
	const char *key, *value;

	while (kv_next(data, len, &pos, &key, &n, &value))
		if (n == 7 && !strncmp(key, "finding", n) && r->n_findings < EXEC_FINDINGS_MAX)
			r->findings[r->n_findings++] = value;
}

void pair_message(struct exec *x, struct pair *p, const char *data, size_t len)
{
	const char *name = kv_get(data, len, "msg");
	struct exec_report r = {
		.job = p->job,
		.incarnation = p->incarnation,
		.exit_code = (int)kv_int(data, len, "code", 0),
		.exit_signal = (int)kv_int(data, len, "signal", 0),
		.at = kv_int(data, len, "at", 0),
		.took = kv_int(data, len, "took", 0),
		.took2 = kv_int(data, len, "frozen", 0),
		.bytes = kv_int(data, len, "bytes", 0),
		.rss_mib = kv_int(data, len, "rss", 0),
		.text = kv_get(data, len, "text"),
		.grade = (int)kv_int(data, len, "grade", 0),
	};

	findings_read(data, len, &r);
	for (size_t i = 0; name && i < ARRAY_LEN(messages); i++) {
		if (strcmp(messages[i].name, name))
			continue;
		r.type = messages[i].type;
		if (messages[i].last) {
			p->state = PAIR_ENDED;
			p->stays = kv_int(data, len, "stays", 0) == 1;
		}
		if (r.type == EXEC_STARTED) {
			p->started_at = r.at;
			p->started_took = r.took;
		}
		if (r.type != EXEC_SIZE)
			spare_plan(x); /* not earlier: the job's start comes first */
		x->report(x->ctx, &r);
		return;
	}
}

void pair_started(struct exec *x, struct pair *p)
{
	struct exec_report r = {.type = EXEC_STARTED, .job = p->job, .incarnation = p->incarnation,
		.at = p->started_at, .took = p->started_took};

	p->again = false;
	x->report(x->ctx, &r);
}

bool pair_record(struct exec *x, struct pair *p)
{
	_cleanup_free_ char *data = NULL;
	char path[PATH_MAX];
	size_t len;

	if (file_read(path_record(x, path, p->job, p->incarnation), LINK_BYTES_MAX, &data, &len, NULL) < 0)
		return false;
	kv_from_lines(data, len);
	if (!kv_check(data, len, LINK_HEAD) || !kv_get(data, len, "end"))
		return false; /* cut off by the death of the machine: as if it were not there */
	pair_message(x, p, data, len);
	return p->state == PAIR_ENDED;
}

void pair_lost(struct exec *x, struct pair *p)
{
	if (p->state != PAIR_LIVE)
		return;
	p->state = PAIR_LOST;
	exec_wake(x, 0);
}

/* Kills what is left in the cgroup; true when nothing is. */
static bool cgroup_emptied(const struct exec *x, const struct pair *p)
{
	char path[PATH_MAX], file[PATH_MAX + 32];
	_cleanup_free_ char *events = NULL;
	int fd;

	if (!path_cgroup(x, path, p->job, p->incarnation)[0])
		return true;
	snprintf(file, sizeof(file), "%s/cgroup.events", path);
	if (file_read(file, 4096, &events, NULL, NULL) < 0)
		return true;
	if (strstr(events, "populated 0")) {
		rmdir(path);
		return true;
	}
	snprintf(file, sizeof(file), "%s/cgroup.kill", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t w = write(fd, "1", 1);

		(void)w; /* looked at again soon */
		close(fd);
	}
	return false;
}

/* The job that a process was started for, by its environment; 0 = none of ours. */
uint32_t job_in_environ(const struct exec *x, pid_t pid)
{
	char file[64], want[PATH_MAX];
	_cleanup_free_ char *env = NULL;
	const char *dir;
	uint32_t job;
	size_t len;

	snprintf(file, sizeof(file), "/proc/%d/environ", (int)pid);
	if (file_read(file, 4u << 20, &env, &len, NULL) < 0 || !len || env[len - 1])
		return 0;
	dir = kv_get(env, len, "GQ_RUN_DIR");
	if (!dir || !strrchr(dir, '/'))
		return 0;
	job = (uint32_t)strtoul(strrchr(dir, '/') + 1, NULL, 10);
	return strcmp(dir, path_job(x, want, job)) ? 0 : job;
}

/* The same for jobs without a capsule: every process of ours whose environment names the job. */
static bool descendants_emptied(const struct exec *x, const struct pair *p)
{
	_cleanup_closedir_ DIR *d = opendir("/proc");
	struct dirent *e;
	bool empty = true;

	while (d && (e = readdir(d))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)strtol(e->d_name, NULL, 10) : 0;

		if (!pid || job_in_environ(x, pid) != p->job)
			continue;
		empty = false;
		kill(pid, SIGKILL);
	}
	return empty;
}

void pair_settle(struct exec *x, struct pair *p)
{
	char path[PATH_MAX];
	struct exec_report r = {.type = EXEC_GONE, .job = p->job, .incarnation = p->incarnation};

	if (pair_record(x, p))
		return;
	if (p->pidfd >= 0)
		return; /* the shim has not quite ended; its pidfd will say so */
	if (x->conf.capsule ? !cgroup_emptied(x, p) : !descendants_emptied(x, p)) {
		exec_wake(x, LOOK_AGAIN);
		return;
	}
	unlink(path_socket(x, path, p->job, p->incarnation));
	p->state = PAIR_ENDED;
	r.at = gq_now();
	/* The image is published while the job is frozen for good: then nothing was lost. */
	if (exec_has_image(x, p->job, p->incarnation))
		r.type = EXEC_STORED;
	x->report(x->ctx, &r);
}
