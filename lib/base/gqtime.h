/* SPDX-License-Identifier: MIT
 * gqtime.h - one time type everywhere: int64 nanoseconds
 * A point in time counts from the Unix epoch (CLOCK_REALTIME); a duration is a plain difference.
 * Only mains, daemon, shim and the like read a clock; gqd/core is told the time. */
#ifndef GQ_BASE_GQTIME_H
#define GQ_BASE_GQTIME_H

#include <stdint.h>

typedef int64_t gq_time;

#define GQ_NS_PER_S  INT64_C(1000000000)
#define GQ_NS_PER_MS INT64_C(1000000)
#define GQ_SEC(s)    ((gq_time)(s) * GQ_NS_PER_S)
#define GQ_MSEC(ms)  ((gq_time)(ms) * GQ_NS_PER_MS)
#define GQ_NEVER     INT64_MAX

gq_time gq_now(void);       /* CLOCK_REALTIME */
gq_time gq_monotonic(void); /* CLOCK_MONOTONIC: for measuring, never stored */

/* Formats into @buf (≥ 40 bytes) and returns it.
 * iso: 2026-11-30T20:15:01.250Z; "never" for GQ_NEVER, "-" for 0. duration: Slurm's
 * [D-]HH:MM:SS, rounded down, "UNLIMITED" for GQ_NEVER. */
char *gq_time_iso(gq_time t, char *buf);
char *gq_duration(gq_time d, char *buf);

#endif
