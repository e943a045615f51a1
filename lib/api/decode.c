/* SPDX-License-Identifier: MIT
 * decode.c - JSON into a row, by its table, in place */
#include <string.h>

#include "base/parse.h"
#include "message.h"

void api_row_init(const struct api_object *o, void *row)
{
	memset(row, 0, o->size);
	for (size_t i = 0; i < o->n_fields; i++) {
		char *at = (char *)row + o->fields[i].offset;

		if (o->fields[i].type == API_INT)
			*(int64_t *)at = API_NONE;
		else if (o->fields[i].type == API_SECS || o->fields[i].type == API_MS)
			*(gq_time *)at = GQ_NEVER;
	}
}

static int read_uint(struct json_in *in, uint32_t *ret)
{
	int64_t v;

	if (json_scaled(in, 0, 0, &v) < 0 || v < 0 || v > UINT32_MAX)
		return -EBADMSG;
	*ret = (uint32_t)v;
	return 0;
}

static int read_time(struct json_in *in, gq_time *ret)
{
	char *s;

	if (json_str(in, &s) < 0)
		return -EBADMSG;
	*ret = 0;
	return s && parse_when(s, 0, ret, NULL) < 0 ? -EBADMSG : 0;
}

static int read_cards(struct json_in *in, struct api_cards *ret)
{
	int r, n = 0;
	uint32_t v;

	if (json_open(in, '[') < 0)
		return -EBADMSG;
	for (; (r = json_more(in, ']', n == 0)) > 0; n++) {
		if (n == API_CARDS_MAX || read_uint(in, &v) < 0 || v > UINT16_MAX)
			return -EBADMSG;
		ret->index[n] = (uint16_t)v;
		ret->n = (uint32_t)n + 1;
	}
	return r;
}

static int read_words(struct json_in *in, struct api_words *ret)
{
	int r, n = 0;
	char *s;

	if (json_open(in, '[') < 0)
		return -EBADMSG;
	for (; (r = json_more(in, ']', n == 0)) > 0; n++) {
		if (n == API_CARDS_MAX || json_str(in, &s) < 0 || !s)
			return -EBADMSG;
		ret->word[n] = s;
		ret->n = (uint32_t)n + 1;
	}
	return r;
}

/* A raw value is lent where it stands and is not terminated: read it with a cursor of its own. */
static int read_value(struct json_in *in, enum api_type type, void *at)
{
	size_t len;

	switch (type) {
	case API_STR: return json_str(in, (char **)at);
	case API_BOOL: return json_bool(in, at);
	case API_UINT:
	case API_ID: return read_uint(in, at);
	case API_INT: return json_scaled(in, 0, API_NONE, at);
	case API_TIME: return read_time(in, at);
	case API_SECS: return json_scaled(in, 9, GQ_NEVER, at);
	case API_MS: return json_scaled(in, 6, GQ_NEVER, at);
	case API_CARDS: return read_cards(in, at);
	case API_WORDS: return read_words(in, at);
	case API_RAW:
		if (json_slice(in, (char **)at, &len) < 0)
			return -EBADMSG;
		if (**(char **)at == 'n')
			*(char **)at = NULL;
		return 0;
	}
	return -EBADMSG;
}

/* Fields mostly come in the order of the table. */
static const struct api_field *find_field(
	const struct api_object *o, const char *name, size_t *next)
{
	for (size_t k = 0; k < o->n_fields; k++) {
		size_t i = (*next + k) % o->n_fields;

		if (strcmp(o->fields[i].name, name) == 0) {
			*next = i + 1;
			return &o->fields[i];
		}
	}
	return NULL;
}

int api_decode(
	struct json_in *in, const struct api_object *o, void *row, struct gq_err *err)
{
	size_t next = 0;
	char *key;
	int r;

	api_row_init(o, row);
	r = json_open(in, '{');
	for (bool first = true; r >= 0 && (r = json_more(in, '}', first)) > 0;
		first = false) {
		const struct api_field *f;

		if (json_key(in, &key) < 0)
			return gq_err_set(err, -EBADMSG, "%s: bad JSON", o->name);
		f = find_field(o, key, &next);
		r = f ? read_value(in, f->type, (char *)row + f->offset) : json_skip(in);
		if (r < 0)
			return gq_err_set(err, -EBADMSG,
				"%s: field '%.40s' is not what it should be", o->name,
				key);
	}
	return r < 0 ? gq_err_set(err, -EBADMSG, "%s: bad JSON", o->name) : 0;
}
