/* SPDX-License-Identifier: MIT
 * field.c - takes single values out of a JSON text that gqd wrote, without a library or a tree */
#include "client/field.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* Behind the string that begins at @p, or NULL. */
static const char *skip_string(const char *p)
{
	if (*p != '"')
		return NULL;
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && !*++p)
			return NULL;
	return *p ? p + 1 : NULL;
}

/* Behind the value that begins at @p, or NULL. Brackets are counted, not matched by kind. */
static const char *skip_value(const char *p)
{
	int depth = 0;

	p = skip_space(p);
	do {
		if (*p == '"') {
			p = skip_string(p);
			if (!p)
				return NULL;
		} else if (*p == '{' || *p == '[') {
			if (++depth > DEPTH_MAX)
				return NULL;
			p++;
		} else if (*p == '}' || *p == ']') {
			if (--depth < 0)
				return NULL;
			p++;
		} else {
			size_t n = strcspn(p, "\"{}[],: \t\r\n");

			if (!n && !(depth && (*p == ',' || *p == ':')))
				return NULL;
			p += n ? n : 1;
		}
		if (depth)
			p = skip_space(p);
	} while (depth);
	return p;
}

/* The value of member @name of the object at @p. */
static const char *member(const char *p, const char *name)
{
	size_t len = strlen(name);

	p = skip_space(p);
	if (*p != '{')
		return NULL;
	p = skip_space(p + 1);
	while (*p == '"') {
		bool hit = !strncmp(p + 1, name, len) && p[1 + len] == '"';

		p = skip_string(p);
		if (!p)
			return NULL;
		p = skip_space(p);
		if (*p != ':')
			return NULL;
		p = skip_space(p + 1);
		if (hit)
			return p;
		p = skip_value(p);
		if (!p)
			return NULL;
		p = skip_space(p);
		if (*p != ',')
			return NULL;
		p = skip_space(p + 1);
	}
	return NULL;
}

const char *field_find(const char *json, ...)
{
	const char *p = json, *name;
	va_list ap;

	va_start(ap, json);
	while (p && (name = va_arg(ap, const char *)))
		p = member(p, name);
	va_end(ap);
	return p;
}

const char *field_first(const char *array)
{
	const char *p = array ? skip_space(array) : NULL;

	if (!p || *p != '[')
		return NULL;
	p = skip_space(p + 1);
	return *p && *p != ']' ? p : NULL;
}

const char *field_next(const char *value)
{
	const char *p = skip_value(value);

	if (!p)
		return NULL;
	p = skip_space(p);
	return *p == ',' ? skip_space(p + 1) : NULL;
}

static void add_utf8(struct buf *out, unsigned c)
{
	if (c < 0x80) {
		buf_chr(out, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_chr(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_chr(out, (char)(0xe0 | c >> 12));
		} else {
			buf_chr(out, (char)(0xf0 | c >> 18));
			buf_chr(out, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		buf_chr(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	buf_chr(out, (char)(0x80 | (c & 0x3f)));
}

static int hex4(const char *p, unsigned *ret)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)p[i]))
			return -EINVAL;
		v = v << 4 | (unsigned)(isdigit((unsigned char)p[i]) ? p[i] - '0'
			: (p[i] | 32) - 'a' + 10);
	}
	*ret = v;
	return 0;
}

/* At the u of \uXXXX; returns behind the escape (and its second half), or NULL. */
static const char *add_escape_u(const char *p, struct buf *out)
{
	unsigned c, low;

	if (hex4(p + 1, &c) < 0)
		return NULL;
	p += 5;
	if (c >= 0xd800 && c < 0xdc00 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2, &low) == 0 &&
		low >= 0xdc00 && low < 0xe000) {
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		p += 6;
	}
	add_utf8(out, c);
	return p;
}

int field_text(const char *v, struct buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *p = v ? skip_space(v) : NULL, *e;

	if (!p || *p != '"')
		return -EINVAL;
	for (p++; *p && *p != '"';) {
		size_t n = strcspn(p, "\"\\");

		buf_add(out, p, n);
		p += n;
		if (*p != '\\')
			continue;
		p++;
		if (*p == 'u') {
			p = add_escape_u(p, out);
			if (!p)
				return -EINVAL;
			continue;
		}
		if (!*p)
			return -EINVAL;
		e = strchr(from, *p);
		buf_chr(out, e ? to[e - from] : *p);
		p++;
	}
	return *p ? 0 : -EINVAL;
}

int field_int(const char *v, int64_t *ret)
{
	const char *p = v ? skip_space(v) : NULL;

	if (!p || (!isdigit((unsigned char)*p) && *p != '-'))
		return -EINVAL;
	*ret = strtoll(p, NULL, 10);
	return 0;
}

int field_bool(const char *v, bool *ret)
{
	const char *p = v ? skip_space(v) : NULL;

	if (!p || (strncmp(p, "true", 4) && strncmp(p, "false", 5)))
		return -EINVAL;
	*ret = *p == 't';
	return 0;
}
