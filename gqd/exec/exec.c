/* SPDX-License-Identifier: MIT
 * exec.c - the room's front: start, adopt, tell, forget, and the turn of its epoll */
#include "private.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/kv.h"
#include "base/mem.h"

int exec_watch(struct exec *x, int fd, struct source *source)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(x->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

void exec_rewatch(struct exec *x, int fd, struct source *source)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = source};

	epoll_ctl(x->epoll_fd, EPOLL_CTL_MOD, fd, &e);
}

void exec_unwatch(struct exec *x, int fd)
{
	epoll_ctl(x->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	close(fd);
}

void exec_wake(struct exec *x, gq_time in)
{
	struct itimerspec t = {.it_value = {in / GQ_NS_PER_S, in % GQ_NS_PER_S}}, now;

	if (in <= 0)
		t.it_value.tv_nsec = 1;
	if (timerfd_gettime(x->timer_fd, &now) == 0 && (now.it_value.tv_sec || now.it_value.tv_nsec) &&
		GQ_SEC(now.it_value.tv_sec) + now.it_value.tv_nsec < in)
		return;
	timerfd_settime(x->timer_fd, 0, &t, NULL);
}

void exec_remove(struct exec *x, const char *path)
{
	struct source *s;
	int fd = spawn_remove(x, path);

	if (fd < 0) {
		dir_remove(path);
		return;
	}
	s = xnew(struct source);
	*s = (struct source){.kind = SOURCE_HELPER, .fd = fd};
	if (exec_watch(x, fd, s) < 0) {
		close(fd);
		free(s);
	}
}

static void conf_copy(struct exec_conf *to, const struct exec_conf *from)
{
	*to = *from;
	to->run_dir = xstrdup(from->run_dir);
	to->state_dir = xstrdup(from->state_dir);
	to->image_dir = xstrdup(from->image_dir);
	to->shim = xstrdup(from->shim);
	to->criu = xstrdup(from->criu ? from->criu : "criu");
}

static void boot_id_read(struct exec *x)
{
	_cleanup_free_ char *id = NULL;

	if (file_read("/proc/sys/kernel/random/boot_id", 64, &id, NULL, NULL) < 0)
		return;
	id[strcspn(id, "\n")] = '\0';
	str_copy(x->boot_id, sizeof(x->boot_id), id);
}

int exec_new(const struct exec_conf *conf, exec_report_fn report, void *ctx, struct exec **ret,
	struct gq_err *err)
{
	struct exec *x = xnew(struct exec);
	int r;

	conf_copy(&x->conf, conf);
	x->report = report;
	x->ctx = ctx;
	x->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	x->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	x->timer.kind = SOURCE_TIMER;
	x->spare_at = GQ_NEVER;
	boot_id_read(x);
	r = x->epoll_fd < 0 || x->timer_fd < 0 ? gq_err_sys(err, -errno, "epoll") : 0;
	if (!r)
		r = exec_watch(x, x->timer_fd, &x->timer);
	if (!r)
		r = layout_make(x, err);
	if (r < 0) {
		exec_free(x);
		return r;
	}
	launch_mark_file(x); /* where it fails, the first launch says so */
	if (conf->capsule) {
		layout_find_cgroup(x, NULL); /* without one: no snapshots, and the doctor says so */
		x->check = criu_check_begin(x);
	}
	spare_plan(x);
	*ret = x;
	return 0;
}

static void dead_free(struct exec *x)
{
	while (x->dead) {
		struct pair *p = x->dead;

		x->dead = p->next;
		free(p);
	}
}

/* They see the end of their links, and leave. */
static void spares_free(struct exec *x)
{
	while (x->spares) {
		struct pair *p = x->spares;

		x->spares = p->next;
		close(p->link_fd);
		close(p->pidfd);
		free(p);
	}
}

struct exec *exec_free(struct exec *x)
{
	struct pair *p;

	if (!x)
		return NULL;
	for (size_t i = 0; (p = map_next(&x->pairs, &i));) {
		pair_close_link(x, p);
		if (p->pidfd >= 0)
			close(p->pidfd);
		free(p);
	}
	map_clear(&x->pairs);
	spares_free(x);
	dead_free(x);
	if (x->epoll_fd >= 0)
		close(x->epoll_fd);
	if (x->timer_fd >= 0)
		close(x->timer_fd);
	criu_check_free(x->check);
	free((char *)x->conf.run_dir);
	free((char *)x->conf.state_dir);
	free((char *)x->conf.image_dir);
	free((char *)x->conf.shim);
	free((char *)x->conf.criu);
	if (x->cgroup)
		rmdir(x->cgroup); /* fails while a job is in it */
	free(x->cgroup);
	free(x->cgroup_in_proc);
	free(x);
	return NULL;
}

int exec_fd(const struct exec *x)
{
	return x->epoll_fd;
}

/* Reports may start and forget pairs, so the walk is over a copy. */
static void on_timer(struct exec *x)
{
	_cleanup_free_ struct pair **waiting = xnew_n(struct pair *, x->pairs.len + 1);
	struct pair *p;
	size_t len = 0;
	uint64_t n;

	if (read(x->timer_fd, &n, sizeof(n)) < 0)
		return;
	for (size_t i = 0; (p = map_next(&x->pairs, &i));)
		if (p->state == PAIR_LOST || p->again)
			waiting[len++] = p;
	for (size_t i = 0; i < len; i++) {
		p = waiting[i];
		if (!p->dead && p->state == PAIR_LOST)
			pair_settle(x, p);
		else if (!p->dead && p->state == PAIR_LIVE && p->again)
			pair_started(x, p);
	}
	spare_due(x);
}

static void on_link(struct exec *x, struct pair *p)
{
	char data[LINK_BYTES_MAX];
	ssize_t n;

	while (!p->dead && p->link_fd >= 0) {
		n = recv(p->link_fd, data, sizeof(data), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			pair_close_link(x, p);
			if (p->state == PAIR_LIVE && pair_connect(x, p) < 0)
				pair_lost(x, p);
			return;
		}
		if (kv_check(data, (size_t)n, LINK_HEAD))
			pair_message(x, p, data, (size_t)n);
	}
}

static void on_process(struct exec *x, struct pair *p)
{
	if (p->link_fd >= 0)
		on_link(x, p); /* its last words */
	if (p->dead)
		return;
	pair_close_process(x, p);
	if (p->state == PAIR_SPARE)
		spare_gone(x, p);
	if (p->state == PAIR_LIVE)
		p->state = PAIR_LOST;
	if (p->state == PAIR_LOST)
		pair_settle(x, p);
}

static void on_helper(struct exec *x, struct source *s)
{
	waitid(P_PIDFD, (id_t)s->fd, &(siginfo_t){0}, WEXITED | WNOHANG);
	exec_unwatch(x, s->fd);
	free(s);
}

void exec_dispatch(struct exec *x)
{
	struct epoll_event events[32];
	int n = epoll_wait(x->epoll_fd, events, ARRAY_LEN(events), 0);

	for (int i = 0; i < n; i++) {
		struct source *s = events[i].data.ptr;

		if (s->kind == SOURCE_TIMER)
			on_timer(x);
		else if (s->kind == SOURCE_HELPER)
			on_helper(x, s);
		else if (s->pair->dead)
			continue;
		else if (s->kind == SOURCE_LINK && s->pair->link_fd >= 0)
			on_link(x, s->pair);
		else if (s->kind == SOURCE_PROCESS && s->pair->pidfd >= 0)
			on_process(x, s->pair);
	}
	dead_free(x);
}

int exec_adopt(struct exec *x, uint32_t job, uint32_t incarnation, struct gq_err *err)
{
	char path[PATH_MAX];
	struct pair *p = pair_get(x, job, incarnation);

	/* A record is as good as a mark, which a power loss may have taken. */
	if (!p && !launch_is_marked(x, job, incarnation) &&
		access(path_record(x, path, job, incarnation), F_OK) < 0)
		return gq_err_set(err, -ENOENT, "job %u.%u was never started", job, incarnation);
	if (!p) {
		p = pair_new(x, job, incarnation);
		if (pair_connect(x, p) < 0)
			pair_lost(x, p);
	} else if (p->state == PAIR_ENDED) {
		p->state = PAIR_LOST; /* say it again */
		exec_wake(x, 0);
	} else if (p->state == PAIR_LIVE && p->started_at) {
		p->again = true;
		exec_wake(x, 0);
	}
	return 0;
}

int exec_start(struct exec *x, const struct exec_job *j, struct gq_err *err)
{
	_cleanup_close_ int launch = -1;
	char path[PATH_MAX];
	struct pair *p;
	int r;

	if (exec_adopt(x, j->job, j->incarnation, NULL) == 0)
		return 0;
	r = launch_prepare(x, j, err);
	if (!r)
		r = launch_describe(x, j, &launch, err);
	if (!r)
		r = launch_mark(x, j, err);
	if (r < 0)
		return r;
	r = spare_launch(x, launch, &p, err);
	if (r < 0) {
		unlink(path_mark(x, path, j->job, j->incarnation));
		return r;
	}
	pair_name(x, p, j->job, j->incarnation);
	return 0;
}

void message_begin(struct buf *b, const char *message)
{
	buf_add(b, LINK_HEAD, sizeof(LINK_HEAD));
	kv_add(b, "msg", message);
}

static int tell(struct exec *x, uint32_t job, uint32_t incarnation, const struct buf *message)
{
	struct pair *p = pair_get(x, job, incarnation);

	return p ? pair_tell(x, p, message) : -ENOENT;
}

int exec_notice(struct exec *x, uint32_t job, uint32_t incarnation, const char *reason,
	const char *text, gq_time deadline, int signal)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	message_begin(&b, "notice");
	kv_add(&b, "reason", reason);
	kv_add(&b, "text", text);
	kv_add_int(&b, "deadline", deadline);
	kv_add_int(&b, "signal", signal);
	return tell(x, job, incarnation, &b);
}

static int tell_int(struct exec *x, uint32_t job, uint32_t incarnation, const char *message,
	const char *key, int64_t value)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	message_begin(&b, message);
	if (key)
		kv_add_int(&b, key, value);
	return tell(x, job, incarnation, &b);
}

int exec_notice_off(struct exec *x, uint32_t job, uint32_t incarnation)
{
	return tell_int(x, job, incarnation, "notice-off", NULL, 0);
}

int exec_store(struct exec *x, uint32_t job, uint32_t incarnation, gq_time deadline)
{
	return tell_int(x, job, incarnation, "store", "deadline", deadline);
}

int exec_signal(struct exec *x, uint32_t job, uint32_t incarnation, int signal)
{
	return tell_int(x, job, incarnation, "signal", "signal", signal);
}

int exec_kill(struct exec *x, uint32_t job, uint32_t incarnation)
{
	return tell_int(x, job, incarnation, "kill", NULL, 0);
}

int exec_forget(struct exec *x, uint32_t job, uint32_t incarnation)
{
	struct pair *p = pair_get(x, job, incarnation);
	char path[PATH_MAX];

	if (p && !p->stays)
		tell_int(x, job, incarnation, "forget", NULL, 0); /* it waits where its record has no room */
	unlink(path_record(x, path, job, incarnation));
	if (!p)
		return -ENOENT;
	pair_del(x, p);
	return 0;
}

/* A folder with all in it; @usual is what a job that ran once leaves, so that few need to be read. */
static void folder_remove(const char *path, const char *const usual[2])
{
	char name[PATH_MAX + 16];

	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, usual[i]);
		unlink(name);
	}
	if (rmdir(path) < 0 && errno != ENOENT)
		dir_remove(path);
}

int exec_forget_job(struct exec *x, uint32_t job)
{
	static const char *const run[] = {"incarnation", "notice"}, *const spool[] = {"script", "mark.1"};
	char path[PATH_MAX], gone[PATH_MAX + 8];

	folder_remove(path_job(x, path, job), run);
	folder_remove(path_spool(x, path, job), spool);
	path_images(x, path, job);
	snprintf(gone, sizeof(gone), "%s/drop.%u", x->conf.image_dir, job);
	if (rename(path, gone) < 0)
		return errno == ENOENT ? 0 : -errno;
	exec_remove(x, gone);
	return 0;
}

int exec_drop_image(struct exec *x, uint32_t job, uint32_t image)
{
	char path[PATH_MAX], gone[PATH_MAX + 32];

	path_image(x, path, job, image);
	snprintf(gone, sizeof(gone), "%s/drop.%u.%u", x->conf.image_dir, job, image);
	if (rename(path, gone) < 0)
		return errno == ENOENT ? 0 : -errno;
	exec_remove(x, gone);
	return 0;
}

bool exec_has_image(const struct exec *x, uint32_t job, uint32_t image)
{
	char path[PATH_MAX];

	return image && access(path_image(x, path, job, image), F_OK) == 0;
}

uint32_t exec_job_of_pid(const struct exec *x, pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	char path[64], *at;

	if (!x->cgroup_in_proc)
		return job_in_environ(x, pid);
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (file_read(path, 64u << 10, &text, NULL, NULL) < 0)
		return 0;
	at = strstr(text, x->cgroup_in_proc);
	return at ? (uint32_t)strtoul(at + strlen(x->cgroup_in_proc), NULL, 10) : 0;
}
