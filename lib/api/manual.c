/* SPDX-License-Identifier: MIT
 * manual.c - the protocol described from its tables: OpenAPI for programs, API.md for people */
#include <string.h>

#include "base/cleanup.h"
#include "message.h"

/* `none` in the table stands for no object. A constant also under the sanitizers, where comparing
 * addresses is none: for `none` the probe brings a second argument of its own. */
#define PROBE_none           ~, NULL
#define SECOND_OF(a, b, ...) b
#define SECOND(...)          SECOND_OF(__VA_ARGS__)
#define OBJECT_OR_NULL(name) SECOND(PROBE_##name, &api_##name##_object, ~)

const struct api_route api_routes[] = {
#define API_ROUTE(method, path, handler, query, body, reply, list, help)                 \
	{method, path, query, OBJECT_OR_NULL(body), OBJECT_OR_NULL(reply), list, help},
#include "routes.def"
#undef API_ROUTE
};
const size_t api_n_routes = ARRAY_LEN(api_routes);

static const struct {
	const char *json, *format, *people;
} types[] = {
	[API_STR] = {"string", NULL, "string"},
	[API_BOOL] = {"boolean", NULL, "bool"},
	[API_UINT] = {"integer", NULL, "integer"},
	[API_ID] = {"integer", NULL, "integer or null"},
	[API_INT] = {"integer", "int64", "integer or null"},
	[API_TIME] = {"string", "date-time", "time or null"},
	[API_SECS] = {"number", NULL, "number or null"},
	[API_MS] = {"integer", "int64", "integer or null"},
	[API_CARDS] = {"array", NULL, "array of integers"},
	[API_WORDS] = {"array", NULL, "array of strings"},
	[API_RAW] = {"object", NULL, "object or null"},
};

static void write_property(struct buf *out, const struct api_field *f)
{
	json_write_str(out, f->name);
	buf_fmt(out, ":{\"type\":\"%s\"", types[f->type].json);
	if (types[f->type].format)
		buf_fmt(out, ",\"format\":\"%s\"", types[f->type].format);
	if (f->type == API_CARDS || f->type == API_WORDS)
		buf_fmt(out, ",\"items\":{\"type\":\"%s\"}",
			f->type == API_CARDS ? "integer" : "string");
	else if (f->type != API_BOOL && f->type != API_UINT)
		buf_str(out, ",\"nullable\":true");
	buf_str(out, ",\"description\":");
	json_write_str(out, f->help);
	buf_chr(out, '}');
}

static void write_schemas(struct buf *out)
{
	for (size_t i = 0; api_objects[i]; i++) {
		const struct api_object *o = api_objects[i];

		buf_str(out, i ? "," : "");
		json_write_str(out, o->name);
		buf_str(out, ":{\"type\":\"object\",\"description\":");
		json_write_str(out, o->help);
		buf_str(out, ",\"properties\":{");
		for (size_t k = 0; k < o->n_fields; k++) {
			buf_str(out, k ? "," : "");
			write_property(out, &o->fields[k]);
		}
		buf_str(out, "}}");
	}
}

/* "/v1/jobs/{}/evict" → "/v1/jobs/{id}/evict" */
static void write_path(struct buf *out, const char *path)
{
	const char *hole = strstr(path, "{}");

	if (hole)
		buf_fmt(out, "%.*s{id}%s", (int)(hole - path), path, hole + 2);
	else
		buf_str(out, path);
}

static void write_parameters(struct buf *out, const struct api_route *r)
{
	const char *sep = "", *q = r->query;

	buf_str(out, ",\"parameters\":[");
	if (strstr(r->path, "{}")) {
		buf_str(out, "{\"name\":\"id\",\"in\":\"path\",\"required\":true,"
			     "\"schema\":{\"type\":\"string\"}}");
		sep = ",";
	}
	while (*q) {
		size_t n = strcspn(q, ",");

		buf_fmt(out,
			"%s{\"name\":\"%.*s\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}}",
			sep, (int)n, q);
		sep = ",";
		q += n + (q[n] == ',');
	}
	buf_chr(out, ']');
}

static void write_content(struct buf *out, const struct api_object *o, bool list)
{
	buf_str(out, "\"content\":{\"application/json\":{\"schema\":");
	buf_fmt(out,
		list ? "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/%s\"}}"
		     : "{\"$ref\":\"#/components/schemas/%s\"}",
		o->name);
	buf_str(out, "}}");
}

static void write_operation(struct buf *out, const struct api_route *r)
{
	buf_chr(out, '"');
	for (const char *m = r->method; *m; m++)
		buf_chr(out, (char)(*m | 32));
	buf_str(out, "\":{\"description\":");
	json_write_str(out, r->help);
	write_parameters(out, r);
	if (r->body) {
		buf_str(out, ",\"requestBody\":{");
		write_content(out, r->body, false);
		buf_chr(out, '}');
	}
	buf_str(out, ",\"responses\":{\"200\":{\"description\":\"done\"");
	if (r->reply) {
		buf_chr(out, ',');
		write_content(out, r->reply, r->list);
	}
	buf_str(out, "},\"default\":{\"description\":\"refused\",");
	write_content(out, &api_error_object, false);
	buf_str(out, "}}}");
}

void api_openapi(struct buf *out, const char *version)
{
	buf_fmt(out,
		"{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"gqd\",\"version\":\"%s\"},\"paths\":{",
		version);
	for (size_t i = 0; i < api_n_routes; i++) {
		bool same =
			i > 0 && strcmp(api_routes[i].path, api_routes[i - 1].path) == 0;

		if (!same) {
			buf_str(out, i ? "},\"" : "\"");
			write_path(out, api_routes[i].path);
			buf_str(out, "\":{");
		} else {
			buf_chr(out, ',');
		}
		write_operation(out, &api_routes[i]);
	}
	buf_str(out, "}},\"components\":{\"schemas\":{");
	write_schemas(out);
	buf_str(out, "}}}\n");
}

static const char introduction[] =
	"# The protocol of gqd\n\n"
	"HTTP/1.1 with JSON bodies on a unix socket (`/run/gq/gqd.sock`); who asks is known by the\n"
	"kernel's peer credentials. A user acts on own jobs; root and the operator group on all.\n\n"
	"    curl --unix-socket /run/gq/gqd.sock http://gq/v1/ping\n\n"
	"A reply to a request that changes something means: it is on disk. Requests may be pipelined;\n"
	"all that arrive together share one commit. Times are ISO 8601 UTC with milliseconds and null\n"
	"means never; durations end in `_s` (seconds) or `_ms`; sizes in `_mib`. Fields are only ever\n"
	"added: skip those you do not know. In requests an unknown field is refused.\n\n"
	"A refusal is `{\"error\": {\"code\": \"EINVAL\", \"message\": \"one line\"}}` with status 400 (bad\n"
	"value), 403 (not yours), 404, 405, 408 (too slow), 409 (not in this state, or exists), 413 and\n"
	"431 (too large), 422 (no card can ever hold it), 429 (too many jobs), 503 (try again) or 507\n"
	"(disk full; nothing was kept).\n";

void api_manual(struct buf *out)
{
	buf_str(out, introduction);
	buf_str(out, "\n## Requests\n");
	for (size_t i = 0; i < api_n_routes; i++) {
		const struct api_route *r = &api_routes[i];

		buf_fmt(out, "\n### %s ", r->method);
		write_path(out, r->path);
		buf_fmt(out, "\n\n%s\n", r->help);
		if (*r->query)
			buf_fmt(out, "\nQuery: %s.\n", r->query);
		if (r->body)
			buf_fmt(out, "\nBody: [%s](#%s).\n", r->body->name,
				r->body->name);
		if (r->reply)
			buf_fmt(out, "\nAnswer: %s[%s](#%s).\n",
				r->list ? "array of " : "", r->reply->name,
				r->reply->name);
	}
	buf_str(out, "\n## Objects\n");
	for (size_t i = 0; api_objects[i]; i++) {
		const struct api_object *o = api_objects[i];

		buf_fmt(out,
			"\n### %s\n\n%s\n\n| field | type | unit | |\n|---|---|---|---|\n",
			o->name, o->help);
		for (size_t k = 0; k < o->n_fields; k++)
			buf_fmt(out, "| %s | %s | %s | %s |\n", o->fields[k].name,
				types[o->fields[k].type].people, o->fields[k].unit,
				o->fields[k].help);
	}
}
