/* SPDX-License-Identifier: MIT
 * image.c - a raw folder of criu's files with a manifest that knows every byte of them */
#include "image.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/parse.h"
#include "sum.h"

#define READ_BYTES   (1u << 20)
#define MANIFEST_MAX (4u << 20)

void image_path(char *buf, size_t size, const char *image_dir, int64_t job, int64_t incarnation)
{
	snprintf(buf, size, "%s/%lld/%lld", image_dir, (long long)job, (long long)incarnation);
}

void image_path_tmp(char *buf, size_t size, const char *image_dir, int64_t job,
	int64_t incarnation)
{
	snprintf(buf, size, "%s/%lld/tmp.%lld", image_dir, (long long)job, (long long)incarnation);
}

int image_begin(const char *image_dir, int64_t job, int64_t incarnation, int64_t *ret_free,
	struct gq_err *err)
{
	char path[PATH_MAX];
	struct statvfs v;
	int r;

	snprintf(path, sizeof(path), "%s/%lld", image_dir, (long long)job);
	r = dir_make(path, 0700, err);
	if (r < 0)
		return r;
	image_path_tmp(path, sizeof(path), image_dir, job, incarnation);
	dir_remove(path);
	r = dir_make(path, 0700, err);
	if (r < 0)
		return r;
	if (statvfs(path, &v) < 0)
		return gq_err_sys(err, -errno, "%s", path);
	*ret_free = (int64_t)v.f_bavail * (int64_t)v.f_frsize;
	return 0;
}

void image_abandon(const char *image_dir, int64_t job, int64_t incarnation)
{
	char path[PATH_MAX];

	image_path_tmp(path, sizeof(path), image_dir, job, incarnation);
	dir_remove(path);
}

bool image_exists(const char *image_dir, int64_t job, int64_t incarnation)
{
	char path[PATH_MAX];

	image_path(path, sizeof(path), image_dir, job, incarnation);
	return access(path, F_OK) == 0;
}

/* Sum and size of one file; @sync also brings it to the disk. */
static int file_sum(int dir, const char *name, bool sync, int64_t *ret_size, uint64_t *ret_sum,
	struct gq_err *err)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	static unsigned char data[READ_BYTES];
	struct sum s;
	ssize_t n;

	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", name);
	if (sync)
		sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* the disk works while we read */
	sum_init(&s);
	while ((n = read(fd, data, sizeof(data))) > 0)
		sum_add(&s, data, (size_t)n);
	if (n < 0 || (sync && fdatasync(fd) < 0))
		return gq_err_sys(err, -errno, "%s", name);
	*ret_size = (int64_t)s.total;
	*ret_sum = sum_end(&s);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **list; /* owned */
	size_t len;
};

static void names_clear(struct names *n)
{
	for (size_t i = 0; i < n->len; i++)
		free(n->list[i]);
	free(n->list);
}

static int names_read(int dir, struct names *ret, struct gq_err *err)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return gq_err_sys(err, -errno, "image");
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "manifest"))
			continue;
		ret->list = xrealloc(ret->list, ret->len + 1, sizeof(char *));
		ret->list[ret->len++] = xstrdup(e->d_name);
	}
	qsort(ret->list, ret->len, sizeof(char *), compare_names);
	return 0;
}

/* What criu must have left, whatever the job is. */
static int names_complete(const struct names *n, pid_t root, struct gq_err *err)
{
	char core[32];
	const char *const must[] = {"inventory.img", "pstree.img", core};

	snprintf(core, sizeof(core), "core-%d.img", (int)root);
	for (size_t i = 0; i < ARRAY_LEN(must); i++) {
		const char *key = must[i];

		if (!bsearch(&key, n->list, n->len, sizeof(char *), compare_names))
			return gq_err_set(err, -EILSEQ, "criu wrote no %s", key);
	}
	return 0;
}

static void manifest_head(struct buf *b, const struct image_info *i)
{
	struct utsname u = {0};

	uname(&u);
	buf_fmt(b, "%s\njob=%lld\nincarnation=%lld\nroot=%d\nlast_pid=%d\nuid=%u\ncreated=%lld\n",
		IMAGE_HEAD, (long long)i->job, (long long)i->incarnation, (int)i->root,
		(int)i->last_pid, (unsigned)i->uid, (long long)i->created);
	buf_fmt(b, "criu=%s\nkernel=%s %s %s\n", i->criu, u.sysname, u.release, u.machine);
}

static void manifest_tail(struct buf *b)
{
	struct sum s;

	sum_init(&s);
	sum_add(&s, b->data, b->len);
	buf_fmt(b, "end=%016llx\n", (unsigned long long)sum_end(&s));
}

static int manifest_make(int dir, struct image_info *info, struct buf *b, struct gq_err *err)
{
	_cleanup_(names_clear) struct names names = {0};
	int r = names_read(dir, &names, err);

	if (!r)
		r = names_complete(&names, info->root, err);
	if (r < 0)
		return r;
	manifest_head(b, info);
	info->bytes = 0;
	for (size_t i = 0; i < names.len; i++) {
		uint64_t sum;
		int64_t size;

		r = file_sum(dir, names.list[i], true, &size, &sum, err);
		if (r < 0)
			return r;
		info->bytes += size;
		buf_fmt(b, "file=%016llx %lld %s\n", (unsigned long long)sum, (long long)size,
			names.list[i]);
	}
	manifest_tail(b);
	return 0;
}

static int publish(const char *tmp, const char *final, const char *parent, struct gq_err *err)
{
	int r = gq_fault("dump.publish");

	if (!r)
		r = dir_fsync(tmp);
	if (!r && rename(tmp, final) < 0)
		r = -errno;
	if (!r)
		r = dir_fsync(parent);
	return r < 0 ? gq_err_sys(err, r, "publish %s", final) : 0;
}

int image_publish(const char *image_dir, struct image_info *info, struct gq_err *err)
{
	char tmp[PATH_MAX], final[PATH_MAX], path[PATH_MAX + 16], parent[PATH_MAX];
	_cleanup_buf_ struct buf manifest = BUF_INIT;
	_cleanup_close_ int dir = -1;
	int r;

	image_path_tmp(tmp, sizeof(tmp), image_dir, info->job, info->incarnation);
	image_path(final, sizeof(final), image_dir, info->job, info->incarnation);
	snprintf(parent, sizeof(parent), "%s/%lld", image_dir, (long long)info->job);
	dir = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = dir < 0 ? -errno : gq_fault("dump.verify");
	if (r < 0)
		return gq_err_sys(err, r, "verify %s", tmp);
	r = manifest_make(dir, info, &manifest, err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/manifest", tmp);
	r = file_write_atomic(path, manifest.data, manifest.len, 0600, err);
	return r < 0 ? r : publish(tmp, final, parent, err);
}

/* Checks the manifest's own sum and cuts it into lines. */
static int manifest_load(const char *dir, char **ret, struct gq_err *err)
{
	char path[PATH_MAX];
	_cleanup_free_ char *text = NULL;
	unsigned long long want;
	size_t len;
	struct sum s;
	char *end;
	int r;

	snprintf(path, sizeof(path), "%s/manifest", dir);
	r = file_read(path, MANIFEST_MAX, &text, &len, err);
	if (r < 0)
		return r;
	if (strncmp(text, IMAGE_HEAD "\n", sizeof(IMAGE_HEAD)))
		return gq_err_set(err, -EILSEQ, "%s: does not begin with '%s'", path, IMAGE_HEAD);
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

static void info_line(struct image_info *i, const char *line)
{
	long long v;

	if (sscanf(line, "job=%lld", &v) == 1)
		i->job = v;
	else if (sscanf(line, "incarnation=%lld", &v) == 1)
		i->incarnation = v;
	else if (sscanf(line, "root=%lld", &v) == 1)
		i->root = (pid_t)v;
	else if (sscanf(line, "last_pid=%lld", &v) == 1)
		i->last_pid = (pid_t)v;
	else if (sscanf(line, "uid=%lld", &v) == 1)
		i->uid = (uid_t)v;
	else if (sscanf(line, "created=%lld", &v) == 1)
		i->created = v;
	else if (sscanf(line, "file=%*x %lld", &v) == 1)
		i->bytes += v;
	else if (!strncmp(line, "criu=", 5))
		str_copy(i->criu, sizeof(i->criu), line + 5);
	else if (!strncmp(line, "kernel=", 7))
		str_copy(i->kernel, sizeof(i->kernel), line + 7);
}

int image_read(const char *image_dir, int64_t job, int64_t incarnation, struct image_info *ret,
	struct gq_err *err)
{
	_cleanup_free_ char *text = NULL;
	struct image_info info = {0};
	char dir[PATH_MAX], *save = NULL;
	int r;

	image_path(dir, sizeof(dir), image_dir, job, incarnation);
	if (access(dir, F_OK) < 0)
		return gq_err_sys(err, -errno, "image %s", dir);
	r = manifest_load(dir, &text, err);
	if (r < 0)
		return r;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		info_line(&info, l);
	if (info.job != job || info.incarnation != incarnation || info.root <= 0)
		return gq_err_set(err, -EILSEQ, "%s: is the image of job %lld.%lld, not of %lld.%lld", dir,
			(long long)info.job, (long long)info.incarnation, (long long)job,
			(long long)incarnation);
	*ret = info;
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
	r = file_sum(dir, line + at, false, &size, &sum, err);
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

int image_verify(const char *image_dir, int64_t job, int64_t incarnation, struct gq_err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int dir = -1;
	struct image_info info;
	char path[PATH_MAX], *save = NULL;
	int r = image_read(image_dir, job, incarnation, &info, err);

	if (r < 0)
		return r;
	image_path(path, sizeof(path), image_dir, job, incarnation);
	r = manifest_load(path, &text, err);
	if (r < 0)
		return r;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (char *l = strtok_r(text, "\n", &save); l && !r; l = strtok_r(NULL, "\n", &save))
		r = line_verify(dir, path, l, err);
	return r;
}
