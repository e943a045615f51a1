/* SPDX-License-Identifier: MIT
 * pack.c - gq-image pack: an image of a folder of criu's files */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/gqtime.h"
#include "checkpoint/unpack.h"
#include "tool.h"

/* The lines of the folder's manifest but those about files; NULL if it has none. */
static void manifest_lines(const char *dir, struct buf *out)
{
	_cleanup_free_ char *text = NULL;
	char *save = NULL;

	if (raw_manifest(dir, &text, NULL) < 0)
		return;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (strncmp(l, "file=", 5) && strcmp(l, RAW_HEAD))
			buf_fmt(out, "%s\n", l);
}

static int64_t number(const char *lines, const char *key)
{
	const char *at = strstr(lines, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static int names_check(const struct subject *s, struct gq_err *err)
{
	for (size_t i = 0; i < s->names.len; i++)
		if (!gqi_name_ok(s->names.list[i]))
			return gq_err_set(err, -EINVAL, "%s: '%s' is no name for a file of an image", s->path,
				s->names.list[i]);
	return 0;
}

int tool_pack(struct tool *t, struct subject *s, struct gq_err *err)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;
	char path[PATH_MAX];
	struct gqi_write w = {.path = t->output ? t->output : path, .direct = true};
	size_t n = strlen(s->path);
	int r;

	if (!s->is_folder)
		return gq_err_set(err, -EINVAL, "%s: is an image already", s->path);
	while (n > 1 && s->path[n - 1] == '/')
		n--;
	snprintf(path, sizeof(path), "%.*s.gqi", (int)n, s->path);
	if (access(w.path, F_OK) == 0)
		return gq_err_set(err, -EEXIST, "%s: exists", w.path);
	r = names_check(s, err);
	if (r < 0)
		return r;
	manifest_lines(s->path, &lines);
	w.job = number(buf_c(&lines), "job=");
	w.incarnation = number(buf_c(&lines), "incarnation=");
	w.created = gq_now();
	r = pack_files(&w, (int)t->level, (unsigned)t->workers, s->dir,
		(const char *const *)s->names.list, s->names.len, buf_c(&lines), err);
	if (r < 0)
		unlink(w.path); /* half of an image is of no use */
	return r;
}
