/* SPDX-License-Identifier: MIT
 * fetch.h - frames of an image, read and decompressed ahead by several threads
 * They are read past the page cache where that is possible: new pages of it would cost more than
 * the disk.
 * Promises: a piece that is done without an error holds exactly what was stored. */
#ifndef GQ_CHECKPOINT_FETCH_H
#define GQ_CHECKPOINT_FETCH_H

#include <stdatomic.h>

#include "gqi.h"

#define FETCH_BYTES   (34u << 20) /* of pieces, unless a caller must have one more */
#define FETCH_WORKERS 8u          /* at most */

struct fetch;

struct piece {
	const struct gqi_frame *frame; /* borrowed */
	const unsigned char *data;     /* frame->raw_n bytes */
	atomic_bool done;
	int result;
	struct gq_err err;  /* result < 0 */
	struct piece *next; /* the holder's */
	unsigned char *raw, *stored; /* memory; data is in one of them */
	struct piece *queue;
	bool extra;
};

struct fetch *fetch_new(const struct gqi *g, unsigned workers);
struct fetch *fetch_free(struct fetch *f); /* every piece was released; returns NULL */
int fetch_fd(const struct fetch *f);       /* an eventfd: some piece is done */
unsigned fetch_size(const struct fetch *f); /* pieces there are */

/* NULL: all are in use, and it need not be (@must). */
struct piece *fetch_begin(struct fetch *f, const struct gqi_frame *frame, bool must);
void fetch_release(struct fetch *f, struct piece *p); /* done */

#endif
