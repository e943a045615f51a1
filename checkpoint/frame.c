/* SPDX-License-Identifier: MIT
 * frame.c - picks the cheapest way to store a chunk; the only file that knows zstd */
#include "frame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"

#define PROBE_PARTS  4u
#define PROBE_PART   (4u << 10)
#define PROBE_BYTES  (PROBE_PARTS * PROBE_PART)
#define PROBE_GAIN   (PROBE_BYTES / 6) /* less costs a restore more time than the disk would */
#define PROBE_LEAST  (64u << 10)        /* smaller chunks are simply tried */

struct frame_coder {
	ZSTD_CCtx *press; /* owned; made when first needed */
	ZSTD_DCtx *expand; /* owned; likewise */
	int level;
	unsigned char probe[PROBE_BYTES], scratch[PROBE_BYTES];
};

struct frame_coder *frame_coder_new(int level)
{
	struct frame_coder *c = xnew(struct frame_coder);

	c->level = level;
	return c;
}

struct frame_coder *frame_coder_free(struct frame_coder *c)
{
	if (!c)
		return NULL;
	ZSTD_freeCCtx(c->press);
	ZSTD_freeDCtx(c->expand);
	free(c);
	return NULL;
}

static bool is_zero(const unsigned char *p, size_t n)
{
	static const unsigned char none[64];

	if (n <= sizeof(none))
		return !memcmp(p, none, n);
	return !memcmp(p, none, sizeof(none)) && !memcmp(p, p + sizeof(none), n - sizeof(none));
}

static ZSTD_CCtx *press(struct frame_coder *c)
{
	if (!c->press) {
		c->press = ZSTD_createCCtx();
		ZSTD_CCtx_setParameter(c->press, ZSTD_c_compressionLevel, c->level);
		ZSTD_CCtx_setParameter(c->press, ZSTD_c_checksumFlag, 1);
	}
	return c->press;
}

/* Random mantissas and what is compressed already cost zstd the most time for no gain; four small
 * samples tell them apart. */
static bool is_promising(struct frame_coder *c, const unsigned char *raw, size_t n)
{
	size_t step = (n - PROBE_PART) / (PROBE_PARTS - 1), r;

	if (n < PROBE_LEAST)
		return true;
	for (size_t i = 0; i < PROBE_PARTS; i++)
		memcpy(c->probe + i * PROBE_PART, raw + i * step, PROBE_PART);
	r = ZSTD_compress2(press(c), c->scratch, PROBE_BYTES - PROBE_GAIN, c->probe, PROBE_BYTES);
	return !ZSTD_isError(r);
}

enum gqi_codec frame_encode(struct frame_coder *c, const void *raw, size_t n, void *out,
	size_t *ret_n)
{
	size_t r;

	*ret_n = 0;
	if (is_zero(raw, n))
		return GQI_ZERO;
	*ret_n = n;
	if (!is_promising(c, raw, n))
		return GQI_RAW;
	r = ZSTD_compress2(press(c), out, n - 1, raw, n);
	if (ZSTD_isError(r))
		return GQI_RAW; /* it did not get smaller */
	*ret_n = r;
	return GQI_ZSTD;
}

int frame_decode(struct frame_coder *c, enum gqi_codec codec, const void *stored, size_t n,
	void *raw, size_t raw_n)
{
	switch (codec) {
	case GQI_ZERO:
		memset(raw, 0, raw_n);
		return 0;
	case GQI_RAW:
		if (n != raw_n)
			return -EBADMSG;
		memcpy(raw, stored, n);
		return 0;
	case GQI_ZSTD:
		if (!c->expand)
			c->expand = ZSTD_createDCtx();
		return ZSTD_decompressDCtx(c->expand, raw, raw_n, stored, n) == raw_n ? 0 : -EBADMSG;
	}
	return -EBADMSG;
}
