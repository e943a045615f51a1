/* SPDX-License-Identifier: MIT
 * gqi_layout.h - where the fields of a container stand (FORMAT.md); shared by its reader and writer */
#ifndef GQ_CHECKPOINT_GQI_LAYOUT_H
#define GQ_CHECKPOINT_GQI_LAYOUT_H

#include <endian.h>
#include <string.h>

#include "gqi.h"
#include "sum.h"

#define GQI_MAGIC         "GQIMG1\0"  /* with its NUL: 8 bytes */
#define GQI_MAGIC_RECORD  "GQRC"
#define GQI_MAGIC_TRAILER "GQEND1\0"
#define GQI_FLAGS_MUST    0xffff0000u /* a reader that does not know such a flag gives up */

#define GQI_INDEX_HEAD    8u  /* files, frames */
#define GQI_INDEX_FRAME   32u

static inline void gqi_put32(unsigned char *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void gqi_put64(unsigned char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint32_t gqi_get32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t gqi_get64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline uint64_t gqi_sum(const void *data, size_t n)
{
	struct sum s;

	sum_init(&s);
	sum_add(&s, data, n);
	return sum_end(&s);
}

struct gqi_record {
	uint32_t type, file, raw_n, stored_n, seq;
	enum gqi_codec codec;
	uint64_t sum;
};

static inline void gqi_record_put(unsigned char p[GQI_RECORD_SIZE], const struct gqi_record *r)
{
	memcpy(p, GQI_MAGIC_RECORD, 4);
	gqi_put32(p + 4, r->type | (uint32_t)r->codec << 16);
	gqi_put32(p + 8, r->file);
	gqi_put32(p + 12, r->seq);
	gqi_put32(p + 16, r->raw_n);
	gqi_put32(p + 20, r->stored_n);
	gqi_put64(p + 24, r->sum);
	gqi_put64(p + 32, gqi_sum(p, 32));
}

/* False: these are not the bytes of a record. */
static inline bool gqi_record_get(const unsigned char p[GQI_RECORD_SIZE], struct gqi_record *ret)
{
	if (memcmp(p, GQI_MAGIC_RECORD, 4) || gqi_get64(p + 32) != gqi_sum(p, 32))
		return false;
	*ret = (struct gqi_record){
		.type = gqi_get32(p + 4) & 0xffff,
		.codec = (enum gqi_codec)(gqi_get32(p + 4) >> 16),
		.file = gqi_get32(p + 8),
		.seq = gqi_get32(p + 12),
		.raw_n = gqi_get32(p + 16),
		.stored_n = gqi_get32(p + 20),
		.sum = gqi_get64(p + 24),
	};
	return true;
}

#endif
