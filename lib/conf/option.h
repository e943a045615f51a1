/* SPDX-License-Identifier: MIT
 * option.h - the rows of options.def, and values as text
 * Leaves to others: reading the file (conf.c), printing all of them (print.c). */
#ifndef GQ_CONF_OPTION_H
#define GQ_CONF_OPTION_H

#include "conf/conf.h"

enum option_type {
	OPTION_SECTION, /* not an option: a heading */
	OPTION_BOOL, OPTION_INT, OPTION_RATIO, OPTION_DURATION, OPTION_FILL, OPTION_SIZE,
	OPTION_WORD, OPTION_FLAG, /* one of two words, a bool in memory */
	OPTION_TEXT, OPTION_PATH
};

struct option {
	const char *path; /* of a section: its name, "" = outside of groups */
	enum option_type type;
	size_t offset;
	int64_t min, max;
	const char *words; /* OPTION_WORD and OPTION_FLAG: "a|b|c" */
	const char *fallback;
	bool reload;
	const char *help;
};

extern const struct option conf_options[];
extern const size_t conf_n_options;
extern const struct option conf_service_options[]; /* of struct conf_service; path = last part */
extern const size_t conf_n_service_options;

const struct option *option_find(const char *path); /* NULL = none; never a section */
const char *option_nearest(const char *path);       /* a path that may have been meant, or NULL */

/* "0s to 1d", "always, busy or never", … what a value may be. Returns @buf. */
const char *option_allowed(const struct option *o, char *buf, size_t size);
const char *option_type_name(const struct option *o); /* "a duration" */

/* @base: the struct gq_conf, or conf_service, that the option is a field of. -EINVAL with
 * "'x' is not allowed; allowed: …". Text fields are replaced. */
int option_parse(const struct option *o, const char *text, void *base, struct gq_err *err);
void option_print(const struct option *o, const void *base, struct buf *ret); /* as in a file */
bool option_same(const struct option *o, const struct gq_conf *a, const struct gq_conf *b);
void duration_print(gq_time d, struct buf *ret); /* "90s", "2h", "never": parse_duration() reads it */
void text_print(const char *text, struct buf *ret); /* in quotes, as in a file */
void size_print(int64_t mib, struct buf *ret);   /* "30G", "512M" */

#endif
