/* SPDX-License-Identifier: MIT
 * image.h - snapshots on disk: written aside, verified, published by one rename
 *   IMAGE_DIR/<job>/tmp.<incarnation>/  is being written, or garbage
 *   IMAGE_DIR/<job>/<incarnation>/      an image: "image.gqi" (gqi.h); the first format had criu's
 *                                       own files and a manifest (raw.h), and is still restored
 * Promises: what image_publish() published is on the disk, whole, and says so of itself.
 * Leaves to others: writing it (gq-streamer), removing (exec), what the files mean (criu). */
#ifndef GQ_CHECKPOINT_IMAGE_H
#define GQ_CHECKPOINT_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gqtime.h"

#define IMAGE_FILE "image.gqi"

struct image_info {
	int64_t job, incarnation;
	pid_t root;       /* the job's first process, as seen in the capsule */
	pid_t last_pid;   /* where the capsule's PIDs had got to */
	uid_t uid;
	gq_time created;
	int64_t bytes;    /* on disk */
	int64_t pages;    /* bytes of memory in it */
	bool streamed;    /* image.gqi; else a folder of the first format */
	bool has_shm;     /* a streamed one holds a /dev/shm (shm.h) */
	char criu[32];    /* version that wrote it */
	char kernel[96];
};

void image_path(char *buf, size_t size, const char *image_dir, int64_t job, int64_t incarnation);
void image_path_tmp(char *buf, size_t size, const char *image_dir, int64_t job,
	int64_t incarnation);

/* An empty tmp folder; an older one goes. Says how many bytes are free for it. */
int image_begin(const char *image_dir, int64_t job, int64_t incarnation, int64_t *ret_free,
	struct gq_err *err);
void image_lines(const struct image_info *info, struct buf *out); /* for the manifest */
/* Of what the streamer has finished: reads back the index and the manifest, or every byte; syncs the
 * folders, renames. Fills info->bytes. */
int image_publish(const char *image_dir, struct image_info *info, bool every_byte,
	struct gq_err *err);
void image_abandon(const char *image_dir, int64_t job, int64_t incarnation);
bool image_exists(const char *image_dir, int64_t job, int64_t incarnation);

/* Manifest and index alone: cheap. -ENOENT no image, -EILSEQ damaged or foreign. */
int image_read(const char *image_dir, int64_t job, int64_t incarnation, struct image_info *ret,
	struct gq_err *err);

#endif
