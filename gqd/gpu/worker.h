/* SPDX-License-Identifier: MIT
 * worker.h - the gq-sampler process: started, killed, reaped, started again
 * Promises: never waits for it, even where it hangs in the kernel and cannot die.
 * Leaves to others: what it says, and when it counts as hanging (gpu.c). */
#ifndef GQD_GPU_WORKER_H
#define GQD_GPU_WORKER_H

#include "gpu.h"

#define WORKER_UNREAPED 8

struct worker {
	pid_t pid;          /* 0 = not running */
	int in, out;        /* its stdin and stdout, -1 = not running */
	gq_time started;    /* monotonic */
	gq_time restart_at; /* when not running */
	gq_time backoff;    /* until the next start if it ends now; doubles until it is well */
	pid_t unreaped[WORKER_UNREAPED]; /* killed, but not dead when we looked last */
};

void worker_init(struct worker *w);
int worker_start(struct worker *w, const struct gpu_conf *conf, struct gq_err *err);
void worker_stop(struct worker *w, gq_time now); /* kills, sets restart_at; fine if it has ended */
void worker_is_well(struct worker *w);           /* it has delivered: the next failure starts small */
void worker_poke(struct worker *w);
void worker_reap(struct worker *w);
void worker_clear(struct worker *w);

#endif
