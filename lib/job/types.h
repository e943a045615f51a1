/* SPDX-License-Identifier: MIT
 * types.h - the kinds of value a job specification is made of
 * A type knows its text form (options, JSON strings), its number form (JSON numbers) and how it is
 * written as JSON, so that the tables (options.def, fields.def) only name types.
 * Promises: a field is changed only on success; every error is one line without a prefix.
 * Leaves to others: naming the option or field in the error (callers), limits (check.c). */
#ifndef GQ_JOB_TYPES_H
#define GQ_JOB_TYPES_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gqtime.h"

enum job_form { FORM_SCALAR, FORM_BOOL, FORM_SCRIPT, FORM_STRINGS, FORM_RLIMITS };

struct job_type {
	const char *wants;  /* for errors and documents: "a size: \"24G\" or a number of MiB" */
	enum job_form form; /* of its JSON; anything but FORM_SCALAR is read by json_decode.c */
	size_t size;        /* bytes of the member; 0 = whether it is set is known by its pointer */
	int (*from_text)(void *field, const char *text, gq_time now, struct gq_err *err);
	int (*from_number)(void *field, double number, struct gq_err *err); /* NULL = not allowed */
	void (*encode)(const void *field, struct buf *out);
};

/* A member of struct job_spec each. */
extern const struct job_type job_type_text;       /* char * */
extern const struct job_type job_type_size;       /* int64_t, MiB */
extern const struct job_type job_type_duration;   /* gq_time; a bare number is seconds */
extern const struct job_type job_type_minutes;    /* the same, a bare number is minutes; 0 = none */
extern const struct job_type job_type_when;       /* gq_time */
extern const struct job_type job_type_cards;      /* int, 1..JOB_GPUS_MAX */
extern const struct job_type job_type_exit_code;  /* int, 1..255 */
extern const struct job_type job_type_priority;   /* int64_t, 0..2^32-1 */
extern const struct job_type job_type_signal;     /* int */
extern const struct job_type job_type_checkpoint; /* enum job_checkpoint */
extern const struct job_type job_type_qos;        /* int, -1..1 */
extern const struct job_type job_type_open_mode;  /* bool, true = truncate */
extern const struct job_type job_type_umask;      /* mode_t */
extern const struct job_type job_type_bool;       /* bool */
extern const struct job_type job_type_yes;        /* bool, set by an option without a value */
extern const struct job_type job_type_no;         /* bool, cleared by an option without a value */

/* The whole struct job_spec: options that set several members, and what only JSON carries. */
extern const struct job_type job_type_gpus;         /* [type:]n */
extern const struct job_type job_type_gres;         /* gpu[:type][:n] */
extern const struct job_type job_type_signal_spec;  /* [{R|B}:]sig[@sec] */
extern const struct job_type job_type_script;
extern const struct job_type job_type_strings;      /* char **, NULL-terminated */
extern const struct job_type job_type_rlimits;

/* "NOFILE" for RLIMIT_NOFILE; NULL outside the known ones. */
const char *job_rlimit_name(int resource);

/* Appends @s as a JSON string with its quotes. @s is UTF-8. */
void job_json_quote(const char *s, size_t len, struct buf *out);

#endif
