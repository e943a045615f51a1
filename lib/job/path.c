/* SPDX-License-Identifier: MIT
 * path.c - where a job's output goes: %j %J %A %a %u %x %N %r %% */
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "job/job_spec.h"

struct values {
	uint32_t job, incarnation;
	const char *user, *name, *host;
};

static void add_number(struct buf *out, int width, uint32_t v)
{
	buf_fmt(out, "%0*u", width, (unsigned)v);
}

/* A name never makes a new folder: each slash becomes an underscore. */
static void add_word(struct buf *out, const char *word)
{
	for (const char *p = word ? word : ""; *p; p++)
		buf_chr(out, *p == '/' ? '_' : *p);
}

static int add_pattern(char letter, int width, const struct values *v, struct buf *out)
{
	switch (letter) {
	case 'j':
	case 'J':
	case 'A': add_number(out, width, v->job); return 0;
	case 'a': add_number(out, width, 0); return 0;
	case 'r': add_number(out, width, v->incarnation ? v->incarnation - 1 : 0); return 0;
	case 'u': add_word(out, v->user); return 0;
	case 'x': add_word(out, v->name); return 0;
	case 'N': add_word(out, v->host); return 0;
	case '%': buf_chr(out, '%'); return 0;
	default: return -EINVAL;
	}
}

static int expand(const char *pattern, const struct values *v, struct buf *out, struct gq_err *err)
{
	for (const char *p = pattern; *p; p++) {
		const char *start = p;
		int width = 0;

		if (*p != '%') {
			buf_chr(out, *p);
			continue;
		}
		for (p++; *p >= '0' && *p <= '9'; p++)
			width = width < 100 ? width * 10 + (*p - '0') : width;
		if (width > 10 || !*p || add_pattern(*p, width, v, out) < 0)
			return gq_err_set(err, -EINVAL,
				"'%.60s': '%.*s' is none of %%j %%J %%A %%a %%u %%x %%N %%r %%%%",
				pattern, (int)(p - start) + (*p ? 1 : 0), start);
	}
	return 0;
}

int job_path_expand(const char *pattern, const char *cwd, uint32_t job, uint32_t incarnation,
	const char *user, const char *name, const char *host, char **ret, struct gq_err *err)
{
	struct values v = {job, incarnation, user, name, host};
	_cleanup_buf_ struct buf out = BUF_INIT;
	int r;

	if (!pattern)
		pattern = "gq-%j.out";
	if (pattern[0] != '/')
		buf_fmt(&out, "%s/", strcmp(cwd, "/") ? cwd : "");
	r = expand(pattern, &v, &out, err);
	if (r < 0)
		return r;
	if (out.len >= PATH_MAX)
		return gq_err_set(err, -EINVAL, "'%.60s…' becomes longer than %d bytes", pattern,
			PATH_MAX - 1);
	*ret = buf_take(&out);
	return 0;
}
