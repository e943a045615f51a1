/* SPDX-License-Identifier: MIT
 * gqi.c - opens a container from its end: trailer, index, manifest; then any frame by its place */
#include "gqi.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "gqi_layout.h"

#define SECTION_MAX (1u << 30)
#define CHUNK_MAX   (64u << 20) /* a later writer may use larger ones than ours */

static int damaged(const struct gqi *g, uint64_t offset, const char *what, struct gq_err *err)
{
	return gq_err_set(err, -EILSEQ, "%s: damaged at offset %llu: %s", g->path,
		(unsigned long long)offset, what);
}

/* Exactly @n bytes; the end of the file in between is damage. */
static int read_at(const struct gqi *g, uint64_t offset, void *buf, size_t n, struct gq_err *err)
{
	size_t have = 0;

	while (have < n) {
		ssize_t r = pread(g->fd, (char *)buf + have, n - have, (off_t)(offset + have));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return gq_err_sys(err, -errno, "%s: read at offset %llu", g->path,
				(unsigned long long)(offset + have));
		if (r == 0)
			return gq_err_set(err, -EILSEQ, "%s: cut off at offset %llu", g->path,
				(unsigned long long)(offset + have));
		have += (size_t)r;
	}
	return 0;
}

bool gqi_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= GQI_NAME_MAX && !strchr(name, '/') && strcmp(name, ".") &&
		strcmp(name, "..") && str_is_clean(name);
}

static int header_check(struct gqi *g, struct gq_err *err)
{
	unsigned char h[GQI_HEADER_SIZE];
	int r = read_at(g, 0, h, sizeof(h), err);

	if (r == -EILSEQ || (r == 0 && memcmp(h, GQI_MAGIC, 8)))
		return gq_err_set(err, -EILSEQ, "%s: not a gq image (offset 0)", g->path);
	if (r < 0)
		return r;
	if (gqi_get64(h + 56) != gqi_sum(h, 56))
		return damaged(g, 0, "the header", err);
	g->version = gqi_get32(h + 8);
	if (g->version != GQI_VERSION || gqi_get32(h + 12) & GQI_FLAGS_MUST)
		return gq_err_set(err, -EPROTONOSUPPORT, "%s: format %u with flags %08x, this program "
			"reads format %u", g->path, g->version, gqi_get32(h + 12), GQI_VERSION);
	g->chunk = gqi_get32(h + 20);
	if (g->chunk < 4096 || g->chunk > CHUNK_MAX)
		return damaged(g, 20, "the size of a chunk", err);
	g->job = (int64_t)gqi_get64(h + 24);
	g->incarnation = (int64_t)gqi_get64(h + 32);
	g->created = (int64_t)gqi_get64(h + 40);
	return 0;
}

/* The payload of a section, with a NUL behind; the caller frees. */
static int section_read(const struct gqi *g, uint64_t at, enum gqi_type type, uint64_t end,
	unsigned char **ret, size_t *ret_n, struct gq_err *err)
{
	_cleanup_free_ unsigned char *data = NULL;
	unsigned char h[GQI_RECORD_SIZE];
	struct gqi_record rec;
	int r;

	if (at < GQI_HEADER_SIZE || at + GQI_RECORD_SIZE > end)
		return damaged(g, end, "the trailer", err);
	r = read_at(g, at, h, sizeof(h), err);
	if (r < 0)
		return r;
	if (!gqi_record_get(h, &rec) || rec.type != type || rec.codec != GQI_RAW ||
		rec.stored_n > SECTION_MAX || at + GQI_RECORD_SIZE + rec.stored_n > end)
		return damaged(g, at, type == GQI_INDEX ? "the index" : "the manifest", err);
	data = xmalloc((size_t)rec.stored_n + 1);
	r = read_at(g, at + GQI_RECORD_SIZE, data, rec.stored_n, err);
	if (r < 0)
		return r;
	if (gqi_sum(data, rec.stored_n) != rec.sum)
		return damaged(g, at + GQI_RECORD_SIZE,
			type == GQI_INDEX ? "the index" : "the manifest", err);
	data[rec.stored_n] = '\0';
	*ret = TAKE_PTR(data);
	*ret_n = rec.stored_n;
	return 0;
}

static int trailer_check(struct gqi *g, uint64_t *ret_index_sum, struct gq_err *err)
{
	unsigned char t[GQI_TRAILER_SIZE];
	struct stat st;
	int r;

	if (fstat(g->fd, &st) < 0)
		return gq_err_sys(err, -errno, "%s", g->path);
	g->bytes = (uint64_t)st.st_size;
	if (g->bytes < GQI_HEADER_SIZE + GQI_TRAILER_SIZE)
		return gq_err_set(err, -EILSEQ, "%s: cut off at offset %llu", g->path,
			(unsigned long long)g->bytes);
	r = read_at(g, g->bytes - sizeof(t), t, sizeof(t), err);
	if (r < 0)
		return r;
	if (memcmp(t + 56, GQI_MAGIC_TRAILER, 8))
		return gq_err_set(err, -EILSEQ, "%s: cut off at offset %llu, or never finished: no "
			"trailer there", g->path, (unsigned long long)g->bytes);
	if (gqi_get64(t + 48) != gqi_sum(t, 48))
		return damaged(g, g->bytes - sizeof(t), "the trailer", err);
	if (gqi_get64(t + 32) != g->bytes)
		return gq_err_set(err, -EILSEQ, "%s: has %llu bytes instead of %llu", g->path,
			(unsigned long long)g->bytes, (unsigned long long)gqi_get64(t + 32));
	g->index_at = gqi_get64(t);
	g->manifest_at = gqi_get64(t + 16);
	*ret_index_sum = gqi_get64(t + 40);
	return 0;
}

struct cursor {
	const unsigned char *p, *end;
};

static const unsigned char *take(struct cursor *c, size_t n)
{
	const unsigned char *p = c->p;

	if ((size_t)(c->end - c->p) < n)
		return NULL;
	c->p += n;
	return p;
}

static bool frame_take(const struct gqi *g, struct cursor *c, struct gqi_frame *f)
{
	const unsigned char *p = take(c, GQI_INDEX_FRAME);

	if (!p)
		return false;
	f->offset = gqi_get64(p);
	f->sum = gqi_get64(p + 8);
	f->raw_n = gqi_get32(p + 16);
	f->stored_n = gqi_get32(p + 20);
	f->codec = (enum gqi_codec)gqi_get32(p + 24);
	return f->codec <= GQI_ZERO && f->raw_n && f->raw_n <= g->chunk && f->stored_n <= f->raw_n &&
		(f->codec != GQI_RAW || f->stored_n == f->raw_n) &&
		(f->codec != GQI_ZERO || f->stored_n == 0) && f->offset >= GQI_HEADER_SIZE &&
		f->offset + GQI_RECORD_SIZE + f->stored_n <= g->index_at;
}

/* number u32, frames u32, length of the name u32, name; then its frames */
static bool file_take(struct gqi *g, struct cursor *c, struct gqi_file *f, uint32_t *n_frames)
{
	const unsigned char *p = take(c, 12);
	uint32_t number, len;
	const char *name;

	if (!p)
		return false;
	number = gqi_get32(p);
	f->n = gqi_get32(p + 4);
	len = gqi_get32(p + 8);
	name = (const char *)take(c, len);
	if (!name || len > GQI_NAME_MAX || f->n > g->n_frames - *n_frames)
		return false;
	f->name = xstrndup(name, len);
	if (!gqi_name_ok(f->name))
		return false;
	f->frames = g->frames + *n_frames;
	for (uint32_t i = 0; i < f->n; i++) {
		struct gqi_frame *frame = &g->frames[(*n_frames)++];

		if (!frame_take(g, c, frame))
			return false;
		frame->file = number;
		frame->seq = i;
		f->bytes += frame->raw_n;
		f->stored += frame->stored_n;
	}
	return true;
}

static bool index_parse(struct gqi *g, const unsigned char *data, size_t n)
{
	struct cursor c = {data, data + n};
	const unsigned char *head = take(&c, GQI_INDEX_HEAD);
	uint32_t files, frames, seen = 0;

	if (!head)
		return false;
	files = gqi_get32(head);
	frames = gqi_get32(head + 4);
	if (files > n / 13 || frames > n / GQI_INDEX_FRAME)
		return false;
	g->files = xnew_n(struct gqi_file, (size_t)files + 1);
	g->frames = xnew_n(struct gqi_frame, (size_t)frames + 1);
	g->n_frames = frames;
	while (g->n_files < files) {
		struct gqi_file *f = &g->files[g->n_files++];

		if (!file_take(g, &c, f, &seen))
			return false;
		g->raw += f->bytes;
		g->stored += f->stored;
	}
	return c.p == c.end && seen == frames;
}

static int index_load(struct gqi *g, uint64_t want_sum, struct gq_err *err)
{
	_cleanup_free_ unsigned char *data = NULL;
	uint64_t end = g->bytes - GQI_TRAILER_SIZE;
	size_t n;
	int r = section_read(g, g->index_at, GQI_INDEX, end, &data, &n, err);

	if (r < 0)
		return r;
	if (gqi_sum(data, n) != want_sum || !index_parse(g, data, n))
		return damaged(g, g->index_at, "the index", err);
	return 0;
}

static int load(struct gqi *g, struct gq_err *err)
{
	uint64_t index_sum = 0;
	size_t n;
	int r;

	g->fd = open(g->path, O_RDONLY | O_CLOEXEC);
	if (g->fd < 0)
		return gq_err_sys(err, -errno, "%s", g->path);
	r = header_check(g, err);
	if (!r)
		r = trailer_check(g, &index_sum, err);
	if (!r)
		r = index_load(g, index_sum, err);
	if (!r)
		r = section_read(g, g->manifest_at, GQI_MANIFEST, g->index_at,
			(unsigned char **)&g->manifest, &n, err);
	return r;
}

int gqi_open(const char *path, struct gqi *ret, struct gq_err *err)
{
	struct gqi g = {.fd = -1, .path = xstrdup(path)};
	int r = load(&g, err);

	if (r < 0)
		gqi_close(&g);
	else
		*ret = g;
	return r;
}

void gqi_close(struct gqi *g)
{
	if (g->fd >= 0)
		close(g->fd);
	for (uint32_t i = 0; i < g->n_files; i++)
		free(g->files[i].name);
	free(g->files);
	free(g->frames);
	free(g->manifest);
	free(g->path);
	*g = (struct gqi){.fd = -1};
}

/* From the end: of two files with one name criu means the later. */
const struct gqi_file *gqi_find(const struct gqi *g, const char *name)
{
	for (uint32_t i = g->n_files; i-- > 0;)
		if (!strcmp(g->files[i].name, name))
			return &g->files[i];
	return NULL;
}

int gqi_blame(const struct gqi *g, const struct gqi_frame *f, const char *what, struct gq_err *err)
{
	const char *name = "?";

	for (uint32_t i = 0; i < g->n_files; i++)
		if (g->files[i].n && g->files[i].frames[0].file == f->file)
			name = g->files[i].name;
	return gq_err_set(err, -EILSEQ, "%s: damaged at offset %llu: %s of frame %u of %s", g->path,
		(unsigned long long)f->offset, what, f->seq, name);
}

static bool is_record_of(const struct gqi_record *r, const struct gqi_frame *f)
{
	return r->type == GQI_FRAME && r->file == f->file && r->seq == f->seq && r->sum == f->sum &&
		r->codec == f->codec && r->raw_n == f->raw_n && r->stored_n == f->stored_n;
}

static int frame_check(const struct gqi *g, const struct gqi_frame *f, const unsigned char *head,
	const void *stored, struct gq_err *err)
{
	struct gqi_record rec;

	if (!gqi_record_get(head, &rec) || !is_record_of(&rec, f))
		return gqi_blame(g, f, "the head", err);
	if (gqi_sum(stored, f->stored_n) != f->sum)
		return gqi_blame(g, f, "the contents", err);
	return 0;
}

int gqi_read(const struct gqi *g, const struct gqi_frame *f, void *buf, struct gq_err *err)
{
	unsigned char h[GQI_RECORD_SIZE];
	int r = read_at(g, f->offset, h, sizeof(h), err);

	if (!r)
		r = read_at(g, f->offset + sizeof(h), buf, f->stored_n, err);
	return r < 0 ? r : frame_check(g, f, h, buf, err);
}

int gqi_read_direct(const struct gqi *g, int direct_fd, const struct gqi_frame *f,
	unsigned char *buf, const unsigned char **ret, struct gq_err *err)
{
	uint64_t from = f->offset / GQI_DIRECT * GQI_DIRECT;
	size_t before = (size_t)(f->offset - from), want = before + GQI_RECORD_SIZE + f->stored_n;
	size_t all = (want + GQI_DIRECT - 1) / GQI_DIRECT * GQI_DIRECT;
	ssize_t n;

	do
		n = pread(direct_fd, buf, all, (off_t)from);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EINVAL)
		return -EINVAL;
	if (n < 0)
		return gq_err_sys(err, -errno, "%s: read at offset %llu", g->path,
			(unsigned long long)f->offset);
	if ((size_t)n < want) /* a part, or the end of the file: the plain way sorts that out */
		return -EINVAL;
	*ret = buf + before + GQI_RECORD_SIZE;
	return frame_check(g, f, buf + before, *ret, err);
}

static int compare_offsets(const void *a, const void *b)
{
	const struct gqi_frame *x = *(struct gqi_frame *const *)a, *y = *(struct gqi_frame *const *)b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The frames of the index in the order of the container. */
static const struct gqi_frame **frames_in_order(const struct gqi *g)
{
	const struct gqi_frame **list = xnew_n(const struct gqi_frame *, (size_t)g->n_frames + 1);

	for (uint32_t i = 0; i < g->n_frames; i++)
		list[i] = &g->frames[i];
	qsort(list, g->n_frames, sizeof(*list), compare_offsets);
	return list;
}

/* Checks @n bytes from @at on against @want, through a buffer of one chunk. */
static int payload_verify(const struct gqi *g, uint64_t at, uint64_t n, uint64_t want, void *buf,
	struct gq_err *err)
{
	uint64_t done = 0;
	struct sum s;

	sum_init(&s);
	while (done < n) {
		size_t part = n - done < g->chunk ? (size_t)(n - done) : g->chunk;
		int r = read_at(g, at + done, buf, part, err);

		if (r < 0)
			return r;
		sum_add(&s, buf, part);
		done += part;
	}
	return sum_end(&s) == want ? 0 : -EILSEQ;
}

int gqi_verify(const struct gqi *g, struct gq_err *err)
{
	_cleanup_free_ const struct gqi_frame **frames = frames_in_order(g);
	_cleanup_free_ void *buf = xmalloc(g->chunk);
	uint64_t at = GQI_HEADER_SIZE, end = g->bytes - GQI_TRAILER_SIZE;
	unsigned char h[GQI_RECORD_SIZE];
	struct gqi_record rec;
	uint32_t next = 0;

	while (at < end) {
		int r = read_at(g, at, h, sizeof(h), err);

		if (r < 0)
			return r;
		if (!gqi_record_get(h, &rec) || at + sizeof(h) + rec.stored_n > end)
			return damaged(g, at, "the head of a record", err);
		if (next < g->n_frames && frames[next]->offset == at && !is_record_of(&rec, frames[next]))
			return gqi_blame(g, frames[next], "the head", err);
		r = payload_verify(g, at + sizeof(h), rec.stored_n, rec.sum, buf, err);
		if (r < 0 && next < g->n_frames && frames[next]->offset == at)
			return r == -EILSEQ ? gqi_blame(g, frames[next], "the contents", err) : r;
		if (r < 0)
			return r == -EILSEQ ? damaged(g, at, "the contents of a record", err) : r;
		next += next < g->n_frames && frames[next]->offset == at;
		at += sizeof(h) + rec.stored_n;
	}
	return next == g->n_frames ? 0 : damaged(g, frames[next]->offset, "a frame is not there", err);
}
