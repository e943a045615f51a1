/* SPDX-License-Identifier: MIT
 * mem.h - small allocations that abort when memory is gone (the store brings us back)
 * A size that comes from a client is bounded before it reaches these. */
#ifndef GQ_BASE_MEM_H
#define GQ_BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size); /* n * size, checked for overflow */
char *xstrdup(const char *s);                   /* NULL gives NULL */
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Copies with truncation; always terminates. Returns strlen(src). */
size_t str_copy(char *dst, size_t size, const char *src);

#define xnew(type)     ((type *)xcalloc(1, sizeof(type)))
#define xnew_n(type, n) ((type *)xcalloc((n), sizeof(type)))

#endif
