/* SPDX-License-Identifier: MIT
 * option.c - the option table, made from options.def */
#include "job/option.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "job/types.h"

struct row {
	enum job_option_kind kind;
	enum job_option group;
	const struct job_type *type; /* OPTION_IS_SPEC */
	size_t offset;
	int most; /* OPTION_IS_IGNORED: the largest number that makes sense, 0 = anything */
};

const struct usage_option job_options[JOB_OPTION_N] = {
#define OPTION(id, name, short_name, arg, group, type, member, help, man)                         \
	[OPTION_##id] = {name, short_name, arg, help, man},
#define COMMAND(id, name, short_name, arg, help, man)                                             \
	[OPTION_##id] = {name, short_name, arg, help, man},
#define IGNORED(id, name, short_name, arg, most) [OPTION_##id] = {name, short_name, arg, NULL, NULL},
#include "job/options.def"
#undef OPTION
#undef COMMAND
#undef IGNORED
};

/* WHOLE is the specification's own place: offset 0. */
#define WHOLE         name
#define OFFSET(member) offsetof(struct job_spec, member)
_Static_assert(OFFSET(WHOLE) == 0, "types that set several members are handed the whole struct");

static const struct row rows[JOB_OPTION_N] = {
#define OPTION(id, name, short_name, arg, group, type, member, help, man)                         \
	[OPTION_##id] = {OPTION_IS_SPEC, OPTION_##group, &job_type_##type, OFFSET(member), 0},
#define COMMAND(id, ...)                         [OPTION_##id] = {OPTION_IS_COMMAND, OPTION_##id, NULL, 0, 0},
#define IGNORED(id, name, short_name, arg, most) [OPTION_##id] = {OPTION_IS_IGNORED, OPTION_##id, NULL, 0, most},
#include "job/options.def"
#undef OPTION
#undef COMMAND
#undef IGNORED
};

enum job_option_kind job_option_kind(enum job_option o)
{
	return rows[o].kind;
}

enum job_option job_option_group(enum job_option o)
{
	return rows[o].group;
}

/* "2" and the range "1-2" of --nodes */
static int check_ignored(enum job_option o, const char *value, struct gq_err *err)
{
	const char *last;
	int64_t n;

	if (!rows[o].most || !value)
		return 0;
	last = strrchr(value, '-');
	if (parse_int(last && last > value ? last + 1 : value, 1, INT32_MAX, &n, err) < 0)
		return gq_err_prefix(err, -EINVAL, "--%s", job_options[o].long_name);
	if (n > rows[o].most)
		return gq_err_set(err, -EINVAL, "--%s: asked for %lld, gq runs on one machine",
			job_options[o].long_name, (long long)n);
	return 0;
}

int job_option_set(struct job_spec *s, enum job_option o, const char *value, gq_time now,
	struct gq_err *err)
{
	int r;

	if (rows[o].kind == OPTION_IS_IGNORED)
		return check_ignored(o, value, err);
	r = rows[o].type->from_text((char *)s + rows[o].offset, value, now, err);
	return r < 0 ? gq_err_prefix(err, r, "--%s", job_options[o].long_name) : 0;
}

int job_spec_set(struct job_spec *s, const char *option, const char *value, gq_time now,
	struct gq_err *err)
{
	for (int o = 0; o < JOB_OPTION_N; o++) {
		if (strcmp(job_options[o].long_name, option) || rows[o].kind == OPTION_IS_COMMAND)
			continue;
		if (!value && rows[o].kind == OPTION_IS_SPEC && job_options[o].arg)
			return gq_err_set(err, -EINVAL, "--%s: needs a value", option);
		return job_option_set(s, (enum job_option)o, value, now, err);
	}
	return gq_err_set(err, -ENOENT, "unknown option --%.60s", option);
}
