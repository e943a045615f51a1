/* SPDX-License-Identifier: MIT
 * ls.c - gq-image ls: the files of an image */
#include <string.h>
#include <sys/stat.h>

#include "tool.h"

static void one(struct tool *t, bool first, const char *name, uint64_t bytes, uint64_t stored,
	uint32_t frames)
{
	if (!t->json) {
		buf_fmt(&t->out, "%14llu %14llu %8u  %s\n", (unsigned long long)bytes,
			(unsigned long long)stored, frames, name);
		return;
	}
	buf_str(&t->out, first ? "\n  {\"name\": " : ",\n  {\"name\": ");
	json_text(&t->out, name, strlen(name));
	buf_fmt(&t->out, ", \"bytes\": %llu, \"stored\": %llu, \"frames\": %u}",
		(unsigned long long)bytes, (unsigned long long)stored, frames);
}

static int folder(struct tool *t, struct subject *s, struct gq_err *err)
{
	for (size_t i = 0; i < s->names.len; i++) {
		struct stat st;

		if (fstatat(s->dir, s->names.list[i], &st, 0) < 0)
			return gq_err_sys(err, -errno, "%s", s->names.list[i]);
		one(t, i == 0, s->names.list[i], (uint64_t)st.st_size, (uint64_t)st.st_size, 0);
	}
	return 0;
}

int tool_ls(struct tool *t, struct subject *s, struct gq_err *err)
{
	int r = 0;

	if (t->json) {
		json_begin(t);
		buf_str(&t->out, "{\"path\": ");
		json_text(&t->out, s->path, strlen(s->path));
		buf_str(&t->out, ", \"files\": [");
	} else {
		if (t->n_words > 1)
			buf_fmt(&t->out, "%s:\n", s->path);
		buf_fmt(&t->out, "%14s %14s %8s  %s\n", "BYTES", "STORED", "FRAMES", "NAME");
	}
	if (s->is_folder)
		r = folder(t, s, err);
	for (uint32_t i = 0; i < s->image.n_files; i++)
		one(t, i == 0, s->image.files[i].name, s->image.files[i].bytes, s->image.files[i].stored,
			s->image.files[i].n);
	if (t->json)
		buf_str(&t->out, "]}");
	return r;
}
