/* SPDX-License-Identifier: MIT
 * serve.h - the streamer during a restore: answers every name criu asks for, in any order
 * Promises: no byte reaches criu that does not match its checksum; a bad one ends the restore with
 * its offset; the image is only read. Memory: FETCH_BYTES, and a frame for each file that is open
 * at once beyond these. */
#ifndef GQ_CHECKPOINT_SERVE_H
#define GQ_CHECKPOINT_SERVE_H

#include "gqi.h"

struct serve;

int serve_new(const struct gqi *g, int listen_fd, unsigned workers, struct serve **ret,
	struct gq_err *err);
/* Until criu has closed its socket and got all it asked for. After an error criu's pipes are still
 * open: it learns of the failure by serve_free(), when the reason has been said. */
int serve_run(struct serve *s, struct gq_err *err);
struct serve *serve_free(struct serve *s); /* returns NULL */

#endif
