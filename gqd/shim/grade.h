/* SPDX-License-Identifier: MIT
 * grade.h - how well this job can be snapshotted, and why not better
 * Looks twice in the job's first minute, when libraries are loaded and connections made, and again
 * after a dump that failed; tells gqd what is new, and each new gqd what is known.
 * Leaves to others: refusing a dump (engine, which looks for itself). */
#ifndef GQD_SHIM_GRADE_H
#define GQD_SHIM_GRADE_H

#include "base/gqtime.h"

struct shim;

void grade_begin(struct shim *s);      /* the job runs (again) */
void grade_soon(struct shim *s);       /* something was learned: look at the next turn */
gq_time grade_due(const struct shim *s); /* monotonic */
void grade_tick(struct shim *s);       /* looks when it is time */
void grade_tell(const struct shim *s); /* what is known, to a new gqd */

#endif
