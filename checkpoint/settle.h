/* SPDX-License-Identifier: MIT
 * settle.h - a moment at which criu can seize every task of a job
 * Promises: a job that was frozen has no task that waits for a vfork()ed child, as far as that
 * could be had in the time. Whoever calls it sees to the thaw when the dump fails. */
#ifndef GQ_CHECKPOINT_SETTLE_H
#define GQ_CHECKPOINT_SETTLE_H

#include <stdbool.h>

#include "base/gqtime.h"

/* Freezes @cgroup at such a moment and leaves it frozen. false: there was none in @limit, and it
 * runs on; criu would wait for it in vain. */
bool settle(const char *cgroup, gq_time limit);

#endif
