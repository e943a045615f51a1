/* SPDX-License-Identifier: MIT
 * unpack.c - frame by frame through one buffer; packing through the same threads as a dump */
#include "unpack.h"

#include <fcntl.h>
#include <unistd.h>

#include "arena.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "frame.h"
#include "squeeze.h"

struct unpacker {
	const struct gqi *image;
	struct frame_coder *coder;  /* owned */
	unsigned char *stored, *raw; /* one arena */
};

static void unpacker_init(struct unpacker *u, const struct gqi *g)
{
	u->image = g;
	u->coder = frame_coder_new(1);
	u->stored = arena_new(2 * (size_t)g->chunk);
	u->raw = u->stored + g->chunk;
}

static void unpacker_clear(struct unpacker *u)
{
	frame_coder_free(u->coder);
	arena_free(u->stored, 2 * (size_t)u->image->chunk);
}

/* @fd -1: only looked at. */
static int file_out(struct unpacker *u, const struct gqi_file *f, int fd, struct gq_err *err)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct gqi_frame *frame = &f->frames[i];
		int r = gqi_read(u->image, frame, u->stored, err);

		if (r < 0)
			return r;
		if (frame_decode(u->coder, frame->codec, u->stored, frame->stored_n, u->raw,
			    frame->raw_n) < 0)
			return gqi_blame(u->image, frame, "the compression", err);
		r = fd < 0 ? 0 : write_all(fd, u->raw, frame->raw_n);
		if (r < 0)
			return gq_err_sys(err, r, "write of %s", f->name);
	}
	return 0;
}

int unpack_file(const struct gqi *g, const char *name, int fd, struct gq_err *err)
{
	const struct gqi_file *f = gqi_find(g, name);
	_cleanup_(unpacker_clear) struct unpacker u;

	unpacker_init(&u, g);
	if (!f)
		return gq_err_set(err, -ENOENT, "%s: holds no file %s", g->path, name);
	return file_out(&u, f, fd, err);
}

int unpack_check(const struct gqi *g, struct gq_err *err)
{
	_cleanup_(unpacker_clear) struct unpacker u;
	int r = 0;

	unpacker_init(&u, g);
	for (uint32_t i = 0; i < g->n_files && !r; i++)
		r = file_out(&u, &g->files[i], -1, err);
	return r;
}

static ssize_t chunk_read(int fd, unsigned char *buf)
{
	size_t have = 0;

	while (have < GQI_CHUNK) {
		ssize_t n = read(fd, buf + have, GQI_CHUNK - have);

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

static int file_in(struct squeeze *s, uint32_t file, int fd)
{
	for (uint32_t seq = 0;; seq++) {
		struct slot *slot = squeeze_slot(s);
		ssize_t n;

		if (!slot)
			return 0; /* squeeze_end() says why */
		n = chunk_read(fd, slot->raw);
		if (n <= 0) {
			squeeze_drop(s, slot);
			return (int)n;
		}
		slot->frame.file = file;
		slot->frame.seq = seq;
		slot->frame.raw_n = (uint32_t)n;
		squeeze_put(s, slot);
	}
}

static int files_in(struct gqi_writer *w, struct squeeze *s, int dir, const char *const *names,
	size_t n, struct gq_err *err)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_close_ int fd = openat(dir, names[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		int r = fd < 0 ? -errno : file_in(s, gqi_writer_file(w, names[i]), fd);

		if (r < 0)
			return gq_err_sys(err, r, "%s", names[i]);
	}
	return 0;
}

int pack_files(const struct gqi_write *what, int level, unsigned workers, int dir,
	const char *const *names, size_t n, const char *manifest, struct gq_err *err)
{
	struct gqi_writer *w = NULL;
	struct squeeze *s;
	int r = gqi_writer_new(what, &w, err);

	if (r < 0)
		return r;
	s = squeeze_new(w, level, workers);
	r = files_in(w, s, dir, names, n, err);
	if (!r)
		r = squeeze_end(s, err);
	squeeze_free(s);
	if (!r)
		r = gqi_writer_end(w, manifest, err);
	gqi_writer_free(w);
	return r;
}
