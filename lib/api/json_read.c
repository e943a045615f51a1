/* SPDX-License-Identifier: MIT
 * json_read.c - JSON read in place, one value after the other */
#include <errno.h>
#include <string.h>

#include "json.h"

#define BAD (-EBADMSG)

static void skip_blanks(struct json_in *in)
{
	while (*in->p == ' ' || *in->p == '\n' || *in->p == '\t' || *in->p == '\r')
		in->p++;
}

bool json_at_end(struct json_in *in)
{
	skip_blanks(in);
	return in->p == in->end;
}

int json_open(struct json_in *in, char bracket)
{
	skip_blanks(in);
	if (*in->p != bracket)
		return BAD;
	in->p++;
	return 0;
}

int json_more(struct json_in *in, char closing, bool first)
{
	skip_blanks(in);
	if (*in->p == closing) {
		in->p++;
		return 0;
	}
	if (first)
		return 1;
	if (*in->p != ',')
		return BAD;
	in->p++;
	return 1;
}

static bool take_word(struct json_in *in, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(in->p, word, n) != 0)
		return false;
	in->p += n;
	return true;
}

static int read_hex4(const char *s, uint32_t *ret)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++) {
		char c = s[i];
		int d = c >= '0' && c <= '9'                 ? c - '0'
			: (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
							     : -1;

		if (d < 0)
			return BAD;
		v = v << 4 | (uint32_t)d;
	}
	*ret = v;
	return 0;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* in->p stands behind "\u". */
static int read_unicode(struct json_in *in, uint32_t *ret)
{
	uint32_t c, low;

	if (read_hex4(in->p, &c) < 0)
		return BAD;
	in->p += 4;
	if (c >= 0xd800 && c < 0xdc00) {
		if (in->p[0] != '\\' || in->p[1] != 'u' ||
			read_hex4(in->p + 2, &low) < 0 || low < 0xdc00 || low > 0xdfff)
			return BAD;
		in->p += 6;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	if (c == 0)
		return BAD;
	*ret = c;
	return 0;
}

/* in->p stands behind the backslash; the result is never longer than what was read. */
static int read_escape(struct json_in *in, char **to)
{
	static const char from[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	char c = *in->p++;
	const char *at;
	uint32_t code;

	if (c == 'u') {
		if (read_unicode(in, &code) < 0)
			return BAD;
		*to = put_utf8(*to, code);
		return 0;
	}
	at = c ? strchr(from, c) : NULL;
	if (!at)
		return BAD;
	*(*to)++ = plain[at - from];
	return 0;
}

int json_str(struct json_in *in, char **ret)
{
	char *start, *to;

	skip_blanks(in);
	if (take_word(in, "null")) {
		*ret = NULL;
		return 0;
	}
	if (*in->p++ != '"')
		return in->p--, BAD;
	start = in->p;
	in->p += strcspn(in->p, "\"\\");
	to = in->p;
	while (*in->p != '"') {
		if (*in->p == '\0')
			return BAD;
		if (*in->p == '\\') {
			in->p++;
			if (read_escape(in, &to) < 0)
				return BAD;
		} else {
			*to++ = *in->p++;
		}
	}
	in->p++;
	*to = '\0';
	*ret = start;
	return 0;
}

int json_key(struct json_in *in, char **ret)
{
	if (json_str(in, ret) < 0 || !*ret)
		return BAD;
	skip_blanks(in);
	if (*in->p != ':')
		return BAD;
	in->p++;
	return 0;
}

int json_scaled(struct json_in *in, int digits, int64_t none, int64_t *ret)
{
	int64_t v = 0;
	bool minus, seen = false, point = false;

	skip_blanks(in);
	if (take_word(in, "null")) {
		*ret = none;
		return 0;
	}
	minus = *in->p == '-';
	in->p += minus;
	for (; (*in->p >= '0' && *in->p <= '9') || (*in->p == '.' && !point); in->p++) {
		if (*in->p == '.') {
			point = true;
			continue;
		}
		seen = true;
		if (point && digits-- <= 0)
			continue;
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, *in->p - '0', &v))
			return BAD;
	}
	for (; digits > 0; digits--) {
		if (__builtin_mul_overflow(v, 10, &v))
			return BAD;
	}
	if (!seen || *in->p == 'e' || *in->p == 'E')
		return BAD;
	*ret = minus ? -v : v;
	return 0;
}

int json_bool(struct json_in *in, bool *ret)
{
	skip_blanks(in);
	if (take_word(in, "true"))
		*ret = true;
	else if (take_word(in, "false") || take_word(in, "null"))
		*ret = false;
	else
		return BAD;
	return 0;
}

/* Behind the string that begins at @p, or NULL. */
static char *behind_string(char *p)
{
	for (p++; *p != '"'; p++) {
		if (*p == '\\')
			p++;
		if (*p == '\0')
			return NULL;
	}
	return p + 1;
}

/* Behind the bracket that closes the one at @p, or NULL. */
static char *behind_brackets(char *p)
{
	int depth = 0;

	do {
		if (*p == '"') {
			p = behind_string(p);
			if (!p)
				return NULL;
			continue;
		}
		if (*p == '\0')
			return NULL;
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		p++;
	} while (depth > 0);
	return p;
}

int json_skip(struct json_in *in)
{
	char *p;

	skip_blanks(in);
	if (*in->p == '"')
		p = behind_string(in->p);
	else if (*in->p == '{' || *in->p == '[')
		p = behind_brackets(in->p);
	else
		p = in->p + strcspn(in->p, ",:]}[{\" \t\r\n");
	if (!p || p == in->p)
		return BAD;
	in->p = p;
	return 0;
}

int json_slice(struct json_in *in, char **ret, size_t *ret_len)
{
	char *start;

	skip_blanks(in);
	start = in->p;
	if (json_skip(in) < 0)
		return BAD;
	*ret = start;
	*ret_len = (size_t)(in->p - start);
	return 0;
}
