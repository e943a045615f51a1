/* SPDX-License-Identifier: MIT
 * ending.h - how an incarnation ended: said once on the socket, kept as a record on disk
 * Promises: the record is whole or absent, and is there before anybody is told.
 * Leaves to others: removing it (exec_forget). */
#ifndef GQD_SHIM_ENDING_H
#define GQD_SHIM_ENDING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/gqtime.h"
#include "launch.h"

enum outcome { OUTCOME_EXITED, OUTCOME_STORED, OUTCOME_START_FAILED, OUTCOME_RESTORE_FAILED };

struct ending {
	enum outcome outcome;
	int code, signal; /* of the job's root process */
	gq_time at, took, frozen;
	int64_t bytes;
	char text[320]; /* "" = none */
};

void ending_message(const struct launch *l, const struct ending *e, struct buf *ret);
/* @sync: nobody listens, so it has to survive the machine too. 0 or -errno. */
int ending_record(const struct launch *l, const struct buf *message, bool sync);

#endif
