/* SPDX-License-Identifier: MIT
 * outfile.c - large aligned writes */
#include "outfile.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "arena.h"

#define ALIGN 4096u

int outfile_open(const char *path, bool direct, struct outfile *ret, struct gq_err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	int fd = open(path, flags | (direct ? O_DIRECT : 0), 0600);

	if (fd < 0 && errno == EINVAL && direct) {
		direct = false; /* tmpfs and the like; the failed open may have made the file */
		fd = open(path, flags & ~O_EXCL, 0600);
	}
	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", path);
	*ret = (struct outfile){.fd = fd, .direct = direct, .path = xstrdup(path),
		.buf = arena_new(OUTFILE_BUF)};
	return 0;
}

static int failed(const struct outfile *o, uint64_t at, int code, struct gq_err *err)
{
	return gq_err_sys(err, code, "%s: write at %llu MiB", o->path, (unsigned long long)(at >> 20));
}

static int write_at(struct outfile *o, const unsigned char *p, size_t n, struct gq_err *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t w = pwrite(o->fd, p + done, n - done, (off_t)(o->at + done));

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EINVAL && o->direct) {
			/* It took the flag and not the write: go on through the cache. */
			o->direct = false;
			fcntl(o->fd, F_SETFL, fcntl(o->fd, F_GETFL) & ~O_DIRECT);
			continue;
		}
		if (w < 0)
			return failed(o, o->at + done, -errno, err);
		done += (size_t)w;
	}
	return 0;
}

static int flush(struct outfile *o, struct gq_err *err)
{
	size_t n = o->len;
	int r;

	if (o->direct && n % ALIGN) { /* only the last one; outfile_end() cuts it to size */
		memset(o->buf + n, 0, ALIGN - n % ALIGN);
		n += ALIGN - n % ALIGN;
	}
	r = write_at(o, o->buf, n, err);
	if (r < 0)
		return r;
	if (!o->direct)
		sync_file_range(o->fd, (off_t)o->at, (off_t)n, SYNC_FILE_RANGE_WRITE);
	o->at += o->len;
	o->len = 0;
	return 0;
}

int outfile_add(struct outfile *o, const void *data, size_t n, struct gq_err *err)
{
	const unsigned char *p = data;

	while (n) {
		size_t part = OUTFILE_BUF - o->len < n ? OUTFILE_BUF - o->len : n;
		int r;

		memcpy(o->buf + o->len, p, part);
		o->len += part;
		p += part;
		n -= part;
		if (o->len < OUTFILE_BUF)
			return 0;
		r = flush(o, err);
		if (r < 0)
			return r;
	}
	return 0;
}

uint64_t outfile_size(const struct outfile *o)
{
	return o->at + o->len;
}

int outfile_end(struct outfile *o, struct gq_err *err)
{
	int r = o->len ? flush(o, err) : 0;

	if (r < 0)
		return r;
	if (ftruncate(o->fd, (off_t)o->at) < 0 || fsync(o->fd) < 0)
		return failed(o, o->at, -errno, err);
	posix_fadvise(o->fd, 0, 0, POSIX_FADV_DONTNEED); /* who reads it back asks the disk */
	return 0;
}

void outfile_clear(struct outfile *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o->path);
	arena_free(o->buf, OUTFILE_BUF);
	*o = (struct outfile)OUTFILE_EMPTY;
}
