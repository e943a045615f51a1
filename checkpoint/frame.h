/* SPDX-License-Identifier: MIT
 * frame.h - a chunk of at most 1 MiB as it is stored: nothing (zeros), the bytes, or a zstd frame
 * Promises: what is stored is never longer than the chunk; what decodes is what was encoded (zstd's
 * own checksum is on).
 * Leaves to others: sums of what is stored, and where (gqi). */
#ifndef GQ_CHECKPOINT_FRAME_H
#define GQ_CHECKPOINT_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "gqi.h"

struct frame_coder; /* one per thread */

struct frame_coder *frame_coder_new(int level);            /* of zstd: -7 … 19 */
struct frame_coder *frame_coder_free(struct frame_coder *c); /* returns NULL */

/* @out has room for @n bytes. GQI_RAW: @out is untouched, *ret_n is @n: store @raw itself. */
enum gqi_codec frame_encode(struct frame_coder *c, const void *raw, size_t n, void *out,
	size_t *ret_n);

/* 0, or -EBADMSG: what was stored is not a frame of @raw_n bytes. */
int frame_decode(struct frame_coder *c, enum gqi_codec codec, const void *stored, size_t n,
	void *raw, size_t raw_n);

#endif
