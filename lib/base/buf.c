/* SPDX-License-Identifier: MIT
 * buf.c - a growing byte buffer */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void buf_clear(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t n)
{
	if (b->cap - b->len <= n) {
		size_t cap = b->cap ? b->cap : 64;

		while (cap - b->len <= n)
			cap *= 2;
		b->data = xrealloc(b->data, cap, 1);
		b->cap = cap;
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *data, size_t n)
{
	char *p = buf_reserve(b, n);

	if (n)
		memcpy(p, data, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_chr(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vfmt(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n > 0) {
		vsnprintf(buf_reserve(b, (size_t)n), (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
}

char *buf_take(struct buf *b)
{
	char *s = b->data ? b->data : xstrdup("");

	*b = (struct buf)BUF_INIT;
	return s;
}

const char *buf_c(const struct buf *b)
{
	return b->data ? b->data : "";
}
