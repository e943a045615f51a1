/* SPDX-License-Identifier: MIT
 * image.c - where images lie, and when a container is one */
#include "image.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "gqi.h"
#include "raw.h"
#include "shm.h"

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

void image_lines(const struct image_info *i, struct buf *out)
{
	buf_fmt(out, "job=%lld\nincarnation=%lld\nroot=%d\nlast_pid=%d\nuid=%u\ncreated=%lld\n",
		(long long)i->job, (long long)i->incarnation, (int)i->root, (int)i->last_pid,
		(unsigned)i->uid, (long long)i->created);
	if (i->criu[0])
		buf_fmt(out, "criu=%s\n", i->criu);
}

/* What criu must have left, whatever the job is. */
static int complete(const struct gqi *g, pid_t root, struct gq_err *err)
{
	char core[32];
	const char *const must[] = {"inventory.img", "pstree.img", core};

	snprintf(core, sizeof(core), "core-%d.img", (int)root);
	for (size_t i = 0; i < ARRAY_LEN(must); i++)
		if (!gqi_find(g, must[i]))
			return gq_err_set(err, -EILSEQ, "criu wrote no %s", must[i]);
	return 0;
}

static int publish(const char *tmp, const char *final, const char *parent, struct gq_err *err)
{
	int r = gq_fault("dump.publish");

	if (!r)
		r = dir_fsync(tmp);
	if (!r && rename(tmp, final) < 0)
		r = -errno;
	if (!r) {
		r = dir_fsync(parent);
		if (r < 0) /* the job will run on, so there must be no image of it */
			rename(final, tmp);
	}
	return r < 0 ? gq_err_sys(err, r, "publish %s", final) : 0;
}

int image_publish(const char *image_dir, struct image_info *info, bool every_byte,
	struct gq_err *err)
{
	char tmp[PATH_MAX], final[PATH_MAX], path[PATH_MAX + 16], parent[PATH_MAX];
	_cleanup_gqi_ struct gqi g = GQI_EMPTY;
	int r = gq_fault("dump.verify");

	image_path_tmp(tmp, sizeof(tmp), image_dir, info->job, info->incarnation);
	image_path(final, sizeof(final), image_dir, info->job, info->incarnation);
	snprintf(parent, sizeof(parent), "%s/%lld", image_dir, (long long)info->job);
	if (r < 0)
		return gq_err_sys(err, r, "verify %s", tmp);
	snprintf(path, sizeof(path), "%s/%s", tmp, IMAGE_FILE);
	r = gqi_open(path, &g, err);
	if (!r)
		r = complete(&g, info->root, err);
	if (!r && every_byte)
		r = gqi_verify(&g, err);
	if (r < 0)
		return r;
	info->bytes = (int64_t)g.bytes;
	return publish(tmp, final, parent, err);
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
		i->bytes += v; /* the first format */
	else if (!strncmp(line, "criu=", 5))
		str_copy(i->criu, sizeof(i->criu), line + 5);
	else if (!strncmp(line, "kernel=", 7))
		str_copy(i->kernel, sizeof(i->kernel), line + 7);
}

static int64_t bytes_of_pages(const struct gqi *g)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < g->n_files; i++)
		if (!strncmp(g->files[i].name, "pages-", 6))
			n += (int64_t)g->files[i].bytes;
	return n;
}

/* The lines of either format. */
static int lines_load(const char *dir, struct image_info *info, char **ret, struct gq_err *err)
{
	char path[PATH_MAX + 16];
	_cleanup_gqi_ struct gqi g = GQI_EMPTY;
	int r;

	snprintf(path, sizeof(path), "%s/%s", dir, IMAGE_FILE);
	if (access(path, F_OK) < 0)
		return raw_manifest(dir, ret, err);
	r = gqi_open(path, &g, err);
	if (r < 0)
		return r;
	info->streamed = true;
	info->has_shm = gqi_find(&g, SHM_FILE);
	info->bytes = (int64_t)g.bytes;
	info->pages = bytes_of_pages(&g);
	*ret = TAKE_PTR(g.manifest);
	return 0;
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
	r = lines_load(dir, &info, &text, err);
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
