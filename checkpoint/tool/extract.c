/* SPDX-License-Identifier: MIT
 * extract.c - gq-image extract: a folder that crit, criu and gq itself can read */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "checkpoint/unpack.h"
#include "tool.h"

/* -C DIR, else the image's name without .gqi. */
static int target(const struct tool *t, const struct subject *s, char *buf, size_t size,
	struct gq_err *err)
{
	size_t n = strlen(s->path);

	if (t->directory) {
		snprintf(buf, size, "%s", t->directory);
	} else {
		if (n <= 4 || strcmp(s->path + n - 4, ".gqi"))
			return gq_err_set(err, -EINVAL, "%s: where to? --directory says it", s->path);
		snprintf(buf, size, "%.*s", (int)(n - 4), s->path);
	}
	return dir_make(buf, 0700, err);
}

static int one(const struct gqi *g, const char *dir, const char *name, struct gq_err *err)
{
	char path[PATH_MAX + GQI_NAME_MAX + 2];
	_cleanup_close_ int fd = -1;
	int r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", path);
	r = unpack_file(g, name, fd, err);
	if (r < 0)
		unlink(path);
	return r;
}

/* With it the folder is an image of the first format. */
static int manifest(const struct gqi *g, const char *dir, struct gq_err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	char path[PATH_MAX + GQI_NAME_MAX + 2];
	int r = raw_manifest_make(dir, g->manifest, &text, err);

	snprintf(path, sizeof(path), "%s/%s", dir, RAW_MANIFEST);
	return r < 0 ? r : file_write_atomic(path, text.data, text.len, 0600, err);
}

int tool_extract(struct tool *t, struct subject *s, struct gq_err *err)
{
	char dir[PATH_MAX];
	int r;

	if (s->is_folder)
		return gq_err_set(err, -EINVAL, "%s: is a folder already", s->path);
	r = target(t, s, dir, sizeof(dir), err);
	for (size_t i = 1; i < t->n_words && !r; i++)
		r = one(&s->image, dir, t->words[i], err);
	if (r < 0 || t->n_words > 1)
		return r;
	for (uint32_t i = 0; i < s->image.n_files && !r; i++)
		if (gqi_find(&s->image, s->image.files[i].name) == &s->image.files[i])
			r = one(&s->image, dir, s->image.files[i].name, err);
	return r < 0 ? r : manifest(&s->image, dir, err);
}
