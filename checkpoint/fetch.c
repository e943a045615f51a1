/* SPDX-License-Identifier: MIT
 * fetch.c - a queue of frames to read, and threads that read them */
#include "fetch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "arena.h"
#include "base/mem.h"
#include "frame.h"

struct fetch {
	const struct gqi *image; /* borrowed */
	pthread_t threads[FETCH_WORKERS];
	unsigned n_threads, n_pieces;
	unsigned char *memory; /* owned */
	unsigned char *zeros;  /* owned; a chunk that nobody writes to */
	struct piece *pieces;  /* owned */
	int event_fd, direct_fd;
	struct piece *spare; /* by queue; the asking thread's alone */

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t cond;
	struct piece *first, *last;
	bool closing;
};

/* Reads what is stored, and says where it came to lie. */
static int stored_read(const struct fetch *f, struct piece *p, const unsigned char **ret)
{
	int r = -EINVAL;

	if (f->direct_fd >= 0)
		r = gqi_read_direct(f->image, f->direct_fd, p->frame, p->stored, ret, &p->err);
	if (r == -EINVAL) {
		r = gqi_read(f->image, p->frame, p->stored, &p->err);
		*ret = p->stored;
	}
	return r;
}

static int decode(const struct fetch *f, struct frame_coder *coder, struct piece *p)
{
	const struct gqi_frame *frame = p->frame;
	int r = stored_read(f, p, &p->data);

	if (r < 0 || frame->codec == GQI_RAW)
		return r;
	if (frame->codec == GQI_ZERO) {
		p->data = f->zeros;
		return 0;
	}
	if (frame_decode(coder, frame->codec, p->data, frame->stored_n, p->raw, frame->raw_n) < 0)
		return gqi_blame(f->image, frame, "the compression", &p->err);
	p->data = p->raw;
	return 0;
}

static struct piece *next_piece(struct fetch *f)
{
	struct piece *p;

	pthread_mutex_lock(&f->lock);
	while (!f->first && !f->closing)
		pthread_cond_wait(&f->cond, &f->lock);
	p = f->closing ? NULL : f->first;
	if (p)
		f->first = p->queue;
	pthread_mutex_unlock(&f->lock);
	return p;
}

static void *work(void *arg)
{
	struct fetch *f = arg;
	struct frame_coder *coder = frame_coder_new(1);
	struct piece *p;

	while ((p = next_piece(f))) {
		uint64_t one = 1;
		ssize_t w;

		p->result = decode(f, coder, p);
		atomic_store_explicit(&p->done, true, memory_order_release);
		w = write(f->event_fd, &one, sizeof(one));
		(void)w; /* it cannot be full */
	}
	frame_coder_free(coder);
	return NULL;
}

static size_t piece_bytes(const struct gqi *g)
{
	return g->chunk + GQI_DIRECT_SIZE(g);
}

struct fetch *fetch_new(const struct gqi *g, unsigned workers)
{
	struct fetch *f = xnew(struct fetch);
	size_t each = piece_bytes(g);

	f->image = g;
	f->n_threads = workers < 1 ? 1 : workers > FETCH_WORKERS ? FETCH_WORKERS : workers;
	f->n_pieces = FETCH_BYTES / each > 2 ? (unsigned)(FETCH_BYTES / each) : 2;
	f->memory = arena_new(f->n_pieces * each);
	f->zeros = arena_new(g->chunk);
	f->pieces = xnew_n(struct piece, f->n_pieces);
	for (unsigned i = f->n_pieces; i-- > 0;) {
		struct piece *p = &f->pieces[i];

		p->raw = f->memory + i * each;
		p->stored = p->raw + g->chunk;
		p->queue = f->spare;
		f->spare = p;
	}
	f->direct_fd = open(g->path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	f->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->cond, NULL);
	for (unsigned i = 0; i < f->n_threads; i++)
		if (pthread_create(&f->threads[i], NULL, work, f))
			abort();
	return f;
}

struct fetch *fetch_free(struct fetch *f)
{
	if (!f)
		return NULL;
	pthread_mutex_lock(&f->lock);
	f->closing = true;
	pthread_cond_broadcast(&f->cond);
	pthread_mutex_unlock(&f->lock);
	for (unsigned i = 0; i < f->n_threads; i++)
		pthread_join(f->threads[i], NULL);
	pthread_cond_destroy(&f->cond);
	pthread_mutex_destroy(&f->lock);
	close(f->event_fd);
	if (f->direct_fd >= 0)
		close(f->direct_fd);
	arena_free(f->memory, f->n_pieces * piece_bytes(f->image));
	arena_free(f->zeros, f->image->chunk);
	free(f->pieces);
	free(f);
	return NULL;
}

int fetch_fd(const struct fetch *f)
{
	return f->event_fd;
}

unsigned fetch_size(const struct fetch *f)
{
	return f->n_pieces;
}

static struct piece *piece_extra(const struct fetch *f)
{
	struct piece *p = xnew(struct piece);

	p->raw = arena_new(piece_bytes(f->image));
	p->stored = p->raw + f->image->chunk;
	p->extra = true;
	return p;
}

struct piece *fetch_begin(struct fetch *f, const struct gqi_frame *frame, bool must)
{
	struct piece *p = f->spare;

	if (p)
		f->spare = p->queue;
	else if (must)
		p = piece_extra(f);
	else
		return NULL;
	p->frame = frame;
	p->next = p->queue = NULL;
	atomic_store_explicit(&p->done, false, memory_order_relaxed);
	pthread_mutex_lock(&f->lock);
	if (f->first)
		f->last->queue = p;
	else
		f->first = p;
	f->last = p;
	pthread_cond_signal(&f->cond);
	pthread_mutex_unlock(&f->lock);
	return p;
}

void fetch_release(struct fetch *f, struct piece *p)
{
	if (p->extra) {
		arena_free(p->raw, piece_bytes(f->image));
		free(p);
		return;
	}
	p->queue = f->spare;
	f->spare = p;
}
