/* SPDX-License-Identifier: MIT
 * gqi_write.c - header, frames as they come, then what finds them again */
#include "gqi_write.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "base/mem.h"
#include "gqi_layout.h"

struct gqi_writer {
	struct outfile out;
	char **names; /* owned, and so are they */
	uint32_t n_names, names_cap;
	struct gqi_frame *frames; /* owned; as written */
	uint32_t n_frames, frames_cap;
};

static int header_add(struct gqi_writer *w, const struct gqi_write *what, struct gq_err *err)
{
	unsigned char h[GQI_HEADER_SIZE] = {0};

	memcpy(h, GQI_MAGIC, 8);
	gqi_put32(h + 8, GQI_VERSION);
	gqi_put32(h + 16, GQI_HEADER_SIZE);
	gqi_put32(h + 20, GQI_CHUNK);
	gqi_put64(h + 24, (uint64_t)what->job);
	gqi_put64(h + 32, (uint64_t)what->incarnation);
	gqi_put64(h + 40, (uint64_t)what->created);
	gqi_put64(h + 56, gqi_sum(h, 56));
	return outfile_add(&w->out, h, sizeof(h), err);
}

int gqi_writer_new(const struct gqi_write *what, struct gqi_writer **ret, struct gq_err *err)
{
	struct gqi_writer *w = xnew(struct gqi_writer);
	int r;

	w->out = (struct outfile)OUTFILE_EMPTY;
	r = outfile_open(what->path, what->direct, &w->out, err);
	if (!r)
		r = header_add(w, what, err);
	if (r < 0)
		gqi_writer_free(w);
	else
		*ret = w;
	return r;
}

struct gqi_writer *gqi_writer_free(struct gqi_writer *w)
{
	if (!w)
		return NULL;
	for (uint32_t i = 0; i < w->n_names; i++)
		free(w->names[i]);
	free(w->names);
	free(w->frames);
	outfile_clear(&w->out);
	free(w);
	return NULL;
}

uint32_t gqi_writer_file(struct gqi_writer *w, const char *name)
{
	if (w->n_names == w->names_cap) {
		w->names_cap = w->names_cap ? w->names_cap * 2 : 64;
		w->names = xrealloc(w->names, w->names_cap, sizeof(*w->names));
	}
	w->names[w->n_names] = xstrdup(name);
	return w->n_names++;
}

static int record_add(struct gqi_writer *w, const struct gqi_record *rec, const void *stored,
	struct gq_err *err)
{
	unsigned char h[GQI_RECORD_SIZE];
	int r;

	gqi_record_put(h, rec);
	r = outfile_add(&w->out, h, sizeof(h), err);
	return r < 0 ? r : outfile_add(&w->out, stored, rec->stored_n, err);
}

int gqi_writer_frame(struct gqi_writer *w, struct gqi_frame *f, const void *stored,
	struct gq_err *err)
{
	const struct gqi_record rec = {.type = GQI_FRAME, .file = f->file, .seq = f->seq,
		.raw_n = f->raw_n, .stored_n = f->stored_n, .codec = f->codec, .sum = f->sum};
	int r = gq_fault("stream.frame");

	if (r < 0)
		return gq_err_sys(err, r, "%s", w->out.path);
	f->offset = outfile_size(&w->out);
	if (w->n_frames == w->frames_cap) {
		w->frames_cap = w->frames_cap ? w->frames_cap * 2 : 256;
		w->frames = xrealloc(w->frames, w->frames_cap, sizeof(*w->frames));
	}
	w->frames[w->n_frames++] = *f;
	return record_add(w, &rec, stored, err);
}

/* By file, then in the order of the file. */
static int compare_frames(const void *a, const void *b)
{
	const struct gqi_frame *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static void frame_put(struct buf *b, const struct gqi_frame *f)
{
	unsigned char p[GQI_INDEX_FRAME] = {0};

	gqi_put64(p, f->offset);
	gqi_put64(p + 8, f->sum);
	gqi_put32(p + 16, f->raw_n);
	gqi_put32(p + 20, f->stored_n);
	gqi_put32(p + 24, f->codec);
	buf_add(b, p, sizeof(p));
}

static void index_make(struct gqi_writer *w, struct buf *b)
{
	unsigned char head[12];
	uint32_t at = 0;

	qsort(w->frames, w->n_frames, sizeof(*w->frames), compare_frames);
	gqi_put32(head, w->n_names);
	gqi_put32(head + 4, w->n_frames);
	buf_add(b, head, GQI_INDEX_HEAD);
	for (uint32_t i = 0; i < w->n_names; i++) {
		uint32_t first = at, len = (uint32_t)strlen(w->names[i]);

		while (at < w->n_frames && w->frames[at].file == i)
			at++;
		gqi_put32(head, i);
		gqi_put32(head + 4, at - first);
		gqi_put32(head + 8, len);
		buf_add(b, head, sizeof(head));
		buf_add(b, w->names[i], len);
		for (uint32_t k = first; k < at; k++)
			frame_put(b, &w->frames[k]);
	}
}

static int section_add(struct gqi_writer *w, enum gqi_type type, const void *data, size_t n,
	uint64_t *ret_sum, struct gq_err *err)
{
	const struct gqi_record rec = {.type = type, .file = GQI_NO_FILE, .raw_n = (uint32_t)n,
		.stored_n = (uint32_t)n, .codec = GQI_RAW, .sum = gqi_sum(data, n)};

	*ret_sum = rec.sum;
	return record_add(w, &rec, data, err);
}

static int trailer_add(struct gqi_writer *w, unsigned char t[GQI_TRAILER_SIZE], struct gq_err *err)
{
	gqi_put64(t + 32, outfile_size(&w->out) + GQI_TRAILER_SIZE);
	gqi_put64(t + 48, gqi_sum(t, 48));
	memcpy(t + 56, GQI_MAGIC_TRAILER, 8);
	return outfile_add(&w->out, t, GQI_TRAILER_SIZE, err);
}

int gqi_writer_end(struct gqi_writer *w, const char *manifest, struct gq_err *err)
{
	_cleanup_buf_ struct buf index = BUF_INIT;
	unsigned char t[GQI_TRAILER_SIZE] = {0};
	uint64_t sum;
	int r = gq_fault("stream.end");

	if (r < 0)
		return gq_err_sys(err, r, "%s", w->out.path);
	gqi_put64(t + 16, outfile_size(&w->out));
	gqi_put64(t + 24, strlen(manifest));
	r = section_add(w, GQI_MANIFEST, manifest, strlen(manifest), &sum, err);
	if (r < 0)
		return r;
	index_make(w, &index);
	gqi_put64(t, outfile_size(&w->out));
	gqi_put64(t + 8, index.len);
	r = section_add(w, GQI_INDEX, index.data, index.len, &sum, err);
	if (r < 0)
		return r;
	gqi_put64(t + 40, sum);
	r = trailer_add(w, t, err);
	return r < 0 ? r : outfile_end(&w->out, err);
}
