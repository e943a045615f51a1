/* SPDX-License-Identifier: MIT
 * err.c - making and widening the one error value */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void err_fill(struct gq_err *err, int code, const char *fmt, va_list ap)
{
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int gq_err_set(struct gq_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	err_fill(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int gq_err_sys(struct gq_err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (!err)
		return code;
	va_start(ap, fmt);
	err_fill(err, code, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", strerror(code < 0 ? -code : code));
	return code;
}

int gq_err_prefix(struct gq_err *err, int code, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t n;

	if (!err)
		return code;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	err_fill(err, code, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	return code;
}
