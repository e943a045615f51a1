/* SPDX-License-Identifier: MIT
 * utf8.c - is a text what it should be? */
#include "base/utf8.h"

/* Length of the UTF-8 sequence at @p, 0 if it is none. Reads at most the first byte that is wrong. */
static int utf8_len(const unsigned char *p)
{
	int n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3
		: p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++) /* also stops at a NUL */
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool str_is_clean(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		int n = utf8_len(p);

		if (!n || (*p < 0x20 && *p != '\t') || *p == 0x7f)
			return false;
		p += n;
	}
	return true;
}

const char *utf8_fault(const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		int n = utf8_len((const unsigned char *)s);

		if (!n || end - s < n)
			return s;
		s += n;
	}
	return NULL;
}
