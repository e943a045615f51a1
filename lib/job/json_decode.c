/* SPDX-License-Identifier: MIT
 * json_decode.c - a specification from JSON that a stranger wrote: strict, every error names its field
 * The only user of <jansson.h> in this room: programs that do not decode link without it. */
#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "job/field.h"

static void json_unref(json_t **j)
{
	json_decref(*j);
}

/* Text that jansson accepted can still hold a NUL. */
static const char *plain_text(const json_t *v, struct gq_err *err)
{
	const char *s = json_string_value(v);

	if (strlen(s) == json_string_length(v))
		return s;
	gq_err_set(err, -EINVAL, "has a NUL character");
	return NULL;
}

static int wrong_type(const json_t *v, const struct job_type *t, struct gq_err *err)
{
	static const char *const names[] = {[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
		[JSON_STRING] = "a text", [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",
		[JSON_TRUE] = "true", [JSON_FALSE] = "false", [JSON_NULL] = "null"};

	return gq_err_set(err, -EINVAL, "is %s, expected %s", names[json_typeof(v)], t->wants);
}

static int get_scalar(const json_t *v, const struct job_type *t, void *field, gq_time now,
	struct gq_err *err)
{
	const char *text;

	if (json_is_number(v) && t->from_number)
		return t->from_number(field, json_number_value(v), err);
	if (!json_is_string(v))
		return wrong_type(v, t, err);
	text = plain_text(v, err);
	return text ? t->from_text(field, text, now, err) : -EINVAL;
}

static int get_strings(const json_t *v, const struct job_type *t, char ***field, struct gq_err *err)
{
	size_t n = json_array_size(v);
	const char *text;
	char **list;

	if (!json_is_array(v))
		return wrong_type(v, t, err);
	if (!n)
		return 0;
	*field = list = xnew_n(char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const json_t *e = json_array_get(v, i);

		if (!json_is_string(e))
			return gq_err_set(err, -EINVAL, "entry %zu is not a text", i);
		text = plain_text(e, err);
		if (!text)
			return gq_err_prefix(err, -EINVAL, "entry %zu", i);
		list[i] = xstrdup(text);
	}
	return 0;
}

static int get_script(const json_t *v, struct job_spec *s, struct gq_err *err)
{
	if (!json_is_string(v))
		return wrong_type(v, &job_type_script, err);
	s->script_len = json_string_length(v);
	s->script = xmalloc(s->script_len + 1);
	memcpy(s->script, json_string_value(v), s->script_len + 1);
	return 0;
}

static int get_limit(const json_t *v, rlim_t *ret)
{
	if (json_is_null(v))
		*ret = RLIM_INFINITY;
	else if (json_is_integer(v) && json_integer_value(v) >= 0)
		*ret = (rlim_t)json_integer_value(v);
	else
		return -EINVAL;
	return 0;
}

static int rlimit_find(const char *name)
{
	const char *known;

	for (int i = 0; i < RLIM_NLIMITS && (known = job_rlimit_name(i)); i++)
		if (!strcmp(known, name))
			return i;
	return -ENOENT;
}

/* Limits that are not listed are without limit: gqd never adds its own. */
static int get_rlimits(json_t *v, struct job_spec *s, struct gq_err *err)
{
	const char *name;
	json_t *pair;

	if (!json_is_object(v))
		return wrong_type(v, &job_type_rlimits, err);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		s->rlimits[i] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	json_object_foreach(v, name, pair) {
		struct rlimit l;
		int i = rlimit_find(name);

		if (i < 0)
			return gq_err_set(err, -EINVAL, "'%.40s' is not a limit; NOFILE, AS, … are", name);
		if (json_array_size(pair) != 2 || get_limit(json_array_get(pair, 0), &l.rlim_cur) < 0 ||
			get_limit(json_array_get(pair, 1), &l.rlim_max) < 0 || l.rlim_cur > l.rlim_max)
			return gq_err_set(err, -EINVAL,
				"%s is not [soft, hard] with numbers or null, soft up to hard", name);
		s->rlimits[i] = l;
	}
	s->has_rlimits = true;
	return 0;
}

static int get_field(json_t *v, const struct job_field *f, struct job_spec *s, gq_time now,
	struct gq_err *err)
{
	void *at = (char *)s + f->offset;

	switch (f->type->form) {
	case FORM_SCALAR: return get_scalar(v, f->type, at, now, err);
	case FORM_SCRIPT: return get_script(v, s, err);
	case FORM_STRINGS: return get_strings(v, f->type, at, err);
	case FORM_RLIMITS: return get_rlimits(v, s, err);
	case FORM_BOOL:
		if (!json_is_boolean(v))
			return wrong_type(v, f->type, err);
		*(bool *)at = json_is_true(v);
		return 0;
	}
	return -EINVAL;
}

static const struct job_field *field_of(const char *name)
{
	for (size_t i = 0; i < job_fields_len; i++)
		if (job_fields[i].name[0] == name[0] && !strcmp(job_fields[i].name, name))
			return &job_fields[i];
	return NULL;
}

static int get_spec(json_t *root, gq_time now, struct job_spec *s, struct gq_err *err)
{
	const char *name;
	json_t *v;

	if (!json_is_object(root))
		return gq_err_set(err, -EINVAL, "a job is a JSON object: {\"script\": …}");
	json_object_foreach(root, name, v) {
		const struct job_field *f = field_of(name);

		if (!f)
			return gq_err_set(err, -EINVAL, "unknown field '%.60s'", name);
		if (json_is_null(v)) /* as if it were not there */
			continue;
		if (get_field(v, f, s, now, err) < 0)
			return gq_err_prefix(err, -EINVAL, "%s", f->name);
	}
	return 0;
}

int job_spec_from_json(const char *json, size_t len, gq_time now, struct job_spec *ret,
	struct gq_err *err)
{
	_cleanup_(json_unref) json_t *root = NULL;
	json_error_t error;
	struct job_spec s;
	int r;

	root = json_loadb(json, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!root)
		return gq_err_set(err, -EINVAL, "JSON, line %d, column %d: %s", error.line, error.column,
			error.text);
	job_spec_init(&s);
	r = get_spec(root, now, &s, err);
	if (r < 0)
		job_spec_clear(&s);
	else
		*ret = s;
	return r;
}
