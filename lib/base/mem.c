/* SPDX-License-Identifier: MIT
 * mem.c - allocations that abort when memory is gone */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *mem_checked(void *p)
{
	if (p)
		return p;
	fputs("out of memory\n", stderr);
	abort();
}

void *xmalloc(size_t n)
{
	return mem_checked(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return mem_checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		return mem_checked(NULL);
	return mem_checked(realloc(p, total ? total : 1));
}

char *xstrdup(const char *s)
{
	return s ? mem_checked(strdup(s)) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	return mem_checked(strndup(s, n));
}

char *xasprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&s, fmt, ap);
	va_end(ap);
	return mem_checked(r < 0 ? NULL : s);
}

size_t str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src);

	if (size) {
		size_t m = n < size ? n : size - 1;

		memcpy(dst, src, m);
		dst[m] = '\0';
	}
	return n;
}
