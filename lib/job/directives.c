/* SPDX-License-Identifier: MIT
 * directives.c - the #GQ and #SBATCH lines at the top of a script */
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "job/option.h"

#define WORDS_MAX 256

struct words {
	char *text;              /* owned; the words, each ended by NUL */
	char *list[WORDS_MAX + 2]; /* list[0] is a place holder, as in argv */
	int n;
};

/* One word at *p into *to, quotes taken off. 0, or -EINVAL when a quote is not closed. */
static int take_word(const char **p, const char *end, char **to, struct gq_err *err)
{
	char quote = 0;

	for (; *p < end && (quote || (**p != ' ' && **p != '\t')); (*p)++) {
		char c = **p;

		if (!quote && (c == '"' || c == '\'')) {
			quote = c;
		} else if (quote && c == quote) {
			quote = 0;
		} else {
			if (c == '\\' && quote != '\'' && *p + 1 < end)
				c = *++*p;
			*(*to)++ = c;
		}
	}
	*(*to)++ = '\0';
	return quote ? gq_err_set(err, -EINVAL, "the quote %c is not closed", quote) : 0;
}

static int split(const char *line, const char *end, struct words *w, struct gq_err *err)
{
	char *to = xmalloc((size_t)(end - line) + 2);

	w->text = to;
	w->list[0] = to;
	w->n = 1;
	for (const char *p = line;;) {
		int r;

		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (p == end || *p == '#')
			break;
		if (w->n > WORDS_MAX)
			return gq_err_set(err, -EINVAL, "more than %d words", WORDS_MAX);
		w->list[w->n++] = to;
		r = take_word(&p, end, &to, err);
		if (r < 0)
			return r;
	}
	w->list[w->n] = NULL;
	return 0;
}

static void warn(struct buf *out, const char *name, int line, enum job_option o)
{
	if (out)
		buf_fmt(out, "%s: line %d: --%s has no meaning here and is ignored\n", name, line,
			job_options[o].long_name);
}

struct reader {
	const char *name;
	job_directive_fn fn;
	void *ctx;
	struct buf *warnings;
};

static int read_options(const struct reader *rd, const char *line, const char *end, int number,
	struct gq_err *err)
{
	_cleanup_free_ char *text = NULL;
	struct words w;
	int r = split(line, end, &w, err);

	text = w.text;
	if (r < 0)
		return r;
	for (struct usage_scan scan = USAGE_SCAN(w.n, w.list);;) {
		const char *value = NULL;
		int o = usage_next(&scan, job_options, JOB_OPTION_N, &value, err);

		if (o == USAGE_END)
			return 0;
		if (o == USAGE_WORD)
			return gq_err_set(err, -EINVAL, "'%.60s' is not an option", value);
		if (o < 0)
			return o;
		r = rd->fn(rd->ctx, (enum job_option)o, value, err);
		if (r < 0)
			return r;
		if (job_option_kind((enum job_option)o) == OPTION_IS_IGNORED)
			warn(rd->warnings, rd->name, number, (enum job_option)o);
	}
}

/* Behind "#GQ" or "#SBATCH" and a blank, or NULL when the line is another comment. */
static const char *directive(const char *line, const char *end)
{
	static const char *const marks[] = {"#GQ", "#SBATCH"};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		size_t n = strlen(marks[i]);

		if ((size_t)(end - line) >= n && !memcmp(line, marks[i], n) &&
			(line + n == end || line[n] == ' ' || line[n] == '\t'))
			return line + n;
	}
	return NULL;
}

int job_directives_read(const char *script, size_t len, const char *script_name, job_directive_fn fn,
	void *ctx, struct buf *ret_warnings, struct gq_err *err)
{
	struct reader rd = {script_name, fn, ctx, ret_warnings};
	const char *stop = script + len, *next;
	int number = 1, r = 0;

	for (const char *line = script; line < stop; line = next, number++) {
		const char *end = memchr(line, '\n', (size_t)(stop - line)), *rest, *p = line;

		if (!end)
			end = stop;
		next = end < stop ? end + 1 : stop;
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (p < end && *p != '#')
			break;
		rest = directive(line, end);
		if (!rest)
			continue;
		if (end - line > (ptrdiff_t)JOB_LINE_MAX)
			r = gq_err_set(err, -EINVAL, "is longer than %u bytes", JOB_LINE_MAX);
		else
			r = read_options(&rd, rest, end, number, err);
		if (r < 0)
			return gq_err_prefix(err, r, "%s: line %d", script_name, number);
	}
	return 0;
}

/* ---- the plain way: everything into one specification ---- */

struct into {
	struct job_spec *spec;
	const bool *given; /* by option; NULL = none */
	gq_time now;
};

static int set_one(void *ctx, enum job_option o, const char *value, struct gq_err *err)
{
	const struct into *to = ctx;

	if (job_option_kind(o) == OPTION_IS_COMMAND)
		return 0;
	if (to->given && to->given[job_option_group(o)]) {
		struct job_spec scratch;
		int r;

		job_spec_init(&scratch);
		r = job_option_set(&scratch, o, value, to->now, err);
		job_spec_clear(&scratch);
		return r;
	}
	return job_option_set(to->spec, o, value, to->now, err);
}

int job_spec_directives(struct job_spec *s, const char *script_name, const bool *given, gq_time now,
	struct gq_err *err)
{
	struct into to = {s, given, now};

	return job_directives_read(s->script ? s->script : "", s->script ? s->script_len : 0,
		script_name, set_one, &to, NULL, err);
}
