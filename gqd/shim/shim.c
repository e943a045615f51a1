/* SPDX-License-Identifier: MIT
 * shim.c - the loop of a shim: reap, listen, obey, tell */
#include "shim.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/kv.h"
#include "capsule.h"
#include "grade.h"
#include "link.h"
#include "notice.h"
#include "start.h"

#define SIZE_PERIOD GQ_SEC(5)
#define SIZE_FIRST  GQ_SEC(1)

static void tell(struct shim *s, const char *message, const char *text, gq_time at, gq_time took)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	link_begin(&b, message);
	kv_add_int(&b, "at", at);
	kv_add_int(&b, "took", took);
	kv_add_int(&b, "pid", s->root);
	kv_add(&b, "text", text);
	link_send(s->link_fd, &b);
}

static void visitor(struct shim *s)
{
	int fd = link_accept(s->listen_fd);

	if (fd < 0)
		return;
	if (s->link_fd >= 0)
		close(s->link_fd);
	s->link_fd = fd;
	s->rss_mib = 0;
	if (s->state != SHIM_RUNNING && s->state != SHIM_STORING)
		return;
	tell(s, "started", NULL, s->started_at, s->start_took);
	grade_tell(s);
}

static void ending_begin(struct shim *s, enum outcome outcome, const char *text)
{
	if (s->state >= SHIM_ENDING)
		return;
	s->state = SHIM_ENDING;
	s->ending.outcome = outcome;
	s->ending.at = gq_now();
	if (text)
		snprintf(s->ending.text, sizeof(s->ending.text), "%s", text);
	for (char *c = s->ending.text; *c; c++)
		if ((unsigned char)*c < 0x20)
			*c = ' '; /* one line, also when a path in it has two */
}

/* The root process has ended and no image holds it. */
static void ending_exited(struct shim *s)
{
	ending_begin(s, OUTCOME_EXITED, NULL);
	if (!s->root_ended)
		s->ending.signal = SIGKILL; /* killed before there was a process to ask */
	else if (WIFSIGNALED(s->root_status))
		s->ending.signal = WTERMSIG(s->root_status);
	else
		s->ending.code = WEXITSTATUS(s->root_status);
}

/* No record could be written, so the message is all there is of the ending: whoever is or comes is
 * told, again and again. true when a gqd has it on disk. */
static bool ending_taken(struct shim *s, const struct buf *message)
{
	struct pollfd p[] = {{s->link_fd, POLLIN, 0}, {s->listen_fd, POLLIN, 0}};
	char data[LINK_BYTES_MAX];
	ssize_t n;

	link_send(s->link_fd, message);
	poll(p, ARRAY_LEN(p), 1000);
	if (p[1].revents)
		visitor(s);
	while (s->link_fd >= 0 && (n = link_receive(s->link_fd, data)) != -EAGAIN) {
		const char *what = n > 0 ? kv_get(data, (size_t)n, "msg") : NULL;

		if (what && !strcmp(what, "forget"))
			return true;
		if (n <= 0)
			close(TAKE_FD(s->link_fd));
	}
	return false;
}

/* Every process is gone: remember, tell, leave. On a full disk there is no leaving before there is
 * room, or before a gqd says that its own store has it. Without a capsule nothing of the job is left
 * around us, and a gqd that has heard of the end may give us the next one. */
static void ending_finish(struct shim *s)
{
	_cleanup_buf_ struct buf message = BUF_INIT;
	int r;

	s->state = SHIM_ENDED;
	ending_message(&s->launch, &s->ending, &message);
	capsule_remove(&s->launch);
	while ((r = ending_record(&s->launch, &message, s->link_fd < 0)) < 0)
		if (ending_taken(s, &message))
			break;
	unlink(s->launch.socket); /* who comes now finds the record */
	s->stays = r == 0 && !s->launch.capsule;
	kv_add(&message, "stays", s->stays ? "1" : NULL);
	if (link_send(s->link_fd, &message) < 0)
		s->stays = false;
	gq_fault("shim.reported");
}

/* It runs (again): what was ordered meanwhile can be done now. */
static void running(struct shim *s)
{
	s->state = SHIM_RUNNING;
	if (s->signal_wanted)
		capsule_signal(&s->launch, s->signal_wanted);
	s->signal_wanted = 0;
}

static void started(struct shim *s)
{
	s->started_at = gq_now();
	s->start_took = gq_monotonic() - s->began;
	s->next_size = gq_monotonic() + SIZE_FIRST;
	grade_begin(s);
	running(s);
	tell(s, "started", NULL, s->started_at, s->start_took);
}

static void start(struct shim *s)
{
	struct gq_err err = {0};

	s->state = SHIM_STARTING;
	if (start_job(&s->launch, s->cgroup_fd, &s->root, &s->status_fd, &err) < 0)
		ending_begin(s, OUTCOME_START_FAILED, err.text);
}

static void start_known(struct shim *s)
{
	struct gq_err err = {0};
	int r = start_result(&s->launch, TAKE_FD(s->status_fd), &err);

	if (s->state != SHIM_STARTING)
		return;
	if (r < 0)
		ending_begin(s, OUTCOME_START_FAILED, err.text);
	else
		started(s);
}

static struct engine_job engine_order(const struct shim *s)
{
	return (struct engine_job){
		.job = s->launch.job,
		.incarnation = s->launch.incarnation,
		.image = s->launch.image,
		.root = s->root,
		.uid = (uid_t)s->launch.uid,
		.image_dir = s->launch.image_dir,
		.work_dir = s->launch.work_dir,
		.criu = s->launch.criu,
		.criu_version = s->launch.criu_version,
		.cgroup = s->launch.cgroup,
		.cgroup_fd = s->cgroup_fd,
	};
}

static void store_ended(struct shim *s)
{
	const struct engine_result *r = engine_result(s->engine);

	if (engine_state(s->engine) == ENGINE_DONE) {
		/* The gate froze it before publishing: it dies without having run again. */
		ending_begin(s, OUTCOME_STORED, NULL);
		s->ending.took = r->took;
		s->ending.frozen = r->frozen;
		s->ending.bytes = r->bytes;
	} else if (s->root_ended) {
		ending_exited(s);
	} else {
		capsule_thaw(s->cgroup_fd); /* a criu that was killed could not */
		running(s);
		grade_soon(s);
		tell(s, "store-failed", r->text, gq_now(), r->took);
	}
}

static void restore_ended(struct shim *s)
{
	const struct engine_result *r = engine_result(s->engine);

	if (engine_state(s->engine) == ENGINE_DONE) {
		s->root = r->root;
		started(s);
		if (s->root_ended)
			ending_exited(s);
	} else if (s->killed) {
		ending_exited(s);
	} else {
		ending_begin(s, OUTCOME_RESTORE_FAILED, r->text);
	}
}

static void engine_look(struct shim *s)
{
	if (!s->engine || engine_state(s->engine) == ENGINE_BUSY)
		return;
	if (s->state == SHIM_STORING)
		store_ended(s);
	else
		restore_ended(s);
	s->engine = engine_free(s->engine);
}

/* Until @deadline (0 = none said), and never longer than the config allows. */
static void store(struct shim *s, gq_time deadline)
{
	struct engine_job job = engine_order(s);
	gq_time left = deadline ? deadline - gq_now() : s->launch.dump_timeout;

	s->store_deadline = deadline;
	s->store_wanted = s->state == SHIM_STARTING || s->state == SHIM_RESTORING;
	if (s->state != SHIM_RUNNING || s->killed)
		return; /* a dump that runs will answer, and so will an ending */
	if (!s->launch.capsule) {
		tell(s, "store-failed", "no snapshots without root: the job runs outside a capsule",
			gq_now(), 0);
		return;
	}
	job.timeout = left < s->launch.dump_timeout ? left : s->launch.dump_timeout;
	if (job.timeout < GQ_SEC(1))
		job.timeout = GQ_SEC(1); /* a clock that was set is no reason not to try */
	s->state = SHIM_STORING;
	s->engine = engine_store(&job);
	engine_look(s);
}

static void restore(struct shim *s)
{
	struct engine_job job = engine_order(s);

	job.timeout = s->launch.restore_timeout;
	s->state = SHIM_RESTORING;
	s->engine = engine_restore(&job);
	engine_look(s);
}

static void order_kill(struct shim *s)
{
	s->killed = true;
	capsule_signal(&s->launch, SIGKILL); /* criu too: then the engine ends and we go on */
}

static void order_signal(struct shim *s, int signal)
{
	if (signal <= 0)
		return;
	if (s->state == SHIM_STORING || s->state == SHIM_RESTORING)
		s->signal_wanted = signal; /* criu would get it, or keep it in the image */
	else
		capsule_signal(&s->launch, signal);
}

static void order_notice(struct shim *s, const char *message, size_t len)
{
	notice_write(&s->launch, message, len);
	order_signal(s, (int)kv_int(message, len, "signal", 0));
}

static void order(struct shim *s, const char *message, size_t len)
{
	const char *what = kv_get(message, len, "msg");

	if (!what || s->state >= SHIM_ENDING)
		return;
	if (!strcmp(what, "notice"))
		order_notice(s, message, len);
	else if (!strcmp(what, "notice-off"))
		notice_remove(&s->launch);
	else if (!strcmp(what, "store"))
		store(s, kv_int(message, len, "deadline", 0));
	else if (!strcmp(what, "kill"))
		order_kill(s);
	else if (!strcmp(what, "signal"))
		order_signal(s, (int)kv_int(message, len, "signal", 0));
}

static void orders(struct shim *s)
{
	char data[LINK_BYTES_MAX];
	ssize_t n;

	while ((n = link_receive(s->link_fd, data)) > 0)
		order(s, data, (size_t)n);
	if (n == -EAGAIN || n == -EINTR)
		return;
	close(TAKE_FD(s->link_fd)); /* that gqd is gone; the next one finds our socket */
}

static void size_tell(struct shim *s)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int64_t mib;

	s->next_size = gq_monotonic() + SIZE_PERIOD;
	if (s->link_fd < 0 || s->state != SHIM_RUNNING)
		return;
	mib = capsule_rss_mib(&s->launch);
	if (mib == s->rss_mib)
		return;
	s->rss_mib = mib;
	link_begin(&b, "size");
	kv_add_int(&b, "rss", mib);
	link_send(s->link_fd, &b);
}

static void reaped(struct shim *s, pid_t pid, int status)
{
	if (s->engine && engine_reaped(s->engine, pid, status)) {
		engine_look(s);
		return;
	}
	if (s->engine && !s->root)
		s->root = engine_result(s->engine)->root; /* a restored job may end before criu does */
	if (pid != s->root)
		return; /* an orphan that came to us */
	s->root_ended = true;
	s->root_status = status;
	if (s->state == SHIM_STARTING && s->status_fd >= 0)
		start_known(s);
	if (s->state == SHIM_STARTING || s->state == SHIM_RUNNING)
		ending_exited(s); /* while an engine works, its end decides what this end was */
}

/* Reaps all that ended; in ENDING also makes an end of the rest. */
static void reap(struct shim *s)
{
	int status;
	pid_t pid;

	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
			reaped(s, pid, status);
		if (s->state != SHIM_ENDING)
			return;
		if (pid < 0 && errno == ECHILD) {
			ending_finish(s);
			return;
		}
		if (pid == 0) {
			capsule_signal(&s->launch, SIGKILL); /* reaches frozen ones too */
			pid = waitpid(-1, &status, __WALL);
			if (pid > 0)
				reaped(s, pid, status);
		}
	}
}

static int timeout_ms(const struct shim *s)
{
	gq_time now = gq_monotonic(), next = GQ_NEVER, left;

	if (s->state == SHIM_RUNNING && s->link_fd >= 0)
		next = s->next_size;
	if (grade_due(s) < next)
		next = grade_due(s);
	if (s->engine && engine_deadline(s->engine) < next)
		next = engine_deadline(s->engine);
	if (next == GQ_NEVER)
		return -1;
	left = next - now;
	return left <= 0 ? 0 : left > GQ_SEC(600) ? 600000 : (int)(left / GQ_NS_PER_MS) + 1;
}

static void drain(int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) > 0)
		;
}

static void wait_and_act(struct shim *s)
{
	struct pollfd p[] = {{s->signal_fd, POLLIN, 0}, {s->status_fd, POLLIN, 0},
		{s->link_fd, POLLIN, 0}, {s->listen_fd, POLLIN, 0}};

	if (poll(p, ARRAY_LEN(p), timeout_ms(s)) < 0)
		return;
	if (p[1].revents && s->status_fd >= 0)
		start_known(s);
	if (p[0].revents)
		drain(s->signal_fd);
	if (p[3].revents)
		visitor(s);
	else if (p[2].revents && s->link_fd >= 0)
		orders(s);
	if (s->engine) {
		engine_tick(s->engine, gq_monotonic());
		engine_look(s);
	}
	if (s->state == SHIM_RUNNING && s->store_wanted)
		store(s, s->store_deadline);
	if (s->state == SHIM_RUNNING && gq_monotonic() >= s->next_size)
		size_tell(s);
	grade_tick(s);
}

/* Signals from outside are not for us: gqd orders through the socket, and SIGKILL works anyhow. */
static int signals_take(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int prepare(struct shim *s, struct gq_err *err)
{
	int r = gq_fault("shim.start");

	if (r < 0)
		return gq_err_sys(err, r, "start of the shim");
	if (s->unfit.code)
		return gq_err_set(err, s->unfit.code, "%s", s->unfit.text);
	r = capsule_make(&s->launch, &s->cgroup_fd, err);
	if (r < 0)
		return r;
	s->listen_fd = link_listen(s->launch.socket, err);
	return s->listen_fd < 0 ? s->listen_fd : 0;
}

/* Waits until gqd has a job for us: 1, 0 when it has gone without one, -errno. */
static int launch_wait(struct shim *s, struct gq_err *err)
{
	_cleanup_close_ int fd = -1;

	do {
		struct pollfd p = {s->link_fd, POLLIN, 0};

		poll(&p, 1, -1);
		fd = link_receive_launch(s->link_fd);
	} while (fd == -EAGAIN || fd == -EINTR);
	s->began = gq_monotonic();
	if (fd == -ECONNRESET)
		return 0;
	if (fd < 0)
		return gq_err_sys(err, fd, "launch description");
	return launch_read(fd, &s->launch, err) < 0 ? -EPROTO : 1;
}

static void job_run(struct shim *s)
{
	struct gq_err err = {0};

	if (prepare(s, &err) < 0)
		ending_begin(s, s->launch.image ? OUTCOME_RESTORE_FAILED : OUTCOME_START_FAILED, err.text);
	else if (s->launch.image)
		restore(s);
	else
		start(s);
	for (;;) {
		reap(s);
		if (s->state == SHIM_ENDED)
			return;
		wait_and_act(s);
	}
}

/* As it was before the job; false = that was the only one. */
static bool job_clear(struct shim *s)
{
	if (!s->stays)
		return false;
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->status_fd >= 0)
		close(s->status_fd);
	launch_clear(&s->launch);
	*s = (struct shim){.unfit = s->unfit, .link_fd = s->link_fd, .signal_fd = s->signal_fd,
		.cgroup_fd = -1, .listen_fd = -1, .status_fd = -1};
	return true;
}

int shim_run(struct shim *s)
{
	struct gq_err err = {0};
	int r;

	s->signal_fd = signals_take();
	s->unfit.code = capsule_enter(&s->unfit);
	do {
		r = launch_wait(s, &err);
		if (r <= 0)
			break;
		job_run(s);
	} while (job_clear(s));
	if (r < 0)
		fprintf(stderr, "gq-shim: %s\n", err.text);
	return r < 0 ? 2 : 0;
}
