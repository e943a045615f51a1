/* SPDX-License-Identifier: MIT
 * job_spec.h - what a user asks for: parsed, checked, printed, carried as JSON
 * One option table (options.def) serves gqsub's command line, #GQ and #SBATCH lines, the JSON of
 * POST /v1/jobs, --help and the manual page.
 * Promises: a struct that job_spec_check() accepted can be submitted; JSON → spec → JSON is the same. */
#ifndef GQ_JOB_JOB_SPEC_H
#define GQ_JOB_JOB_SPEC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gqtime.h"

#define JOB_SCRIPT_MAX (4u << 20)   /* bytes of a script */
#define JOB_ENV_MAX    (1u << 20)   /* bytes of the environment */
#define JOB_LINE_MAX   (64u << 10)  /* a longer #GQ line is refused */
#define JOB_NAME_MAX   128
#define JOB_GPUS_MAX   16

enum job_checkpoint { JOB_CHECKPOINT_AUTO, JOB_CHECKPOINT_APP, JOB_CHECKPOINT_NONE };

struct job_spec {
	char *name, *account, *comment, *gpu_type; /* owned; NULL = not given */
	char *cwd;                                 /* owned; absolute */
	char *input, *output, *error;              /* owned; patterns, relative to cwd; NULL = default */
	char *script;                              /* owned; bytes, may not contain NUL */
	size_t script_len;
	char **argv;                               /* owned; behind the script; NULL-terminated or NULL */
	char **env;                                /* owned; "NAME=value"; NULL-terminated or NULL */
	int gpus;                                  /* 1..JOB_GPUS_MAX */
	int64_t vram_mib;                          /* per card; 0 = not given */
	gq_time time_limit;                        /* GQ_NEVER = none */
	gq_time time_min;                          /* 0 = not given */
	gq_time grace;                             /* GQ_NEVER = not given */
	gq_time begin_at;                          /* 0 = now */
	int signal;                                /* 0 = none */
	gq_time signal_before;                     /* 60 s where --signal names no time */
	enum job_checkpoint checkpoint;
	int checkpoint_exit_code;                  /* 1..255, 85 */
	int64_t priority;                          /* -1 = not given */
	int level;                                 /* -q low|normal|high: -1, 0, 1 */
	bool requeue, hold, truncate;
	mode_t umask;
	struct rlimit rlimits[RLIM_NLIMITS];       /* as at submission */
	bool has_rlimits;
};

void job_spec_init(struct job_spec *s); /* defaults */
void job_spec_clear(struct job_spec *s);

/* One option by its long name ("vram") and text; sets the field. -EINVAL with "--vram: …",
 * -ENOENT unknown option. @now is for --begin. */
int job_spec_set(struct job_spec *s, const char *option, const char *value, gq_time now,
	struct gq_err *err);
/* The #GQ / #SBATCH lines of s->script; options that @given marks (set on the command line; indexed
 * by job_option_group(), see option.h; NULL = none) win. Errors begin with "<name>: line N: ". */
int job_spec_directives(struct job_spec *s, const char *script_name, const bool *given,
	gq_time now, struct gq_err *err);
/* All that can be checked without the machine: ranges, lengths, UTF-8, contradictions, script
 * (empty, binary, CRLF, no shebang). */
int job_spec_check(const struct job_spec *s, struct gq_err *err);

/* The body of POST /v1/jobs, see fields.def: what differs from the defaults. Decoding fills *ret only
 * on success (job_spec_clear() it), never checks limits (job_spec_check()), and names the field
 * first: "vram: '90x' is not a size". */
void job_spec_to_json(const struct job_spec *s, struct buf *out);
int job_spec_from_json(const char *json, size_t len, gq_time now, struct job_spec *ret,
	struct gq_err *err);

/* Output patterns %j %J %A %a %u %x %N %r %%, with %4j padding; NULL is gq-%j.out. A slash in a name
 * becomes an underscore. Result absolute if @cwd is; caller frees. */
int job_path_expand(const char *pattern, const char *cwd, uint32_t job, uint32_t incarnation,
	const char *user, const char *name, const char *host, char **ret, struct gq_err *err);

#endif
