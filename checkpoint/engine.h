/* SPDX-License-Identifier: MIT
 * engine.h - a snapshot, or the way back from one, as a row of named steps
 * It runs inside the shim, which is the parent of every process that the steps start: the shim
 * reaps, and hands what it reaped to engine_reaped(). Nothing here waits.
 * Promises: a store that fails leaves the job running and no image; once an image is published the
 * job never computes again; a restore touches no image.
 * Leaves to others: killing the capsule after either end (shim), keeping or removing images (exec).
 * A newer image format stays behind this interface. */
#ifndef GQ_CHECKPOINT_ENGINE_H
#define GQ_CHECKPOINT_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/gqtime.h"

struct engine;

/* Strings are borrowed for the life of the engine. */
struct engine_job {
	int64_t job, incarnation;
	int64_t image;         /* restore: this one */
	pid_t root;            /* store: the job's first process, as seen in the capsule */
	uid_t uid;
	const char *image_dir; /* DIR/<job>/<incarnation>/ is an image */
	const char *work_dir;  /* logs */
	const char *criu, *criu_version; /* version NULL = not known */
	const char *cgroup;    /* the job's */
	int cgroup_fd;
	gq_time timeout;       /* of all steps together */
	bool verify_all;       /* store: read back every byte before the job is ended */
};

enum engine_state { ENGINE_BUSY, ENGINE_DONE, ENGINE_FAILED };

struct engine_result {
	pid_t root;            /* restore: the job's first process */
	int64_t bytes;         /* store: of the image */
	gq_time took, frozen;
	char text[320];        /* ENGINE_FAILED: the step, then the cause */
};

struct engine *engine_store(const struct engine_job *job);
struct engine *engine_restore(const struct engine_job *job);
struct engine *engine_free(struct engine *e); /* kills what still runs; returns NULL */

/* Was @pid the engine's? Then it has gone on to its next step, or ended. */
bool engine_reaped(struct engine *e, pid_t pid, int status);
void engine_tick(struct engine *e, gq_time monotonic); /* enforces the deadline */
gq_time engine_deadline(const struct engine *e);       /* monotonic: when to tick */
enum engine_state engine_state(const struct engine *e);
const struct engine_result *engine_result(const struct engine *e);

#endif
