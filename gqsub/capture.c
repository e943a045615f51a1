/* SPDX-License-Identifier: MIT
 * capture.c - what the job inherits from here: directory, umask, limits, environment */
#include "gqsub.h"

#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"

static int capture_cwd(struct job_spec *s, struct gq_err *err)
{
	char here[PATH_MAX];
	char *given = s->cwd;

	if (given && given[0] == '/')
		return 0;
	if (!getcwd(here, sizeof(here)))
		return gq_err_sys(err, -errno, "the working directory");
	if (!given)
		s->cwd = xstrdup(here);
	else
		s->cwd = xasprintf("%s/%s", here, given);
	free(given);
	return 0;
}

static void capture_limits(struct job_spec *s)
{
	s->umask = umask(077);
	umask(s->umask);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &s->rlimits[i]) < 0)
			s->rlimits[i] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	s->has_rlimits = true;
}

/* ---- --export ---- */

/* Is the variable NAME[=…] of length @len kept by --export=NONE and by a list without ALL? */
static bool is_basic(const char *name, size_t len)
{
	static const char *const basic[] = {"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "TZ"};

	for (size_t i = 0; i < ARRAY_LEN(basic); i++)
		if (strlen(basic[i]) == len && !memcmp(basic[i], name, len))
			return true;
	return false;
}

struct word {
	const char *text, *equals; /* equals NULL: no value is given */
	size_t len, name_len;
};

/* The next word of a comma list; false at its end. */
static bool next_word(const char **p, struct word *w)
{
	while (**p == ',')
		(*p)++;
	if (!**p)
		return false;
	w->text = *p;
	w->len = strcspn(*p, ",");
	w->equals = memchr(w->text, '=', w->len);
	w->name_len = w->equals ? (size_t)(w->equals - w->text) : w->len;
	*p += w->len;
	return true;
}

static bool word_is(const struct word *w, const char *name, size_t len)
{
	return w->name_len == len && !memcmp(w->text, name, len);
}

static bool lists(const char *list, const char *name, size_t len, bool with_value)
{
	struct word w;

	for (const char *p = list; next_word(&p, &w);)
		if (word_is(&w, name, len) && !!w.equals == with_value)
			return true;
	return false;
}

static bool is_exported(const struct submission *sub, bool all, const char *name, size_t len)
{
	if (!sub->export_list)
		return true;
	if (lists(sub->export_list, name, len, true))
		return false; /* the list has another value for it */
	return all || is_basic(name, len) || lists(sub->export_list, name, len, false);
}

/* Entries are borrowed from environ: the process ends before they do. */
static size_t export_present(struct submission *sub, char **env)
{
	bool all = !sub->export_list || lists(sub->export_list, "ALL", 3, false);
	size_t n = 0;

	for (char **e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');

		if (!equals || equals == *e ||
			!is_exported(sub, all, *e, (size_t)(equals - *e)))
			continue;
		if (utf8_fault(*e, strlen(*e)))
			buf_fmt(&sub->warnings, "environment: %.*s is not UTF-8 and is left out\n",
				(int)(equals - *e), *e);
		else
			env[n++] = *e;
	}
	return n;
}

static int capture_env(struct submission *sub, struct gq_err *err)
{
	const char *list = sub->export_list ? sub->export_list : "";
	size_t n = 1;
	struct word w;
	char **env;

	for (char **e = environ; *e; e++)
		n++;
	for (const char *p = list; next_word(&p, &w);)
		n++;
	env = xnew_n(char *, n);
	n = export_present(sub, env);
	for (const char *p = list; next_word(&p, &w);) {
		if (!w.name_len)
			return gq_err_set(err, -EINVAL, "--export: '%.*s' has no name", (int)w.len,
				w.text);
		if (w.equals)
			env[n++] = xstrndup(w.text, w.len);
	}
	sub->spec.env = env;
	return 0;
}

int capture(struct submission *sub, struct gq_err *err)
{
	int r = capture_cwd(&sub->spec, err);

	if (r < 0)
		return r;
	capture_limits(&sub->spec);
	return capture_env(sub, err);
}
