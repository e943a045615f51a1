/* SPDX-License-Identifier: MIT
 * squeeze.h - chunks in, frames out: several threads compress, one writes in the order of the chunks
 * All memory is a fixed number of slots, so a slow disk or a slow CPU makes the giver wait.
 * Promises: squeeze_end() returns 0 only if every chunk was written.
 * Threads: all functions from one. */
#ifndef GQ_CHECKPOINT_SQUEEZE_H
#define GQ_CHECKPOINT_SQUEEZE_H

#include "gqi_write.h"

#define SQUEEZE_SLOTS   16u /* of 2 MiB each */
#define SQUEEZE_WORKERS 8u  /* at most */

struct squeeze;

struct slot {
	struct gqi_frame frame; /* the giver sets file, seq and raw_n */
	unsigned char *raw;     /* GQI_CHUNK bytes */
	unsigned char *stored;  /* likewise; not the giver's business, and so is the rest */
	bool done;
};

struct squeeze *squeeze_new(struct gqi_writer *w, int level, unsigned workers);
struct squeeze *squeeze_free(struct squeeze *s); /* stops at once; returns NULL */

/* A free slot; waits for one. The giver may hold SQUEEZE_SLOTS - 1 of them at most and then has to
 * put one first. NULL: writing failed, see squeeze_end(). */
struct slot *squeeze_slot(struct squeeze *s);
void squeeze_put(struct squeeze *s, struct slot *slot);
void squeeze_drop(struct squeeze *s, struct slot *slot); /* it was not needed */

int squeeze_end(struct squeeze *s, struct gq_err *err); /* waits for the last; call it once */

#endif
