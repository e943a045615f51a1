/* SPDX-License-Identifier: MIT
 * json_write.c - values as JSON text */
#include <string.h>

#include "json.h"

/* Length of the valid UTF-8 sequence at @s, 0 if it is none. */
static size_t utf8_len(const unsigned char *s)
{
	size_t n = s[0] < 0xc2   ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf5 ? 4
				 : 0;

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		(s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* Writes one byte or sequence that cannot stand for itself; returns the bytes it took. */
static size_t write_special(struct buf *out, const unsigned char *s)
{
	size_t n;

	if (*s == '"' || *s == '\\') {
		buf_chr(out, '\\');
		buf_chr(out, (char)*s);
		return 1;
	}
	if (*s < 0x20 || *s == 0x7f) {
		buf_fmt(out, *s == '\n' ? "\\n" : *s == '\t' ? "\\t" : "\\u%04x", *s);
		return 1;
	}
	n = utf8_len(s);
	if (n == 0) {
		buf_str(out, "\xef\xbf\xbd"); /* U+FFFD */
		return 1;
	}
	buf_add(out, s, n);
	return n;
}

void json_write_str(struct buf *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (!text) {
		buf_add(out, "null", 4);
		return;
	}
	buf_chr(out, '"');
	while (*s) {
		const unsigned char *from = s;

		while (*s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\')
			s++;
		buf_add(out, from, (size_t)(s - from));
		if (*s)
			s += write_special(out, s);
	}
	buf_chr(out, '"');
}

void json_write_int(struct buf *out, int64_t v)
{
	char text[24];
	size_t at = sizeof(text);
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do {
		text[--at] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	if (v < 0)
		text[--at] = '-';
	buf_add(out, text + at, sizeof(text) - at);
}

static void put_digits(char *at, int n, int64_t v)
{
	while (n-- > 0) {
		at[n] = (char)('0' + v % 10);
		v /= 10;
	}
}

/* Days since 1970-01-01 as a date of the proleptic Gregorian calendar. */
static void civil(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
	int64_t z = days + 719468; /* from 0000-03-01, so that leap days come last */
	int64_t era = z / 146097;
	int64_t doe = z % 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;

	*day = doy - (153 * mp + 2) / 5 + 1;
	*month = mp < 10 ? mp + 3 : mp - 9;
	*year = yoe + era * 400 + (*month <= 2);
}

void json_write_time(struct buf *out, gq_time t)
{
	char text[] = "\"0000-00-00T00:00:00.000Z\"";
	int64_t s = t / GQ_NS_PER_S, year, month, day;

	if (t <= 0 || t == GQ_NEVER) {
		buf_add(out, "null", 4);
		return;
	}
	civil(s / 86400, &year, &month, &day);
	put_digits(text + 1, 4, year);
	put_digits(text + 6, 2, month);
	put_digits(text + 9, 2, day);
	put_digits(text + 12, 2, s / 3600 % 24);
	put_digits(text + 15, 2, s / 60 % 60);
	put_digits(text + 18, 2, s % 60);
	put_digits(text + 21, 3, t % GQ_NS_PER_S / GQ_NS_PER_MS);
	buf_add(out, text, sizeof(text) - 1);
}

void json_write_secs(struct buf *out, gq_time d)
{
	char fraction[] = ".000";
	int64_t ms;

	if (d == GQ_NEVER) {
		buf_add(out, "null", 4);
		return;
	}
	if (d < 0) {
		buf_chr(out, '-');
		d = d == INT64_MIN ? GQ_NEVER : -d;
	}
	json_write_int(out, d / GQ_NS_PER_S);
	ms = d % GQ_NS_PER_S / GQ_NS_PER_MS;
	if (ms) {
		put_digits(fraction + 1, 3, ms);
		buf_add(out, fraction, 4);
	}
}
