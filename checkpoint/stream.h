/* SPDX-License-Identifier: MIT
 * stream.h - starts gq-streamer for one criu, and talks to it from the gate
 * Its sockets lie in the job's work directory; they are there before criu is started, so nobody
 * waits for anybody.
 * Leaves to others: reaping (shim), ending it (stream_stop() by the engine, once criu has ended). */
#ifndef GQ_CHECKPOINT_STREAM_H
#define GQ_CHECKPOINT_STREAM_H

#include "engine.h"

#define STREAM_GATE    "streamer-gate.sock"
#define STREAM_PROGRAM "gq-streamer" /* beside gq-shim */

/* Errors of the streamer go to @err_fd, a line. Its PID, or -errno. */
pid_t stream_capture(const struct engine_job *job, const char *image, int err_fd,
	struct gq_err *err);
pid_t stream_serve(const struct engine_job *job, const char *image, int err_fd,
	struct gq_err *err);
/* One file of an image; *ret_fd is to be read to its end. */
pid_t stream_cat(const char *image, const char *file, int err_fd, int *ret_fd, struct gq_err *err);
void stream_stop(const struct engine_job *job, pid_t pid); /* it is gone afterwards */

/* In the gate. One more file: *ret_fd is to be filled and closed. */
int stream_gate_open(const char *work_dir, int *ret_gate_fd, struct gq_err *err);
int stream_gate_file(int gate_fd, const char *name, int *ret_fd, struct gq_err *err);
/* All of the image is on disk when it returns 0. */
int stream_gate_commit(int gate_fd, const char *manifest, struct gq_err *err);

/* The folder of this program, where its helpers are too. */
const char *program_path(const char *name, char *buf, size_t size);

#endif
