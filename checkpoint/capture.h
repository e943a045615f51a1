/* SPDX-License-Identifier: MIT
 * capture.h - the streamer during a dump: takes criu's pipes in, writes one image
 * With a gate the image is finished when the gate says so, which is when criu has closed its last
 * pipe and the job still stands; without one, when criu closes its socket.
 * Promises: memory does not grow with the image; nothing is an image before all of it is on disk.
 * The gate's packets (SOCK_SEQPACKET): 'F' and a name, with the end of a pipe: one more file;
 * 'C' and the manifest: that was all. The answer to the latter is "" or why there is no image. */
#ifndef GQ_CHECKPOINT_CAPTURE_H
#define GQ_CHECKPOINT_CAPTURE_H

#include "gqi_write.h"

#define CAPTURE_MANIFEST_MAX (64u << 10)

struct capture_order {
	struct gqi_write image;
	int listen_fd;     /* for criu */
	int gate_fd;       /* for the gate; -1 = none */
	int level;         /* of zstd */
	unsigned workers;
};

struct capture;

int capture_new(const struct capture_order *o, struct capture **ret, struct gq_err *err);
/* Until the image is on disk. After an error criu's pipes are still open: it learns of the failure
 * by capture_free(), when the reason has been said. */
int capture_run(struct capture *c, struct gq_err *err);
struct capture *capture_free(struct capture *c); /* returns NULL */

#endif
