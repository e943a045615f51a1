/* SPDX-License-Identifier: MIT
 * image.h - snapshots on disk: written aside, verified, published by one rename
 *   IMAGE_DIR/<job>/tmp.<incarnation>/  is being written, or garbage
 *   IMAGE_DIR/<job>/<incarnation>/      an image: criu's files and "manifest" (FORMAT.md)
 * Promises: what image_publish() published is on the disk, whole, and says so of itself;
 * image_verify() accepts nothing else.
 * Leaves to others: removing (exec), what the files mean (criu). */
#ifndef GQ_CHECKPOINT_IMAGE_H
#define GQ_CHECKPOINT_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/gqtime.h"

#define IMAGE_HEAD "gq-image 1"

struct image_info {
	int64_t job, incarnation;
	pid_t root;       /* the job's first process, as seen in the capsule */
	pid_t last_pid;   /* where the capsule's PIDs had got to */
	uid_t uid;
	gq_time created;
	int64_t bytes;    /* of all files */
	char criu[32];    /* version that wrote it */
	char kernel[96];
};

void image_path(char *buf, size_t size, const char *image_dir, int64_t job, int64_t incarnation);
void image_path_tmp(char *buf, size_t size, const char *image_dir, int64_t job,
	int64_t incarnation);

/* An empty tmp folder; an older one goes. Says how many bytes are free for it. */
int image_begin(const char *image_dir, int64_t job, int64_t incarnation, int64_t *ret_free,
	struct gq_err *err);
/* Reads everything back, writes the manifest, syncs, renames. Fills info->bytes. */
int image_publish(const char *image_dir, struct image_info *info, struct gq_err *err);
void image_abandon(const char *image_dir, int64_t job, int64_t incarnation);
bool image_exists(const char *image_dir, int64_t job, int64_t incarnation);

/* The manifest alone: cheap. -ENOENT no image, -EILSEQ damaged or foreign. */
int image_read(const char *image_dir, int64_t job, int64_t incarnation, struct image_info *ret,
	struct gq_err *err);
/* Every byte. As above. */
int image_verify(const char *image_dir, int64_t job, int64_t incarnation, struct gq_err *err);

#endif
