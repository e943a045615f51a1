/* SPDX-License-Identifier: MIT
 * queue.c - the order of waiting jobs
 * Level first, then jobs that have an image (their work is half done), then priority, then age.
 * Jobs of equal rank share a bucket; adding the newest and removing any is O(log of the ranks). */
#include <stdlib.h>

#include "base/mem.h"
#include "core_priv.h"

static int64_t queue_rank(const struct job *j)
{
	return ((int64_t)(j->level + 2) << 40) | ((int64_t)(j->state == JOB_STORED) << 36) |
	       (int64_t)j->priority;
}

/* First bucket whose rank is not above @rank. */
static size_t bucket_find(const struct core *c, int64_t rank)
{
	size_t lo = 0, hi = c->buckets.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (((struct bucket *)c->buckets.list[mid])->rank > rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct bucket *bucket_of(struct core *c, int64_t rank)
{
	size_t at = bucket_find(c, rank);
	struct bucket *b = at < c->buckets.len ? c->buckets.list[at] : NULL;

	if (b && b->rank == rank)
		return b;
	b = xnew(struct bucket);
	b->rank = rank;
	ptrs_insert(&c->buckets, at, b);
	return b;
}

void queue_add(struct core *c, struct entry *e)
{
	struct bucket *b = bucket_of(c, queue_rank(&e->row));
	struct entry *after = b->tail; /* e goes behind this one */

	if (after && after->row.id > e->row.id) {
		after = NULL;
		for (struct entry *i = b->head; i->row.id < e->row.id; i = i->next)
			after = i;
	}
	e->bucket = b;
	e->prev = after;
	e->next = after ? after->next : b->head;
	*(e->prev ? &e->prev->next : &b->head) = e;
	*(e->next ? &e->next->prev : &b->tail) = e;
	c->n_waiting++;
}

void queue_remove(struct core *c, struct entry *e)
{
	struct bucket *b = e->bucket;

	if (!b)
		return;
	*(e->prev ? &e->prev->next : &b->head) = e->next;
	*(e->next ? &e->next->prev : &b->tail) = e->prev;
	e->bucket = NULL;
	e->next = e->prev = NULL;
	c->n_waiting--;
}

static struct entry *queue_from(const struct core *c, size_t bucket)
{
	for (; bucket < c->buckets.len; bucket++) {
		struct bucket *b = c->buckets.list[bucket];

		if (b->head)
			return b->head;
	}
	return NULL;
}

struct entry *queue_first(const struct core *c)
{
	return queue_from(c, 0);
}

struct entry *queue_next(const struct core *c, const struct entry *e)
{
	return e->next ? e->next : queue_from(c, bucket_find(c, e->bucket->rank) + 1);
}
