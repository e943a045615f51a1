/* SPDX-License-Identifier: MIT
 * raw.c - a folder and a manifest that knows every byte of it */
#include "raw.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "sum.h"

#define READ_BYTES   (1u << 20)
#define MANIFEST_MAX (4u << 20)

static int file_sum(int dir, const char *name, int64_t *ret_size, uint64_t *ret_sum,
	struct gq_err *err)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	static unsigned char data[READ_BYTES];
	struct sum s;
	ssize_t n;

	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", name);
	sum_init(&s);
	while ((n = read(fd, data, sizeof(data))) > 0)
		sum_add(&s, data, (size_t)n);
	if (n < 0)
		return gq_err_sys(err, -errno, "%s", name);
	*ret_size = (int64_t)s.total;
	*ret_sum = sum_end(&s);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void raw_names_clear(struct raw_names *n)
{
	for (size_t i = 0; i < n->len; i++)
		free(n->list[i]);
	free(n->list);
}

int raw_names(int dir, struct raw_names *ret, struct gq_err *err)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return gq_err_sys(err, -errno, "image");
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || !strcmp(e->d_name, RAW_MANIFEST) ||
			(e->d_type != DT_REG && e->d_type != DT_UNKNOWN))
			continue;
		ret->list = xrealloc(ret->list, ret->len + 1, sizeof(char *));
		ret->list[ret->len++] = xstrdup(e->d_name);
	}
	qsort(ret->list, ret->len, sizeof(char *), compare_names);
	return 0;
}

/* Checks the manifest's own sum and cuts it into lines. */
int raw_manifest(const char *dir, char **ret, struct gq_err *err)
{
	char path[PATH_MAX];
	_cleanup_free_ char *text = NULL;
	unsigned long long want;
	size_t len;
	struct sum s;
	char *end;
	int r;

	snprintf(path, sizeof(path), "%s/" RAW_MANIFEST, dir);
	r = file_read(path, MANIFEST_MAX, &text, &len, err);
	if (r < 0)
		return r;
	if (strncmp(text, RAW_HEAD "\n", sizeof(RAW_HEAD)))
		return gq_err_set(err, -EILSEQ, "%s: does not begin with '%s'", path, RAW_HEAD);
	end = len > 22 && text[len - 1] == '\n' ? text + len - 21 : NULL; /* "end=", 16 digits */
	if (!end || end[-1] != '\n' || sscanf(end, "end=%16llx", &want) != 1)
		return gq_err_set(err, -EILSEQ, "%s: cut off", path);
	sum_init(&s);
	sum_add(&s, text, (size_t)(end - text));
	if (sum_end(&s) != want)
		return gq_err_set(err, -EILSEQ, "%s: damaged", path);
	*end = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}

static int line_verify(int dir, const char *path, const char *line, struct gq_err *err)
{
	unsigned long long want_sum;
	long long want_size;
	uint64_t sum;
	int64_t size;
	int at = 0, r;

	if (sscanf(line, "file=%16llx %lld %n", &want_sum, &want_size, &at) != 2 || !at)
		return 0; /* another key */
	r = file_sum(dir, line + at, &size, &sum, err);
	if (r < 0)
		return gq_err_prefix(err, r, "image %s", path);
	if (size != want_size)
		return gq_err_set(err, -EILSEQ, "image %s: %s has %lld bytes instead of %lld", path,
			line + at, (long long)size, want_size);
	if (sum != want_sum)
		return gq_err_set(err, -EILSEQ, "image %s: %s is damaged (its checksum is wrong)", path,
			line + at);
	return 0;
}

int raw_verify(const char *path, struct gq_err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int dir = -1;
	char *save = NULL;
	int r = raw_manifest(path, &text, err);

	if (r < 0)
		return r;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (char *l = strtok_r(text, "\n", &save); l && !r; l = strtok_r(NULL, "\n", &save))
		r = line_verify(dir, path, l, err);
	return r;
}

static void manifest_tail(struct buf *b)
{
	struct sum s;

	sum_init(&s);
	sum_add(&s, b->data, b->len);
	buf_fmt(b, "end=%016llx\n", (unsigned long long)sum_end(&s));
}

int raw_manifest_make(const char *path, const char *lines, struct buf *b, struct gq_err *err)
{
	_cleanup_(raw_names_clear) struct raw_names names = {0};
	_cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? gq_err_sys(err, -errno, "%s", path) : raw_names(dir, &names, err);

	buf_fmt(b, "%s\n%s", RAW_HEAD, lines);
	for (size_t i = 0; i < names.len && !r; i++) {
		uint64_t sum;
		int64_t size;

		r = file_sum(dir, names.list[i], &size, &sum, err);
		if (!r)
			buf_fmt(b, "file=%016llx %lld %s\n", (unsigned long long)sum, (long long)size,
				names.list[i]);
	}
	if (!r)
		manifest_tail(b);
	return r;
}
