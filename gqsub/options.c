/* SPDX-License-Identifier: MIT
 * options.c - options from the command line, the environment and the script; the nearer one wins */
#include "gqsub.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"

static void set_command(struct submission *sub, enum job_option o, const char *value)
{
	switch (o) {
	case OPTION_EXPORT: sub->export_list = xstrdup(value); break;
	case OPTION_WRAP: sub->wrap = value; break;
	case OPTION_WAIT: sub->wait = true; break;
	case OPTION_PARSABLE: sub->parsable = true; break;
	case OPTION_TEST_ONLY: sub->test_only = true; break;
	case OPTION_PRINT_JSON: sub->print_json = true; break;
	case OPTION_QUIET: sub->quiet = true; break;
	case OPTION_HELP: sub->help = true; break;
	case OPTION_USAGE: sub->usage = true; break;
	case OPTION_VERSION: sub->version = true; break;
	case OPTION_HELP_MAN: sub->help_man = true; break;
	default: break;
	}
}

/* An option that a nearer place gave too is only checked. */
static int check_only(enum job_option o, const char *value, gq_time now, struct gq_err *err)
{
	struct job_spec scratch;
	int r;

	job_spec_init(&scratch);
	r = job_option_set(&scratch, o, value, now, err);
	job_spec_clear(&scratch);
	return r;
}

static int apply(struct submission *sub, enum source source, enum job_option o, const char *value,
	struct gq_err *err)
{
	enum source *from = &sub->from[job_option_group(o)];
	bool wins = *from == FROM_NOWHERE || *from == source;
	int r = 0;

	if (job_option_kind(o) == OPTION_IS_COMMAND) {
		if (wins)
			set_command(sub, o, value);
	} else if (wins) {
		r = job_option_set(&sub->spec, o, value, sub->now, err);
	} else {
		r = check_only(o, value, sub->now, err);
	}
	if (wins)
		*from = source;
	return r;
}

int options_from_argv(struct submission *sub, int argc, char **argv, struct gq_err *err)
{
	struct usage_scan scan = USAGE_SCAN(argc, argv);

	for (;;) {
		const char *value = NULL;
		int o = usage_next(&scan, job_options, JOB_OPTION_N, &value, err);

		if (o == USAGE_END)
			return 0;
		if (o == USAGE_WORD) {
			sub->script_path = value;
			if (scan.next < argc)
				sub->spec.argv = &argv[scan.next];
			return 0;
		}
		if (o < 0)
			return o;
		if (apply(sub, FROM_ARGV, (enum job_option)o, value, err) < 0)
			return -EINVAL;
		if (job_option_kind((enum job_option)o) == OPTION_IS_IGNORED)
			buf_fmt(&sub->warnings, "--%s has no meaning here and is ignored\n",
				job_options[o].long_name);
	}
}

/* ---- SBATCH_JOB_NAME and GQSUB_JOB_NAME stand for --job-name ---- */

/* The option of a variable named behind its prefix, or -ENOENT. */
static int option_of(const char *name, size_t len)
{
	char option[40];

	if (len == 9 && !memcmp(name, "TIMELIMIT", 9))
		return OPTION_TIME;
	if (len >= sizeof(option))
		return -ENOENT;
	for (size_t i = 0; i < len; i++)
		option[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	option[len] = '\0';
	for (int o = 0; o < JOB_OPTION_N; o++)
		if (!strcmp(job_options[o].long_name, option))
			return o;
	return -ENOENT;
}

static bool fits_env(int o)
{
	return o >= 0 && (job_option_kind((enum job_option)o) == OPTION_IS_SPEC || o == OPTION_EXPORT ||
				 o == OPTION_WAIT || o == OPTION_PARSABLE || o == OPTION_QUIET);
}

static int from_prefix(struct submission *sub, const char *prefix, enum source source,
	struct gq_err *err)
{
	size_t n = strlen(prefix);

	for (char **e = environ; *e; e++) {
		const char *equals;
		int o;

		if (strncmp(*e, prefix, n))
			continue;
		equals = strchr(*e, '=');
		o = equals ? option_of(*e + n, (size_t)(equals - *e) - n) : -ENOENT;
		if (!fits_env(o))
			continue;
		if (apply(sub, source, (enum job_option)o, equals + 1, err) < 0)
			return gq_err_prefix(err, -EINVAL, "%.*s", (int)(equals - *e), *e);
	}
	return 0;
}

int options_from_env(struct submission *sub, struct gq_err *err)
{
	int r = from_prefix(sub, "GQSUB_", FROM_GQSUB_ENV, err);

	return r < 0 ? r : from_prefix(sub, "SBATCH_", FROM_SBATCH_ENV, err);
}

/* ---- #GQ and #SBATCH lines ---- */

static int from_line(void *ctx, enum job_option o, const char *value, struct gq_err *err)
{
	struct submission *sub = ctx;

	if (job_option_kind(o) == OPTION_IS_COMMAND && !fits_env(o) && o != OPTION_TEST_ONLY)
		return gq_err_set(err, -EINVAL, "--%s belongs on the command line",
			job_options[o].long_name);
	return apply(sub, FROM_SCRIPT, o, value, err);
}

int options_from_script(struct submission *sub, struct gq_err *err)
{
	if (sub->wrap)
		return 0;
	return job_directives_read(sub->spec.script, sub->spec.script_len,
		sub->script_path ? sub->script_path : "stdin", from_line, sub, &sub->warnings, err);
}
