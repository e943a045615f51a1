/* SPDX-License-Identifier: MIT
 * map.c - hash table with linear probing and backward-shift deletion */
#include "base/map.h"

#include <stdlib.h>

#include "base/mem.h"

static size_t map_home(const struct map *m, uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (m->cap - 1);
}

void map_clear(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

static struct map_slot *map_find(const struct map *m, uint64_t key)
{
	size_t i = map_home(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->cap ? map_find(m, key)->value : NULL;
}

static void map_grow(struct map *m)
{
	struct map bigger = {.cap = m->cap ? m->cap * 2 : 16};

	bigger.slots = xnew_n(struct map_slot, bigger.cap);
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].value)
			*map_find(&bigger, m->slots[i].key) = m->slots[i];
	bigger.len = m->len;
	free(m->slots);
	*m = bigger;
}

void map_put(struct map *m, uint64_t key, void *value)
{
	struct map_slot *s;

	if (m->len * 4 >= m->cap * 3)
		map_grow(m);
	s = map_find(m, key);
	if (!s->value)
		m->len++;
	*s = (struct map_slot){key, value};
}

void *map_del(struct map *m, uint64_t key)
{
	size_t hole, i;
	void *value;

	if (!m->cap)
		return NULL;
	hole = (size_t)(map_find(m, key) - m->slots);
	value = m->slots[hole].value;
	if (!value)
		return NULL;
	m->len--;
	for (i = (hole + 1) & (m->cap - 1); m->slots[i].value; i = (i + 1) & (m->cap - 1)) {
		size_t home = map_home(m, m->slots[i].key);

		if (((i - home) & (m->cap - 1)) >= ((i - hole) & (m->cap - 1))) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].value = NULL;
	return value;
}

uint64_t map_hash(const char *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return h;
}

void *map_next(const struct map *m, size_t *pos)
{
	while (*pos < m->cap) {
		void *v = m->slots[(*pos)++].value;

		if (v)
			return v;
	}
	return NULL;
}
