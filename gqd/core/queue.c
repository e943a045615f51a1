/* SPDX-License-Identifier: MIT
 * queue.c - the order of waiting jobs
 * Level first, then jobs that have an image (their work is half done), then priority, then age.
 * Jobs of equal rank that wish for the same share a bucket: where its first job does not fit, none of
 * them does, so that a look at the queue costs the number of different wishes, not of jobs. Buckets
 * stand in the order of their first jobs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

static int64_t queue_rank(const struct job *j)
{
	return ((int64_t)(j->level + 2) << 40) | ((int64_t)(j->state == JOB_STORED) << 36) |
	       (int64_t)j->priority;
}

/* All that decides whether the job fits on a card. A job that has run, or has a time of its own, is
 * like no other. */
static struct wish wish_of(const struct job *j)
{
	struct wish w;

	memset(&w, 0, sizeof(w)); /* also the padding: it is hashed and compared as bytes */
	w.rank = queue_rank(j);
	if (j->incarnation || j->begin_at) {
		w.own = j->id;
		return w;
	}
	w.vram_mib = j->vram_mib;
	w.time_min = j->time_min;
	w.grace = j->grace;
	w.time_limit = j->checkpoint == CHECKPOINT_NONE ? j->time_limit : 0;
	w.gpus = j->gpus;
	w.checkpoint = j->checkpoint;
	return w;
}

static uint64_t wish_hash(const struct wish *w, const char *gpu_type)
{
	const unsigned char *p = (const unsigned char *)w;
	uint64_t h = map_hash(gpu_type ? gpu_type : "");

	for (size_t i = 0; i < sizeof(*w); i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

static bool wish_is_same(const struct bucket *b, const struct wish *w, const char *gpu_type)
{
	const char *other = b->head->row.gpu_type;

	return !memcmp(&b->wish, w, sizeof(*w)) && !strcmp(other ? other : "", gpu_type ? gpu_type : "");
}

/* Where a bucket of this rank whose first job is @id stands. */
static size_t bucket_find(const struct core *c, int64_t rank, uint32_t id)
{
	size_t lo = 0, hi = c->buckets.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct bucket *b = c->buckets.list[mid];

		if (b->wish.rank > rank || (b->wish.rank == rank && b->head->row.id < id))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void bucket_take_out(struct core *c, struct bucket *b)
{
	ptrs_remove(&c->buckets, bucket_find(c, b->wish.rank, b->head->row.id));
}

static void bucket_put_in(struct core *c, struct bucket *b)
{
	ptrs_insert(&c->buckets, bucket_find(c, b->wish.rank, b->head->row.id), b);
}

/* The job is the first of a new bucket. */
static void bucket_new(struct core *c, struct entry *e, const struct wish *w, uint64_t hash)
{
	struct bucket *b = xnew(struct bucket);

	b->wish = *w;
	b->hash = hash;
	b->head = b->tail = e;
	e->bucket = b;
	if (!map_get(&c->by_wish, hash))
		map_put(&c->by_wish, hash, b);
	bucket_put_in(c, b);
}

/* By id: nearly always behind the last one. */
static void bucket_add(struct core *c, struct bucket *b, struct entry *e)
{
	struct entry *after = b->tail;
	bool first = e->row.id < b->head->row.id;

	while (after && after->row.id > e->row.id)
		after = after->prev;
	if (first)
		bucket_take_out(c, b);
	e->bucket = b;
	e->prev = after;
	e->next = after ? after->next : b->head;
	*(e->prev ? &e->prev->next : &b->head) = e;
	*(e->next ? &e->next->prev : &b->tail) = e;
	if (first)
		bucket_put_in(c, b);
}

void queue_add(struct core *c, struct entry *e)
{
	struct wish w = wish_of(&e->row);
	uint64_t hash = wish_hash(&w, e->row.gpu_type);
	struct bucket *b = map_get(&c->by_wish, hash);

	if (b && wish_is_same(b, &w, e->row.gpu_type))
		bucket_add(c, b, e);
	else
		bucket_new(c, e, &w, hash);
	c->n_waiting++;
}

void queue_remove(struct core *c, struct entry *e)
{
	struct bucket *b = e->bucket;
	bool first;

	if (!b)
		return;
	first = b->head == e;
	if (first)
		bucket_take_out(c, b);
	*(e->prev ? &e->prev->next : &b->head) = e->next;
	*(e->next ? &e->next->prev : &b->tail) = e->prev;
	e->bucket = NULL;
	e->next = e->prev = NULL;
	c->n_waiting--;
	if (first && b->head)
		bucket_put_in(c, b);
	if (b->head)
		return;
	if (map_get(&c->by_wish, b->hash) == b)
		map_del(&c->by_wish, b->hash);
	free(b);
}

struct entry *queue_first(const struct core *c)
{
	return c->buckets.len ? ((struct bucket *)c->buckets.list[0])->head : NULL;
}

size_t queue_ahead(const struct core *c, const struct entry *e, size_t max)
{
	size_t n = 0;

	for EACH (const struct bucket, b, c->buckets, i) {
		if (b->wish.rank < e->bucket->wish.rank)
			break;
		for (const struct entry *o = b->head; o && n < max; o = o->next)
			n += b->wish.rank > e->bucket->wish.rank || o->row.id < e->row.id;
	}
	return n;
}
