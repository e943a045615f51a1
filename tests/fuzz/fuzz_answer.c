/* SPDX-License-Identifier: MIT
 * fuzz_answer.c - an answer from whoever serves the socket: a row, or an error that names the field;
 * a row that was read is written and read back as the same
 * fuzz: lib/api/objects.c lib/api/decode.c lib/api/encode.c lib/api/json_read.c lib/api/json_write.c
 * fuzz: lib/base/buf.c lib/base/mem.c lib/base/err.c lib/base/utf8.c lib/base/parse.c lib/base/gqtime.c -lm
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct api_object *o, const uint8_t *data, size_t size)
{
	struct buf text = BUF_INIT, one = BUF_INIT, two = BUF_INIT;
	char *row = malloc(o->size);
	struct gq_err err = {0};
	struct json_in in;

	buf_add(&text, data, size);
	in = (struct json_in){text.data, text.data + text.len};
	if (api_decode(&in, o, row, &err) < 0) {
		assert(err.code == -EBADMSG && err.text[0]);
	} else {
		api_encode(&one, o, row, API_ALL_FIELDS & ~api_field_bit(o, "spec"));
		buf_add(&two, one.data, one.len); /* decoding changes the text */
		in = (struct json_in){two.data, two.data + two.len};
		assert(api_decode(&in, o, row, &err) == 0);
		buf_reset(&text);
		api_encode(&text, o, row, API_ALL_FIELDS & ~api_field_bit(o, "spec"));
		assert(text.len == one.len && memcmp(text.data, one.data, one.len) == 0);
	}
	buf_clear(&text);
	buf_clear(&one);
	buf_clear(&two);
	free(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(&api_job_object, data, size);
	check(&api_eviction_object, data, size);
	return 0;
}
