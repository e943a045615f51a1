/* SPDX-License-Identifier: MIT
 * shim.h - one incarnation of one job, from its first process to its exit record
 * Promises: whatever happens, exactly one ending is recorded, after every process is gone; the
 * shim needs no gqd to do so.
 * Leaves to others: what the ending means (core). */
#ifndef GQD_SHIM_SHIM_H
#define GQD_SHIM_SHIM_H

#include <stdbool.h>

#include "base/gqtime.h"
#include "checkpoint/engine.h"
#include "checkpoint/findings.h"
#include "ending.h"
#include "launch.h"

enum shim_state {
	SHIM_STARTING,  /* the root process was forked, its script is not exec'ed yet */
	SHIM_RUNNING,
	SHIM_STORING,   /* the engine dumps it */
	SHIM_RESTORING, /* the engine makes it */
	SHIM_ENDING,    /* the ending is known; the last processes are being reaped */
	SHIM_ENDED,
};

struct shim {
	struct gq_err unfit; /* code: the capsule could not be made; each launch fails with it */
	struct launch launch;
	enum shim_state state;
	int cgroup_fd, listen_fd, link_fd, signal_fd, status_fd; /* -1 = none */
	pid_t root;        /* 0 = none yet */
	bool root_ended;
	int root_status;   /* as from waitpid() */
	bool killed;       /* somebody ordered the end */
	bool stays;        /* the job has ended, and gqd knows that we wait for another */
	bool store_wanted; /* ordered before the job ran */
	gq_time store_deadline;
	int signal_wanted; /* ordered while no process could take it; 0 = none */
	gq_time began;     /* monotonic: when this shim, or this dump, began */
	gq_time started_at, start_took; /* valid from RUNNING on */
	gq_time next_size; /* monotonic */
	int64_t rss_mib;   /* as last sent */
	struct findings findings; /* valid once graded */
	unsigned graded;   /* so often */
	gq_time grade_due; /* monotonic */
	struct engine *engine; /* owned; NULL = no snapshot work now */
	struct ending ending;
};

/* The whole life, from before its (first) launch came; exit status of the program. */
int shim_run(struct shim *s);

#endif
