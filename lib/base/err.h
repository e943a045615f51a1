/* SPDX-License-Identifier: MIT
 * err.h - one error value, on the caller's stack
 * Promises: never allocates; the text is one line of UTF-8, whatever bytes were formatted in; the
 * first cause stays in the text, callers only put words before it.
 * Leaves to others: logging (mains, daemon, api, shim). */
#ifndef GQ_BASE_ERR_H
#define GQ_BASE_ERR_H

#include <errno.h>

struct gq_err {
	int code;       /* 0, or -errno */
	char text[256]; /* one line: the subject first, the wrong value, the allowed one, what to do */
};

/* Every function here accepts err == NULL and returns @code, so that
 * `return gq_err_set(err, -EINVAL, "…")` is one statement. */
int gq_err_set(struct gq_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As gq_err_set(), with ": " and the text of errno @code behind. */
int gq_err_sys(struct gq_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<fmt>: " before the text that is there. */
int gq_err_prefix(struct gq_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
