/* SPDX-License-Identifier: MIT
 * option.h - the option table of a job specification, and the lines of a script that use it
 * Promises: one table (options.def) for argv, #GQ and #SBATCH lines, --help and the manual page.
 * Leaves to others: the options of gqsub itself (OPTION_IS_COMMAND), which gqsub understands. */
#ifndef GQ_JOB_OPTION_H
#define GQ_JOB_OPTION_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gqtime.h"
#include "base/usage.h"
#include "job/job_spec.h"

enum job_option {
#define OPTION(id, ...)  OPTION_##id,
#define COMMAND(id, ...) OPTION_##id,
#define IGNORED(id, ...) OPTION_##id,
#include "job/options.def"
#undef OPTION
#undef COMMAND
#undef IGNORED
	JOB_OPTION_N
};

enum job_option_kind { OPTION_IS_SPEC, OPTION_IS_COMMAND, OPTION_IS_IGNORED };

extern const struct usage_option job_options[JOB_OPTION_N]; /* for usage_next(), usage_help() … */

enum job_option_kind job_option_kind(enum job_option o);
/* The option whose place it takes: --gres and --gpus are one. */
enum job_option job_option_group(enum job_option o);

/* Sets what an OPTION_IS_SPEC stands for; an OPTION_IS_IGNORED is checked only. Errors begin with
 * "--vram: ". */
int job_option_set(struct job_spec *s, enum job_option o, const char *value, gq_time now,
	struct gq_err *err);

/* Called for each option of each directive line, in order. Its error gets "<name>: line N: " in
 * front and ends the walk. */
typedef int (*job_directive_fn)(void *ctx, enum job_option o, const char *value, struct gq_err *err);

/* Reads the #GQ and #SBATCH lines: up to the first line that is neither blank nor a comment,
 * without any shell expansion; 'single', "double" quotes and \ are understood, a # begins a
 * comment. One line of @ret_warnings (NULL allowed) for each option that has no meaning here. */
int job_directives_read(const char *script, size_t len, const char *script_name, job_directive_fn fn,
	void *ctx, struct buf *ret_warnings, struct gq_err *err);

/* The part of job_spec_check() that is about the script's bytes. */
int job_script_check(const char *script, size_t len, struct gq_err *err);

#endif
