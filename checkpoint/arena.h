/* SPDX-License-Identifier: MIT
 * arena.h - buffers in 2 MiB pages: a fault for each of those instead of 512 */
#ifndef GQ_CHECKPOINT_ARENA_H
#define GQ_CHECKPOINT_ARENA_H

#include <stddef.h>

#define ARENA_PAGE (2u << 20)

void *arena_new(size_t n);           /* rounded up to ARENA_PAGE and aligned to it; aborts like xmalloc() */
void *arena_free(void *p, size_t n); /* returns NULL */

#endif
