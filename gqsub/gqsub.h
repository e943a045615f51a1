/* SPDX-License-Identifier: MIT
 * gqsub.h - the parts of gqsub: options from four places, the script, the environment, the wait
 * gqsub is started once per job by scripts that submit thousands: no library but libc, no locale, no
 * name lookups (gqd knows its peer), nothing is freed that the end of the process frees. */
#ifndef GQSUB_GQSUB_H
#define GQSUB_GQSUB_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "client/client.h"
#include "job/job_spec.h"
#include "job/option.h"

#define EXIT_REFUSED 1
#define EXIT_USAGE   2

/* Where an option was found; a smaller one wins. */
enum source { FROM_NOWHERE, FROM_ARGV, FROM_GQSUB_ENV, FROM_SBATCH_ENV, FROM_SCRIPT };

struct submission {
	struct job_spec spec;
	enum source from[JOB_OPTION_N]; /* by group */
	gq_time now;
	const char *script_path;        /* borrowed; NULL = standard input, or --wrap */
	const char *default_name;       /* borrowed; where no option names the job */
	const char *wrap, *export_list; /* owned by the process */
	bool wait, parsable, test_only, quiet, print_json;
	bool help, usage, version, help_man;
	struct buf warnings;            /* lines */
};

/* options.c */
int options_from_argv(struct submission *sub, int argc, char **argv, struct gq_err *err);
int options_from_env(struct submission *sub, struct gq_err *err);
int options_from_script(struct submission *sub, struct gq_err *err);

/* script.c: fills spec.script, also for --wrap, and default_name. */
int script_read(struct submission *sub, struct gq_err *err);

/* capture.c: cwd, umask, limits, environment. */
int capture(struct submission *sub, struct gq_err *err);

/* watch.c: follows job @id to its end, a line on stderr per change; returns the exit status. */
int watch(struct client *c, int64_t id, bool quiet);

#endif
