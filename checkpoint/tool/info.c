/* SPDX-License-Identifier: MIT
 * info.c - gq-image info: what an image says of itself */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "tool.h"

static void line(struct tool *t, const char *key, size_t n, const char *value, size_t value_n)
{
	if (!t->json) {
		buf_fmt(&t->out, "%.*s=%.*s\n", (int)n, key, (int)value_n, value);
		return;
	}
	buf_str(&t->out, ", ");
	json_text(&t->out, key, n);
	buf_str(&t->out, ": ");
	/* Numbers as such, if no reader could misunderstand them. */
	if (value_n && value_n <= 15 && strspn(value, "0123456789") >= value_n)
		buf_add(&t->out, value, value_n);
	else
		json_text(&t->out, value, value_n);
}

static void number(struct tool *t, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	line(t, key, strlen(key), text, strlen(text));
}

/* Without the list of files, which is ls. */
static void manifest(struct tool *t, const char *text)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n");
		const char *is = memchr(p, '=', n);

		if (is && strncmp(p, "file=", 5))
			line(t, p, (size_t)(is - p), is + 1, n - (size_t)(is + 1 - p));
		p += n + (p[n] == '\n');
	}
}

static int folder(struct tool *t, struct subject *s, struct gq_err *err)
{
	_cleanup_free_ char *text = NULL;
	uint64_t bytes = 0;
	struct stat st;
	int r = raw_manifest(s->path, &text, err);

	if (r < 0 && r != -ENOENT)
		return r;
	for (size_t i = 0; i < s->names.len; i++)
		if (fstatat(s->dir, s->names.list[i], &st, 0) == 0)
			bytes += (uint64_t)st.st_size;
	line(t, "format", 6, r == 0 ? RAW_HEAD : "criu", strlen(r == 0 ? RAW_HEAD : "criu"));
	number(t, "files", s->names.len);
	number(t, "bytes", bytes);
	if (!r)
		manifest(t, text);
	return 0;
}

static void container(struct tool *t, const struct gqi *g)
{
	char format[16];

	snprintf(format, sizeof(format), "gqi %u", g->version);
	line(t, "format", 6, format, strlen(format));
	number(t, "files", g->n_files);
	number(t, "frames", g->n_frames);
	number(t, "bytes", g->bytes);
	number(t, "raw_bytes", g->raw);
	manifest(t, g->manifest);
}

int tool_info(struct tool *t, struct subject *s, struct gq_err *err)
{
	int r = 0;

	if (t->json) {
		json_begin(t);
		buf_str(&t->out, "{\"path\": ");
		json_text(&t->out, s->path, strlen(s->path));
	} else {
		line(t, "path", 4, s->path, strlen(s->path));
	}
	if (s->is_folder)
		r = folder(t, s, err);
	else
		container(t, &s->image);
	if (t->json)
		buf_chr(&t->out, '}');
	return r;
}
