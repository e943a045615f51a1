/* SPDX-License-Identifier: MIT
 * file.c - whole files, atomic writes, small folders */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"

int write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

int file_read(const char *path, size_t max, char **ret, size_t *ret_len, struct gq_err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_cleanup_free_ char *data = NULL;
	size_t len = 0, cap = 4096;

	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", path);
	data = xmalloc(cap + 1);
	for (;;) {
		ssize_t r = read(fd, data + len, cap - len);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return gq_err_sys(err, -errno, "%s", path);
		if (!r)
			break;
		len += (size_t)r;
		if (len > max)
			return gq_err_set(err, -EFBIG, "%s: larger than %zu bytes", path, max);
		if (len == cap) {
			cap *= 2;
			data = xrealloc(data, cap + 1, 1);
		}
	}
	data[len] = '\0';
	*ret = TAKE_PTR(data);
	if (ret_len)
		*ret_len = len;
	return 0;
}

static int write_renamed(const char *path, const void *data, size_t n, mode_t mode, bool sync,
	struct gq_err *err)
{
	char tmp[PATH_MAX], dir[PATH_MAX];
	char *slash;
	int fd, r;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp.%d", path, (int)getpid()) >= (int)sizeof(tmp))
		return gq_err_set(err, -ENAMETOOLONG, "%.200s…: name too long", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", tmp);
	r = write_all(fd, data, n);
	if (!r && sync && fsync(fd) < 0)
		r = -errno;
	if (close(fd) < 0 && !r)
		r = -errno;
	if (!r && rename(tmp, path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(tmp);
		return gq_err_sys(err, r, "%s", path);
	}
	if (!sync)
		return 0;
	str_copy(dir, sizeof(dir), path);
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	r = dir_fsync(!slash ? "." : dir[0] ? dir : "/");
	return r < 0 ? gq_err_sys(err, r, "%s", dir) : 0;
}

int file_write_atomic(const char *path, const void *data, size_t n, mode_t mode, struct gq_err *err)
{
	return write_renamed(path, data, n, mode, true, err);
}

int file_write_fast(const char *path, const void *data, size_t n, mode_t mode, struct gq_err *err)
{
	return write_renamed(path, data, n, mode, false, err);
}

int file_write_plain(const char *path, const void *data, size_t n, mode_t mode, struct gq_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode), r;

	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", path);
	r = write_all(fd, data, n);
	if (close(fd) < 0 && !r)
		r = -errno;
	if (r < 0)
		unlink(path);
	return r < 0 ? gq_err_sys(err, r, "%s", path) : 0;
}

int dir_fsync(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

int dir_make(const char *path, mode_t mode, struct gq_err *err)
{
	char p[PATH_MAX];
	struct stat st;

	if (str_copy(p, sizeof(p), path) >= sizeof(p))
		return gq_err_set(err, -ENAMETOOLONG, "%.200s…: name too long", path);
	for (char *s = p + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = '\0';
		if (mkdir(p, 0755) < 0 && errno != EEXIST && errno != EROFS)
			return gq_err_sys(err, -errno, "mkdir %s", p);
		*s = '/';
	}
	if (mkdir(p, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return gq_err_sys(err, -errno, "mkdir %s", p);
	if (stat(p, &st) < 0 || !S_ISDIR(st.st_mode))
		return gq_err_set(err, -ENOTDIR, "%s: not a directory", p);
	return 0;
}

static int remove_at(int at, const char *name)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;
	int fd, r;

	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		close(fd);
		return r;
	}
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		r = remove_at(fd, e->d_name);
		if (r < 0)
			return r;
	}
	return unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int dir_remove(const char *path)
{
	return remove_at(AT_FDCWD, path);
}

void fd_cloexec_all(int from)
{
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif
	syscall(SYS_close_range, (unsigned)from, ~0U, CLOSE_RANGE_CLOEXEC);
}
