/* SPDX-License-Identifier: MIT
 * fuzz_json.c - any bytes as the body of POST /v1/jobs; what is understood is the same there and back
 * fuzz: lib/job/json_decode.c lib/job/json_encode.c lib/job/types.c lib/job/types_word.c lib/job/types_json.c lib/job/check.c lib/job/path.c lib/job/job_spec.c
 * fuzz: lib/base/err.c lib/base/buf.c lib/base/mem.c lib/base/parse.c lib/base/utf8.c lib/base/signame.c lib/client/field.c -ljansson -lm
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "client/field.h"
#include "job/job_spec.h"

#define NOW GQ_SEC(1796068800)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* spec → JSON → spec → JSON: both texts are equal. */
static void there_and_back(const struct job_spec *s)
{
	_cleanup_buf_ struct buf first = BUF_INIT, second = BUF_INIT;
	struct job_spec again;

	job_spec_to_json(s, &first);
	if (job_spec_from_json(buf_c(&first), first.len, NOW, &again, NULL) < 0)
		abort();
	job_spec_to_json(&again, &second);
	if (strcmp(buf_c(&first), buf_c(&second)))
		abort();
	job_spec_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct gq_err err = {0};
	struct job_spec s;

	for (const char *v = field_first(field_find(text, "args", NULL)); v; v = field_next(v))
		field_text(v, &out);
	if (job_spec_from_json((const char *)data, size, NOW, &s, &err) < 0) {
		if (!err.text[0] || strchr(err.text, '\n'))
			abort();
		return 0;
	}
	there_and_back(&s);
	job_spec_check(&s, &err);
	job_spec_clear(&s);
	return 0;
}
