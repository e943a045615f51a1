/* SPDX-License-Identifier: MIT
 * parse.h - words that people write: sizes, durations, points in time, counts
 * Every function sets *ret only on success and returns 0 or -EINVAL with a line that says what was
 * given and what is allowed; the caller puts the option's name before it (gq_err_prefix). */
#ifndef GQ_BASE_PARSE_H
#define GQ_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/gqtime.h"
#include "base/utf8.h"

/* Decimal, no sign unless min < 0, no blanks; min ≤ value ≤ max. */
int parse_int(const char *s, int64_t min, int64_t max, int64_t *ret, struct gq_err *err);

/* "80G", "512M", "1T", "1024K", "1.5G"; a number alone is MiB (Slurm's habit); IEC powers of two;
 * GiB, GB and G mean the same. Result in MiB, rounded up. 0 only if written "0". */
int parse_size_mib(const char *s, int64_t *ret_mib, struct gq_err *err);

/* "90s", "15min", "2h30m", "1d", "500ms", "30" (seconds), "MM:SS", "HH:MM:SS", "D-HH[:MM[:SS]]",
 * "UNLIMITED"/"INFINITE"/"never" (GQ_NEVER). */
int parse_duration(const char *s, gq_time *ret, struct gq_err *err);

/* Slurm's --time: as parse_duration, but a bare number is minutes. */
int parse_duration_minutes(const char *s, gq_time *ret, struct gq_err *err);

/* "now", "now+1hour", "now+90" (seconds), "16:00", "16:00:30", "noon", "midnight", "tomorrow",
 * "2026-12-01", "2026-12-01T08:00[:SS][Z|+01:00]", "MMDD"/"MM/DD" with optional "-HH:MM", "@epoch".
 * Times of day without a date are the next such time after @now, in local time. */
int parse_when(const char *s, gq_time now, gq_time *ret, struct gq_err *err);

int parse_bool(const char *s, bool *ret, struct gq_err *err); /* true/yes/on/1, false/no/off/0 */

#endif
