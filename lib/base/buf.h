/* SPDX-License-Identifier: MIT
 * buf.h - a growing byte buffer, always terminated by a NUL that is not counted */
#ifndef GQ_BASE_BUF_H
#define GQ_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *data; /* owned; NULL while nothing was added */
	size_t len;
	size_t cap;
};

#define BUF_INIT {NULL, 0, 0}

void buf_clear(struct buf *b); /* frees; the buffer can be used again */
void buf_reset(struct buf *b); /* len = 0, memory kept */
void buf_add(struct buf *b, const void *data, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_chr(struct buf *b, char c);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vfmt(struct buf *b, const char *fmt, va_list ap);
char *buf_reserve(struct buf *b, size_t n); /* room for n more bytes at data + len */
char *buf_take(struct buf *b);              /* the string, "" if empty; caller frees */
const char *buf_c(const struct buf *b);     /* the string, "" if empty; lent */

#define _cleanup_buf_ _cleanup_(buf_clear)

#endif
