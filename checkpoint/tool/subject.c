/* SPDX-License-Identifier: MIT
 * subject.c - what a word of gq-image's command line names, and its JSON */
#include "tool.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "checkpoint/image.h"

static int folder_open(const char *path, struct subject *s, struct gq_err *err)
{
	s->is_folder = true;
	s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return gq_err_sys(err, -errno, "%s", path);
	return raw_names(s->dir, &s->names, err);
}

int subject_open(const char *path, struct subject *ret, struct gq_err *err)
{
	struct subject s = {.path = path, .image = GQI_EMPTY, .dir = -1};
	char inner[PATH_MAX];
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return gq_err_sys(err, -errno, "%s", path);
	snprintf(inner, sizeof(inner), "%s/%s", path, IMAGE_FILE);
	if (!S_ISDIR(st.st_mode))
		r = gqi_open(path, &s.image, err);
	else if (access(inner, F_OK) == 0)
		r = gqi_open(inner, &s.image, err);
	else
		r = folder_open(path, &s, err);
	if (r < 0)
		subject_close(&s);
	else
		*ret = s;
	return r;
}

void subject_close(struct subject *s)
{
	gqi_close(&s->image);
	raw_names_clear(&s->names);
	if (s->dir >= 0)
		close(TAKE_FD(s->dir));
}

void json_text(struct buf *b, const char *text, size_t n)
{
	buf_chr(b, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			buf_chr(b, '\\');
		if (c < 0x20)
			buf_fmt(b, "\\u%04x", c);
		else
			buf_chr(b, (char)c);
	}
	buf_chr(b, '"');
}

void json_begin(struct tool *t)
{
	buf_str(&t->out, t->n_shown++ ? ",\n " : "[");
}

void json_end(struct tool *t)
{
	if (t->json)
		buf_str(&t->out, t->n_shown ? "]\n" : "[]\n");
}
