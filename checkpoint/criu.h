/* SPDX-License-Identifier: MIT
 * criu.h - runs criu, and says in one line why it failed
 * A dump always goes through gq-streamer; a restore does when the image was made so.
 * Promises: no configuration file of the machine changes what criu does here.
 * Leaves to others: waiting and deadlines (engine). */
#ifndef GQ_CHECKPOINT_CRIU_H
#define GQ_CHECKPOINT_CRIU_H

#include "base/err.h"
#include "engine.h"
#include "image.h"

struct criu_run {
	pid_t pid;       /* 0 = none; leads its own process group */
	pid_t streamer;  /* 0 = none; likewise */
	int err_fd;      /* their stderr, and the gate's; -1 = none */
	char log[512];   /* path */
};

int criu_dump(const struct engine_job *job, struct criu_run *ret, struct gq_err *err);
int criu_restore(const struct engine_job *job, const struct image_info *image,
	struct criu_run *ret, struct gq_err *err);

/* After it ended: what it or the gate said, else the first real error in its log, else the status. */
void criu_reason(struct criu_run *run, int status, char *ret, size_t size);
/* The first line of @log that is an error and not a known harmless one; false if there is none. */
bool criu_log_error(const char *log, char *ret, size_t size);
void criu_close(const struct engine_job *job, struct criu_run *run); /* ends the streamer too */

#endif
