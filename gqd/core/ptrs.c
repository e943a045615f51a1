/* SPDX-License-Identifier: MIT
 * ptrs.c - arrays of pointers */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

void ptrs_insert(struct ptrs *p, size_t at, void *item)
{
	if (p->len == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 16;
		p->list = xrealloc(p->list, p->cap, sizeof(*p->list));
	}
	memmove(p->list + at + 1, p->list + at, (p->len - at) * sizeof(*p->list));
	p->list[at] = item;
	p->len++;
}

void ptrs_add(struct ptrs *p, void *item)
{
	ptrs_insert(p, p->len, item);
}

void ptrs_remove(struct ptrs *p, size_t at)
{
	p->len--;
	memmove(p->list + at, p->list + at + 1, (p->len - at) * sizeof(*p->list));
}

bool ptrs_drop(struct ptrs *p, const void *item)
{
	for (size_t i = 0; i < p->len; i++) {
		if (p->list[i] == item) {
			ptrs_remove(p, i);
			return true;
		}
	}
	return false;
}

void ptrs_clear(struct ptrs *p)
{
	free(p->list);
	*p = (struct ptrs){0};
}
