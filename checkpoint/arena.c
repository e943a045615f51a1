/* SPDX-License-Identifier: MIT
 * arena.c - mappings that the kernel may back with huge pages */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static size_t round_up(size_t n)
{
	return (n + ARENA_PAGE - 1) / ARENA_PAGE * ARENA_PAGE;
}

void *arena_new(size_t n)
{
	size_t want = round_up(n), all = want + ARENA_PAGE, before;
	char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	before = round_up((uintptr_t)p) - (uintptr_t)p;
	if (before)
		munmap(p, before);
	if (all > before + want)
		munmap(p + before + want, all - before - want);
	madvise(p + before, want, MADV_HUGEPAGE);
	return p + before;
}

void *arena_free(void *p, size_t n)
{
	if (p)
		munmap(p, round_up(n));
	return NULL;
}
