/* SPDX-License-Identifier: MIT
 * body.c - bodies from strangers, read strictly by the table of their object
 * Refused: what is no JSON, duplicate or unknown fields, other types, NUL, invalid UTF-8, nesting. */
#include <jansson.h>
#include <string.h>

#include "request.h"

/* jansson's words name a line and a column; one line is enough. */
static json_t *load(const struct req *q, struct gq_err *err)
{
	json_error_t why;
	json_t *tree = json_loadb(q->body, q->body_len, JSON_REJECT_DUPLICATES, &why);

	if (!tree) {
		gq_err_set(err, -EINVAL, "body: bad JSON at line %d, column %d: %.120s",
			why.line, why.column, why.text);
		return NULL;
	}
	if (!json_is_object(tree)) {
		json_decref(tree);
		gq_err_set(err, -EINVAL, "body: not an object");
		return NULL;
	}
	return tree;
}

static const struct api_field *find_field(const struct api_object *o, const char *name)
{
	for (size_t i = 0; i < o->n_fields; i++) {
		if (strcmp(o->fields[i].name, name) == 0)
			return &o->fields[i];
	}
	return NULL;
}

static int read_words(
	const json_t *v, const char *name, struct api_words *ret, struct gq_err *err)
{
	size_t n = json_array_size(v);

	if (!json_is_array(v) || n == 0)
		return gq_err_set(err, -EINVAL, "%s: not an array of strings", name);
	if (n > API_CARDS_MAX)
		return gq_err_set(err, -EINVAL, "%s: %zu entries, at most %d are allowed",
			name, n, API_CARDS_MAX);
	for (size_t i = 0; i < n; i++) {
		ret->word[i] = json_string_value(json_array_get(v, i));
		if (!ret->word[i])
			return gq_err_set(
				err, -EINVAL, "%s: not an array of strings", name);
	}
	ret->n = (uint32_t)n;
	return 0;
}

/* null is as good as absent. Bodies have only these types: a table that wants more is our bug. */
static int read_value(
	const json_t *v, const struct api_field *f, void *at, struct gq_err *err)
{
	if (json_is_null(v))
		return 0;
	switch (f->type) {
	case API_STR:
		if (!json_is_string(v))
			return gq_err_set(err, -EINVAL, "%s: not a string", f->name);
		*(const char **)at = json_string_value(v);
		return 0;
	case API_INT:
		if (!json_is_integer(v))
			return gq_err_set(err, -EINVAL, "%s: not an integer", f->name);
		*(int64_t *)at = json_integer_value(v);
		return 0;
	case API_BOOL:
		if (!json_is_boolean(v))
			return gq_err_set(err, -EINVAL, "%s: not true or false", f->name);
		*(bool *)at = json_is_true(v);
		return 0;
	case API_WORDS: return read_words(v, f->name, at, err);
	default: return gq_err_set(err, -ENOSYS, "%s: cannot be read", f->name);
	}
}

int body_read(struct req *q, const struct api_object *o, void *row, struct gq_err *err)
{
	const char *name;
	json_t *v;
	int r;

	api_row_init(o, row);
	if (q->body_len == 0)
		return 0;
	q->tree = load(q, err);
	if (!q->tree)
		return -EINVAL;
	json_object_foreach(q->tree, name, v)
	{
		const struct api_field *f = find_field(o, name);

		if (!f)
			return gq_err_set(
				err, -EINVAL, "body: unknown field '%.60s'", name);
		r = read_value(v, f, (char *)row + f->offset, err);
		if (r < 0)
			return r;
	}
	return 0;
}
