/* SPDX-License-Identifier: MIT
 * json_encode.c - a specification as JSON: what differs from the defaults, in the table's order */
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/field.h"

const struct job_field job_fields[] = {
#define FIELD(name, type, member, help)                                                           \
	{name, sizeof(name) - 1, &job_type_##type, offsetof(struct job_spec, member), help},
#include "job/fields.def"
#undef FIELD
};
const size_t job_fields_len = ARRAY_LEN(job_fields);

static bool is_given(const struct job_spec *s, const struct job_spec *defaults,
	const struct job_field *f)
{
	const char *at = (const char *)s + f->offset;

	if (f->type->form == FORM_RLIMITS)
		return s->has_rlimits;
	if (f->type->size)
		return memcmp(at, (const char *)defaults + f->offset, f->type->size) != 0;
	return *(char *const *)(const void *)at != NULL;
}

void job_spec_to_json(const struct job_spec *s, struct buf *out)
{
	struct job_spec defaults;
	char comma = '{';

	job_spec_init(&defaults);
	for (size_t i = 0; i < job_fields_len; i++) {
		const struct job_field *f = &job_fields[i];

		if (!is_given(s, &defaults, f))
			continue;
		buf_chr(out, comma);
		buf_chr(out, '"');
		buf_add(out, f->name, f->name_len);
		buf_add(out, "\":", 2);
		f->type->encode((const char *)s + f->offset, out);
		comma = ',';
	}
	if (comma == '{')
		buf_chr(out, '{');
	buf_chr(out, '}');
}
