/* SPDX-License-Identifier: MIT
 * map.h - hash table from a 64-bit key (an id, or map_hash() of a name) to a pointer
 * Open addressing, grows by two; the values are borrowed. */
#ifndef GQ_BASE_MAP_H
#define GQ_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* borrowed; NULL marks an empty slot */
};

struct map {
	struct map_slot *slots; /* owned */
	size_t len, cap;        /* cap is 0 or a power of two */
};

void map_clear(struct map *m);
void *map_get(const struct map *m, uint64_t key);             /* NULL if absent */
void map_put(struct map *m, uint64_t key, void *value);       /* value not NULL; replaces */
void *map_del(struct map *m, uint64_t key);                   /* the value, or NULL */
uint64_t map_hash(const char *name);                          /* FNV-1a */

/* Walk in no order: for (size_t i = 0; (v = map_next(m, &i)); ) — no put or del meanwhile. */
void *map_next(const struct map *m, size_t *pos);

#endif
