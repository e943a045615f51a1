/* SPDX-License-Identifier: MIT
 * table.c - columns that fit the terminal; values in words */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gqctl.h"

#define ELASTIC_MIN 6

/* Characters as a terminal counts them, near enough: bytes that begin one. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static size_t bytes_of(const char *s, size_t width)
{
	size_t n = 0;

	for (; s[n]; n++) {
		if (((unsigned char)s[n] & 0xc0) != 0x80 && width-- == 0)
			break;
	}
	return n;
}

void table_init(struct table *t, const struct column *columns, size_t n)
{
	*t = (struct table){.columns = columns, .n_columns = n};
	for (size_t i = 0; i < n; i++)
		t->widest[i] = width_of(columns[i].title);
}

void table_cell(struct table *t, const char *text)
{
	size_t column = t->n_cells++ % t->n_columns, width, at = t->text.len;

	buf_str(&t->text, text ? text : "-");
	for (char *p = t->text.data + at; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?'; /* never let a name steer a terminal */
	}
	width = width_of(t->text.data + at);
	if (width > t->widest[column])
		t->widest[column] = width;
	t->text.len++; /* keeps the NUL */
	buf_reserve(&t->text, 1);
}

void table_cellf(struct table *t, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_cell(t, text);
}

/* Cuts elastic columns, the widest first, until a line fits; only on a terminal. */
static void fit(struct table *t)
{
	struct winsize size;
	size_t total = t->n_columns - 1, room;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ||
		size.ws_col == 0)
		return;
	room = size.ws_col;
	for (size_t i = 0; i < t->n_columns; i++)
		total += t->widest[i];
	while (total > room) {
		size_t most = t->n_columns;

		for (size_t i = 0; i < t->n_columns; i++) {
			if (t->columns[i].elastic && t->widest[i] > ELASTIC_MIN &&
				(most == t->n_columns || t->widest[i] > t->widest[most]))
				most = i;
		}
		if (most == t->n_columns)
			return;
		t->widest[most]--;
		total--;
	}
}

static void pad(struct buf *out, size_t n)
{
	memset(buf_reserve(out, n), ' ', n);
	out->len += n;
}

static void put_cell(
	const struct table *t, size_t column, const char *text, struct buf *out)
{
	size_t room = t->widest[column], n = bytes_of(text, room), width = width_of(text);
	bool last = column + 1 == t->n_columns;

	width = width < room ? width : room;
	if (column)
		buf_chr(out, ' ');
	if (t->columns[column].right)
		pad(out, room - width);
	buf_add(out, text, n);
	if (!t->columns[column].right && !last)
		pad(out, room - width);
	if (!last)
		return;
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_chr(out, '\n');
}

int table_print(struct table *t, bool header)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	const char *cell = buf_c(&t->text);

	fit(t);
	for (size_t i = 0; header && i < t->n_columns; i++)
		put_cell(t, i, t->columns[i].title, &out);
	for (size_t i = 0; i < t->n_cells; i++) {
		put_cell(t, i % t->n_columns, cell, &out);
		cell += strlen(cell) + 1;
	}
	buf_clear(&t->text);
	return out.len ? ctl_print(&out) : 0;
}

/* --- words ---------------------------------------------------------------------------------- */

#define TEXT 40

const char *text_span(gq_time d, char *buf)
{
	long long s = d / GQ_NS_PER_S;

	if (d == GQ_NEVER)
		snprintf(buf, TEXT, "-");
	else if (s >= 86400)
		snprintf(buf, TEXT, "%lld-%02lld:%02lld:%02lld", s / 86400, s / 3600 % 24,
			s / 60 % 60, s % 60);
	else if (s >= 3600)
		snprintf(buf, TEXT, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(buf, TEXT, "%lld:%02lld", s / 60, s % 60);
	return buf;
}

static struct tm local_time(gq_time t)
{
	time_t s = (time_t)(t / GQ_NS_PER_S);
	struct tm tm = {0};

	localtime_r(&s, &tm);
	return tm;
}

const char *text_long_time(gq_time t, char *buf)
{
	struct tm tm = local_time(t);

	if (t <= 0 || t == GQ_NEVER)
		snprintf(buf, TEXT, "-");
	else
		strftime(buf, TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	return buf;
}

const char *text_time(gq_time t, char *buf)
{
	struct tm now = local_time(gq_now()), tm = local_time(t);
	size_t n;

	if (t <= 0 || t == GQ_NEVER || now.tm_yday != tm.tm_yday ||
		now.tm_year != tm.tm_year)
		return text_long_time(t, buf);
	n = strftime(buf, TEXT, "%H:%M:%S", &tm);
	snprintf(buf + n, TEXT - n, ".%03d", (int)(t % GQ_NS_PER_S / GQ_NS_PER_MS));
	return buf;
}

const char *text_mib(int64_t mib, char *buf)
{
	if (mib == API_NONE)
		snprintf(buf, TEXT, "-");
	else if (mib >= 1024 && mib % 1024 == 0)
		snprintf(buf, TEXT, "%lldG", (long long)(mib / 1024));
	else if (mib >= 10240)
		snprintf(buf, TEXT, "%.1fG", (double)mib / 1024);
	else
		snprintf(buf, TEXT, "%lldM", (long long)mib);
	return buf;
}

const char *text_cards(const struct api_cards *c, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < c->n && n < size; i++)
		n += (size_t)snprintf(
			buf + n, size - n, "%s%u", i ? "," : "", c->index[i]);
	return buf;
}
