/* SPDX-License-Identifier: MIT
 * encode.c - a row as JSON, by its table, straight into the buffer */
#include <string.h>

#include "message.h"

static void write_cards(struct buf *out, const struct api_cards *c)
{
	buf_chr(out, '[');
	for (uint32_t i = 0; i < c->n; i++) {
		if (i)
			buf_chr(out, ',');
		json_write_int(out, c->index[i]);
	}
	buf_chr(out, ']');
}

static void write_words(struct buf *out, const struct api_words *w)
{
	buf_chr(out, '[');
	for (uint32_t i = 0; i < w->n; i++) {
		if (i)
			buf_chr(out, ',');
		json_write_str(out, w->word[i]);
	}
	buf_chr(out, ']');
}

static void write_or_null(struct buf *out, bool is_null, int64_t v)
{
	if (is_null)
		buf_add(out, "null", 4);
	else
		json_write_int(out, v);
}

static void write_value(struct buf *out, enum api_type type, const void *at)
{
	const char *s;
	gq_time d;

	switch (type) {
	case API_STR: json_write_str(out, *(const char *const *)at); break;
	case API_BOOL: buf_str(out, *(const bool *)at ? "true" : "false"); break;
	case API_UINT: json_write_int(out, *(const uint32_t *)at); break;
	case API_ID:
		write_or_null(out, *(const uint32_t *)at == 0, *(const uint32_t *)at);
		break;
	case API_INT:
		write_or_null(
			out, *(const int64_t *)at == API_NONE, *(const int64_t *)at);
		break;
	case API_TIME: json_write_time(out, *(const gq_time *)at); break;
	case API_SECS: json_write_secs(out, *(const gq_time *)at); break;
	case API_MS:
		d = *(const gq_time *)at;
		write_or_null(out, d == GQ_NEVER, d / GQ_NS_PER_MS);
		break;
	case API_CARDS: write_cards(out, at); break;
	case API_WORDS: write_words(out, at); break;
	case API_RAW:
		s = *(const char *const *)at;
		buf_str(out, s ? s : "null");
		break;
	}
}

void api_encode(
	struct buf *out, const struct api_object *o, const void *row, uint64_t mask)
{
	char before = '{';

	for (size_t i = 0; i < o->n_fields; i++) {
		const struct api_field *f = &o->fields[i];
		size_t n = strlen(f->name);
		char *to;

		if (!(mask >> i & 1))
			continue;
		to = buf_reserve(out, n + 4);
		*to++ = before;
		*to++ = '"';
		memcpy(to, f->name, n);
		memcpy(to + n, "\":", 3);
		out->len += n + 4;
		before = ',';
		write_value(out, f->type, (const char *)row + f->offset);
	}
	if (before == '{')
		buf_chr(out, '{');
	buf_chr(out, '}');
}
