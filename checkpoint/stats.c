/* SPDX-License-Identifier: MIT
 * stats.c - reads stats-dump: two magic words, a length, then a protobuf message whose field 1 is
 * the dump, whose field 2 is the frozen time in µs */
#include "stats.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"

#define HEAD_BYTES 12

struct reader {
	const unsigned char *p, *end;
};

static uint64_t varint(struct reader *r)
{
	uint64_t v = 0;

	for (int shift = 0; r->p < r->end && shift < 64; shift += 7) {
		unsigned char c = *r->p++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			break;
	}
	return v;
}

gq_time stats_frozen(const char *work_dir)
{
	char path[PATH_MAX];
	_cleanup_free_ char *data = NULL;
	struct reader r;
	size_t len;

	snprintf(path, sizeof(path), "%s/stats-dump", work_dir);
	if (file_read(path, 4096, &data, &len, NULL) < 0 || len < HEAD_BYTES + 2)
		return 0;
	r = (struct reader){(unsigned char *)data + HEAD_BYTES, (unsigned char *)data + len};
	if (varint(&r) != (1 << 3 | 2)) /* field 1, a message; its fields are all varints */
		return 0;
	varint(&r);
	while (r.p < r.end) {
		uint64_t key = varint(&r), value = varint(&r);

		if (key >> 3 == 2)
			return (gq_time)value * 1000;
	}
	return 0;
}
