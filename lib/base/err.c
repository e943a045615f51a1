/* SPDX-License-Identifier: MIT
 * err.c - making and widening the one error value */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* What was formatted in may come from anybody: control characters and bytes that are no UTF-8 (also
 * a character that a width cut in two) become question marks. */
static void one_line(struct gq_err *err)
{
	const char *bad;

	for (char *p = err->text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	while ((bad = utf8_fault(err->text, strlen(err->text))))
		err->text[bad - err->text] = '?';
}

static void err_fill(struct gq_err *err, int code, const char *fmt, va_list ap)
{
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	one_line(err);
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
	one_line(err);
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
	one_line(err);
	return code;
}
