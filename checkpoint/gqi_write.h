/* SPDX-License-Identifier: MIT
 * gqi_write.h - the image container, write side: only ever appends
 * Promises: until gqi_writer_end() has returned 0 the file is no image for any reader; then all of
 * it is on the disk.
 * Threads: gqi_writer_file() from one, gqi_writer_frame() from another, gqi_writer_end() when both
 * are done. */
#ifndef GQ_CHECKPOINT_GQI_WRITE_H
#define GQ_CHECKPOINT_GQI_WRITE_H

#include "gqi.h"
#include "outfile.h"

struct gqi_writer;

struct gqi_write {
	const char *path;
	int64_t job, incarnation, created;
	bool direct; /* O_DIRECT where it is possible */
};

int gqi_writer_new(const struct gqi_write *w, struct gqi_writer **ret, struct gq_err *err);
struct gqi_writer *gqi_writer_free(struct gqi_writer *w); /* the file stays; returns NULL */

uint32_t gqi_writer_file(struct gqi_writer *w, const char *name); /* gqi_name_ok(); its number */

/* The frames of one file in their order; those of several files may be mixed. f->offset is set. */
int gqi_writer_frame(struct gqi_writer *w, struct gqi_frame *f, const void *stored,
	struct gq_err *err);

/* Manifest, index, trailer, fsync. */
int gqi_writer_end(struct gqi_writer *w, const char *manifest, struct gq_err *err);

#endif
