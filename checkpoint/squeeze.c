/* SPDX-License-Identifier: MIT
 * squeeze.c - a ring of chunks with three marks: put ≥ taken ≥ written
 * Workers take the next chunk, whatever the others do; the writer waits for the oldest. */
#include "squeeze.h"

#include <pthread.h>
#include <stdlib.h>

#include "arena.h"
#include "base/mem.h"
#include "frame.h"
#include "gqi_layout.h"

struct squeeze {
	struct gqi_writer *writer; /* borrowed */
	int level;
	pthread_t workers[SQUEEZE_WORKERS], write_thread;
	unsigned n_workers;
	unsigned char *memory; /* owned */
	struct slot slots[SQUEEZE_SLOTS];

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t put_cond, done_cond, free_cond;
	struct slot *ring[SQUEEZE_SLOTS];
	uint64_t put, taken, written; /* counts since the beginning */
	struct slot *spare[SQUEEZE_SLOTS]; /* last used first: it is warm */
	unsigned n_spare;
	bool closing;
	struct gq_err failure;
};

static void press(struct frame_coder *coder, struct slot *s)
{
	struct gqi_frame *f = &s->frame;
	size_t n;

	f->codec = frame_encode(coder, s->raw, f->raw_n, s->stored, &n);
	f->stored_n = (uint32_t)n;
	f->sum = gqi_sum(f->codec == GQI_RAW ? s->raw : s->stored, n);
}

static void *work(void *arg)
{
	struct squeeze *s = arg;
	struct frame_coder *coder = frame_coder_new(s->level);

	pthread_mutex_lock(&s->lock);
	for (;;) {
		struct slot *slot;

		while (s->taken == s->put && !s->closing)
			pthread_cond_wait(&s->put_cond, &s->lock);
		if (s->closing)
			break;
		slot = s->ring[s->taken++ % SQUEEZE_SLOTS];
		pthread_mutex_unlock(&s->lock);
		press(coder, slot);
		pthread_mutex_lock(&s->lock);
		slot->done = true;
		pthread_cond_signal(&s->done_cond);
	}
	pthread_mutex_unlock(&s->lock);
	frame_coder_free(coder);
	return NULL;
}

static struct slot *oldest(struct squeeze *s)
{
	struct slot *slot = s->written < s->taken ? s->ring[s->written % SQUEEZE_SLOTS] : NULL;

	return slot && slot->done ? slot : NULL;
}

static void *write_out(void *arg)
{
	struct squeeze *s = arg;
	struct gq_err err = {0};

	pthread_mutex_lock(&s->lock);
	for (;;) {
		struct slot *slot;
		int r = 0;

		while (!(slot = oldest(s)) && !s->closing)
			pthread_cond_wait(&s->done_cond, &s->lock);
		if (!slot)
			break;
		pthread_mutex_unlock(&s->lock);
		if (!err.code)
			r = gqi_writer_frame(s->writer, &slot->frame,
				slot->frame.codec == GQI_RAW ? slot->raw : slot->stored, &err);
		pthread_mutex_lock(&s->lock);
		if (r < 0)
			s->failure = err;
		s->written++;
		s->spare[s->n_spare++] = slot;
		pthread_cond_signal(&s->free_cond);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

struct squeeze *squeeze_new(struct gqi_writer *w, int level, unsigned workers)
{
	struct squeeze *s = xnew(struct squeeze);

	s->writer = w;
	s->level = level;
	s->n_workers = workers < 1 ? 1 : workers > SQUEEZE_WORKERS ? SQUEEZE_WORKERS : workers;
	s->memory = arena_new((size_t)SQUEEZE_SLOTS * 2 * GQI_CHUNK);
	for (unsigned i = SQUEEZE_SLOTS; i-- > 0;) {
		s->slots[i].raw = s->memory + (size_t)i * 2 * GQI_CHUNK;
		s->slots[i].stored = s->slots[i].raw + GQI_CHUNK;
		s->spare[s->n_spare++] = &s->slots[i];
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->put_cond, NULL);
	pthread_cond_init(&s->done_cond, NULL);
	pthread_cond_init(&s->free_cond, NULL);
	for (unsigned i = 0; i < s->n_workers; i++)
		if (pthread_create(&s->workers[i], NULL, work, s))
			abort();
	if (pthread_create(&s->write_thread, NULL, write_out, s))
		abort();
	return s;
}

struct squeeze *squeeze_free(struct squeeze *s)
{
	if (!s)
		return NULL;
	pthread_mutex_lock(&s->lock);
	s->closing = true;
	pthread_cond_broadcast(&s->put_cond);
	pthread_cond_broadcast(&s->done_cond);
	pthread_mutex_unlock(&s->lock);
	for (unsigned i = 0; i < s->n_workers; i++)
		pthread_join(s->workers[i], NULL);
	pthread_join(s->write_thread, NULL);
	pthread_cond_destroy(&s->put_cond);
	pthread_cond_destroy(&s->done_cond);
	pthread_cond_destroy(&s->free_cond);
	pthread_mutex_destroy(&s->lock);
	arena_free(s->memory, (size_t)SQUEEZE_SLOTS * 2 * GQI_CHUNK);
	free(s);
	return NULL;
}

struct slot *squeeze_slot(struct squeeze *s)
{
	struct slot *slot = NULL;

	pthread_mutex_lock(&s->lock);
	while (!s->n_spare)
		pthread_cond_wait(&s->free_cond, &s->lock);
	if (!s->failure.code)
		slot = s->spare[--s->n_spare];
	pthread_mutex_unlock(&s->lock);
	return slot;
}

void squeeze_put(struct squeeze *s, struct slot *slot)
{
	pthread_mutex_lock(&s->lock);
	slot->done = false;
	s->ring[s->put++ % SQUEEZE_SLOTS] = slot;
	pthread_cond_signal(&s->put_cond);
	pthread_mutex_unlock(&s->lock);
}

void squeeze_drop(struct squeeze *s, struct slot *slot)
{
	pthread_mutex_lock(&s->lock);
	s->spare[s->n_spare++] = slot;
	pthread_mutex_unlock(&s->lock);
}

int squeeze_end(struct squeeze *s, struct gq_err *err)
{
	int r;

	pthread_mutex_lock(&s->lock);
	while (s->written < s->put)
		pthread_cond_wait(&s->free_cond, &s->lock);
	r = s->failure.code;
	if (r < 0 && err)
		*err = s->failure;
	pthread_mutex_unlock(&s->lock);
	return r;
}
