/* SPDX-License-Identifier: MIT
 * usage.h - one table of options: read from argv, printed by --help, expanded into the manual page
 *
 *     static const struct usage_option options[] = {
 *             {"json", 0, NULL, "print JSON", NULL},
 *             {"user", 'u', "USER", "only the jobs of USER", "Longer text for the manual page."},
 *     };
 *     struct usage_scan scan = USAGE_SCAN(argc, argv);
 *     while ((o = usage_next(&scan, options, ARRAY_LEN(options), &value, &err)) != USAGE_END)
 *             if (o == USAGE_WORD) … a positional word in value …
 *             else if (o < 0) … print err.text, exit 2 …
 *             else … options[o] with value (NULL if it takes none) …
 *
 * As getopt_long(): --name=value, --name value, -nvalue, -n value, -abc, unique abbreviations of
 * long names, "--" ends the options. A program that stops at its first word (gqsub: the rest
 * belongs to the script) stops calling; scan.next is the index of the word behind it.
 * The build fills @OPTIONS@ of PROGRAM.N.in from `PROGRAM --help-man`: see man_fill in lib/base/local.mk.
 * Leaves to others: what an option means; printing (everything is appended to a struct buf). */
#ifndef GQ_BASE_USAGE_H
#define GQ_BASE_USAGE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct usage_option {
	const char *long_name; /* without dashes */
	char short_name;       /* 0 = none */
	const char *arg;       /* "FILE"; "[FILE]" = optional, only as --name=FILE; NULL = none */
	const char *help;      /* one line for --help; NULL = hidden (an alias, --help-man) */
	const char *man;       /* for the manual page; \fB…\fR allowed; NULL = as help */
};

struct usage_scan {
	int argc, next;
	char **argv;         /* borrowed */
	const char *cluster; /* rest of "-abc"; NULL between words */
	int only_words;      /* "--" was seen */
};

#define USAGE_SCAN(argc, argv) {(argc), 1, (argv), NULL, 0}
#define USAGE_END  (-1)
#define USAGE_WORD (-2)

/* Index into @options, USAGE_WORD, USAGE_END, or -EINVAL with one line such as
 * "unknown option --frob: see --help". */
int usage_next(struct usage_scan *scan, const struct usage_option *options, size_t n,
	const char **ret_value, struct gq_err *err);

/* Index of @name (full, or a unique beginning of it), -ENOENT, or -EINVAL (ambiguous). */
int usage_find(const struct usage_option *options, size_t n, const char *name, size_t len,
	struct gq_err *err);

/* "  -u, --user=USER      only the jobs of USER", a line each. */
void usage_help(const struct usage_option *options, size_t n, struct buf *out);

/* man(7) source, a .TP entry each. */
void usage_man(const struct usage_option *options, size_t n, struct buf *out);

/* Plain text as man(7) source: dashes, backslashes (but \fB…\fR) and leading dots made safe, long
 * lines broken at blanks. */
void usage_man_text(const char *text, struct buf *out);

#endif
