/* SPDX-License-Identifier: MIT
 * engine.c - store: check, make room, dump.  restore: verify, restore.
 * A step either is done at once or starts a child and is done when that has ended. */
#include "engine.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "criu.h"
#include "image.h"
#include "preflight.h"
#include "raw.h"
#include "shm.h"
#include "stats.h"
#include "stream.h"
#include "timerfd.h"

struct step {
	const char *name; /* begins the text of its failure */
	int (*begin)(struct engine *e, struct gq_err *err); /* 0 done, 1 a child runs, or -errno */
	int (*end)(struct engine *e, int status, struct gq_err *err); /* of the child */
};

struct engine {
	struct engine_job job;
	const struct step *step; /* of the table that ends with a NULL name */
	struct criu_run run;     /* the child at work, criu or the verifier */
	enum engine_state state;
	struct engine_result result;
	struct image_info image; /* restore: what the manifest says */
	gq_time began, deadline; /* monotonic */
	int64_t need_bytes;      /* store: estimate */
	bool late;               /* the deadline passed, the child was killed */
};

static int check_begin(struct engine *e, struct gq_err *err)
{
	struct preflight p = {e->job.root, e->job.uid, e->job.cgroup != NULL};
	struct findings found;

	preflight(&p, &found, &e->need_bytes);
	return findings_refusal(&found, err);
}

static int room_begin(struct engine *e, struct gq_err *err)
{
	int64_t room = 0;
	int r = image_begin(e->job.image_dir, e->job.job, e->job.incarnation, &room, err);

	if (r < 0)
		return r;
	if (room < e->need_bytes)
		return gq_err_set(err, -ENOSPC, "%s has %lld MiB free, the image may need %lld MiB",
			e->job.image_dir, (long long)(room >> 20), (long long)(e->need_bytes >> 20) + 1);
	return 0;
}

static int dump_begin(struct engine *e, struct gq_err *err)
{
	int r = gq_fault("dump.begin");

	if (r < 0)
		return gq_err_sys(err, r, "criu");
	r = criu_dump(&e->job, &e->run, err);
	return r < 0 ? r : 1;
}

/* Whatever became of criu: a published image is the truth (gate.c). */
static int dump_end(struct engine *e, int status, struct gq_err *err)
{
	char text[256];

	if (image_exists(e->job.image_dir, e->job.job, e->job.incarnation)) {
		struct image_info info = {0};

		gq_fault("dump.done");
		if (image_read(e->job.image_dir, e->job.job, e->job.incarnation, &info, NULL) == 0)
			e->result.bytes = info.bytes;
		e->result.frozen = stats_frozen(e->job.work_dir);
		return 0;
	}
	criu_reason(&e->run, status, text, sizeof(text));
	if (e->late)
		return gq_err_set(err, -ETIMEDOUT, "not done after %lld s",
			(long long)(e->job.timeout / GQ_NS_PER_S));
	return gq_err_set(err, -EIO, "%s", text);
}

/* A folder of the first format is read whole: nobody checks it while it is restored. */
static int raw_check(const char *dir, int *ret_shm_fd, struct gq_err *err)
{
	char path[PATH_MAX + 16];
	int r = raw_verify(dir, err);

	snprintf(path, sizeof(path), "%s/%s", dir, SHM_FILE);
	if (!r)
		*ret_shm_fd = open(path, O_RDONLY | O_CLOEXEC);
	return r;
}

static _Noreturn void verify_run(const struct engine *e, int fd)
{
	char dir[PATH_MAX], file[PATH_MAX + 16];
	struct gq_err err = {0};
	int shm = -1, r;

	setpgid(0, 0);
	image_path(dir, sizeof(dir), e->job.image_dir, e->job.job, e->job.image);
	snprintf(file, sizeof(file), "%s/%s", dir, IMAGE_FILE);
	if (e->image.streamed)
		r = stream_cat(file, SHM_FILE, fd, &shm, &err);
	else
		r = raw_check(dir, &shm, &err);
	if (r >= 0 && shm >= 0)
		r = shm_load(shm, &err);
	if (r < 0)
		dprintf(fd, "%s\n", err.text);
	_exit(r < 0);
}

/* What must be read before criu is: in a child, as it may be much. The rest of a streamed image is
 * checked on its way into criu. */
static int verify_begin(struct engine *e, struct gq_err *err)
{
	int fds[2], r;

	r = image_read(e->job.image_dir, e->job.job, e->job.image, &e->image, err);
	if (r < 0)
		return r;
	e->result.root = e->image.root;
	if (e->image.streamed && !e->image.has_shm)
		return 0;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return gq_err_sys(err, -errno, "pipe");
	e->run.pid = spawn_fork(-1, 0);
	if (e->run.pid == 0)
		verify_run(e, fds[1]);
	close(fds[1]);
	e->run.err_fd = fds[0];
	return e->run.pid < 0 ? gq_err_sys(err, (int)e->run.pid, "fork") : 1;
}

static int child_end(struct engine *e, int status, struct gq_err *err)
{
	char text[256];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	criu_reason(&e->run, status, text, sizeof(text));
	if (e->late)
		return gq_err_set(err, -ETIMEDOUT, "not done after %lld s",
			(long long)(e->job.timeout / GQ_NS_PER_S));
	return gq_err_set(err, -EIO, "%s", text);
}

static int restore_begin(struct engine *e, struct gq_err *err)
{
	int r = gq_fault("restore.begin");

	if (r < 0)
		return gq_err_sys(err, r, "criu");
	r = criu_restore(&e->job, &e->image, &e->run, err);
	return r < 0 ? r : 1;
}

static int restore_end(struct engine *e, int status, struct gq_err *err)
{
	int r = child_end(e, status, err);

	if (!r)
		timerfd_wind_all();
	if (!r)
		r = gq_fault("restore.done");
	return r;
}

static const struct step store_steps[] = {
	{"check", check_begin, NULL},
	{"make room", room_begin, NULL},
	{"dump", dump_begin, dump_end},
	{0},
};

static const struct step restore_steps[] = {
	{"verify", verify_begin, child_end},
	{"restore", restore_begin, restore_end},
	{0},
};

static bool is_store(const struct engine *e)
{
	return e->step >= store_steps && e->step < store_steps + ARRAY_LEN(store_steps);
}

static void ended(struct engine *e, enum engine_state state)
{
	e->state = state;
	e->result.took = gq_monotonic() - e->began;
	if (state == ENGINE_FAILED && is_store(e))
		image_abandon(e->job.image_dir, e->job.job, e->job.incarnation);
}

static void failed(struct engine *e, const struct gq_err *err)
{
	snprintf(e->result.text, sizeof(e->result.text), "%s: %s", e->step->name, err->text);
	ended(e, ENGINE_FAILED);
}

/* Steps on until a child has to be waited for. */
static void advance(struct engine *e)
{
	struct gq_err err = {0};

	for (; e->step->name; e->step++) {
		int r = e->step->begin(e, &err);

		if (r > 0)
			return;
		if (r < 0) {
			failed(e, &err);
			return;
		}
	}
	ended(e, ENGINE_DONE);
}

static struct engine *engine_new(const struct engine_job *job, const struct step *steps)
{
	struct engine *e = xnew(struct engine);

	e->job = *job;
	e->step = steps;
	e->run.err_fd = -1;
	e->began = gq_monotonic();
	e->deadline = e->began + job->timeout;
	advance(e);
	return e;
}

struct engine *engine_store(const struct engine_job *job)
{
	return engine_new(job, store_steps);
}

struct engine *engine_restore(const struct engine_job *job)
{
	return engine_new(job, restore_steps);
}

struct engine *engine_free(struct engine *e)
{
	if (!e)
		return NULL;
	if (e->run.pid > 0)
		kill(-e->run.pid, SIGKILL);
	criu_close(&e->job, &e->run);
	free(e);
	return NULL;
}

/* A child that was killed may leave helpers (a gate in the middle of a rename); they become ours,
 * and what is on disk is only known when they are gone. */
static void helpers_end(pid_t group)
{
	int status;

	kill(-group, SIGKILL);
	while (waitpid(-group, &status, __WALL) > 0)
		;
}

bool engine_reaped(struct engine *e, pid_t pid, int status)
{
	struct gq_err err = {0};
	int r;

	if (e->state != ENGINE_BUSY)
		return false;
	if (pid == e->run.streamer) {
		e->run.streamer = 0; /* done, or criu and the gate will notice */
		return true;
	}
	if (pid != e->run.pid)
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		helpers_end(pid);
	r = e->step->end(e, status, &err);
	criu_close(&e->job, &e->run);
	if (r < 0) {
		failed(e, &err);
		return true;
	}
	e->step++;
	advance(e);
	return true;
}

void engine_tick(struct engine *e, gq_time monotonic)
{
	if (e->state != ENGINE_BUSY || e->late || monotonic < e->deadline)
		return;
	e->late = true;
	kill(-e->run.pid, SIGKILL);
}

gq_time engine_deadline(const struct engine *e)
{
	return e->state == ENGINE_BUSY && !e->late ? e->deadline : GQ_NEVER;
}

enum engine_state engine_state(const struct engine *e)
{
	return e->state;
}

const struct engine_result *engine_result(const struct engine *e)
{
	return &e->result;
}
