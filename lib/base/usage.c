/* SPDX-License-Identifier: MIT
 * usage.c - one table of options: read from argv, printed by --help, expanded into the manual page */
#include "base/usage.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

#define HELP_COLUMN 32
#define MAN_COLUMN  66

/* "[FILE]", but not "[TYPE:]N" */
static bool is_optional(const char *arg)
{
	return arg[0] == '[' && strchr(arg, ']') == arg + strlen(arg) - 1;
}

int usage_find(const struct usage_option *options, size_t n, const char *name, size_t len,
	struct gq_err *err)
{
	int found = -ENOENT;

	for (size_t i = 0; i < n; i++) {
		const char *full = options[i].long_name;

		if (strncmp(full, name, len))
			continue;
		if (!full[len])
			return (int)i;
		if (found >= 0)
			return gq_err_set(err, -EINVAL, "option --%.*s is ambiguous: --%s, --%s",
				(int)len, name, options[found].long_name, full);
		found = (int)i;
	}
	if (found < 0)
		gq_err_set(err, -ENOENT, "unknown option --%.*s: see --help",
			(int)(len > 60 ? 60 : len), name);
	return found;
}

static int next_long(struct usage_scan *scan, const struct usage_option *options, size_t n,
	const char **ret_value, struct gq_err *err)
{
	const char *name = scan->argv[scan->next++] + 2;
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	int o = usage_find(options, n, name, len, err);

	if (o < 0)
		return -EINVAL;
	if (value && !options[o].arg)
		return gq_err_set(err, -EINVAL, "option --%s takes no value", options[o].long_name);
	if (!value && options[o].arg && !is_optional(options[o].arg)) {
		if (scan->next >= scan->argc)
			return gq_err_set(err, -EINVAL, "option --%s needs a value: --%s=%s",
				options[o].long_name, options[o].long_name, options[o].arg);
		value = scan->argv[scan->next++];
	}
	*ret_value = value;
	return o;
}

static int next_short(struct usage_scan *scan, const struct usage_option *options, size_t n,
	const char **ret_value, struct gq_err *err)
{
	char c = *scan->cluster++;
	size_t o;

	for (o = 0; o < n; o++)
		if (options[o].short_name == c)
			break;
	if (o == n)
		return gq_err_set(err, -EINVAL, "unknown option -%c: see --help", c);
	*ret_value = NULL;
	if (!options[o].arg || is_optional(options[o].arg)) {
		if (!*scan->cluster)
			scan->cluster = NULL;
		return (int)o;
	}
	if (*scan->cluster)
		*ret_value = scan->cluster;
	else if (scan->next < scan->argc)
		*ret_value = scan->argv[scan->next++];
	else
		return gq_err_set(err, -EINVAL, "option -%c needs a value: -%c %s", c, c,
			options[o].arg);
	scan->cluster = NULL;
	return (int)o;
}

int usage_next(struct usage_scan *scan, const struct usage_option *options, size_t n,
	const char **ret_value, struct gq_err *err)
{
	const char *word;

	if (scan->cluster)
		return next_short(scan, options, n, ret_value, err);
	if (scan->next >= scan->argc)
		return USAGE_END;
	word = scan->argv[scan->next];
	if (!scan->only_words && !strcmp(word, "--")) {
		scan->only_words = 1;
		scan->next++;
		return usage_next(scan, options, n, ret_value, err);
	}
	if (scan->only_words || word[0] != '-' || !word[1]) {
		scan->next++;
		*ret_value = word;
		return USAGE_WORD;
	}
	if (word[1] == '-')
		return next_long(scan, options, n, ret_value, err);
	scan->next++;
	scan->cluster = word + 1;
	return next_short(scan, options, n, ret_value, err);
}

/* "--user=USER", "--wait[=N]" */
static void add_name(const struct usage_option *o, struct buf *out)
{
	buf_fmt(out, "--%s", o->long_name);
	if (o->arg && is_optional(o->arg))
		buf_fmt(out, "[=%s", o->arg + 1);
	else if (o->arg)
		buf_fmt(out, "=%s", o->arg);
}

void usage_help(const struct usage_option *options, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		size_t start = out->len, width;

		if (!options[i].help)
			continue;
		if (options[i].short_name)
			buf_fmt(out, "  -%c, ", options[i].short_name);
		else
			buf_str(out, "      ");
		add_name(&options[i], out);
		width = out->len - start;
		if (width >= HELP_COLUMN)
			buf_fmt(out, "\n%*s", HELP_COLUMN, "");
		else
			buf_fmt(out, "%*s", (int)(HELP_COLUMN - width), "");
		buf_fmt(out, "%s\n", options[i].help);
	}
}

void usage_man_text(const char *text, struct buf *out)
{
	int column = 0;
	bool first = true;

	for (const char *p = text; *p; p++, column++) {
		if (*p == '\n' || (*p == ' ' && column >= MAN_COLUMN)) {
			buf_chr(out, '\n');
			first = true;
			column = -1;
			continue;
		}
		if (first && (*p == '.' || *p == '\''))
			buf_str(out, "\\&");
		if (*p == '\\' && p[1] != 'f')
			buf_str(out, "\\e");
		else if (*p == '-')
			buf_str(out, "\\-");
		else
			buf_chr(out, *p);
		first = false;
	}
}

void usage_man(const struct usage_option *options, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_buf_ struct buf name = BUF_INIT;
		const struct usage_option *o = &options[i];

		if (!o->help)
			continue;
		buf_str(out, ".TP\n");
		if (o->short_name)
			buf_fmt(out, "\\fB\\-%c\\fR, ", o->short_name);
		buf_fmt(&name, "\\fB--%s\\fR", o->long_name);
		if (o->arg && is_optional(o->arg))
			buf_fmt(&name, "[=\\fI%.*s\\fR]", (int)strlen(o->arg) - 2, o->arg + 1);
		else if (o->arg)
			buf_fmt(&name, "=\\fI%s\\fR", o->arg);
		usage_man_text(buf_c(&name), out);
		buf_chr(out, '\n');
		usage_man_text(o->man ? o->man : o->help, out);
		buf_chr(out, '\n');
	}
}
