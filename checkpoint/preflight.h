/* SPDX-License-Identifier: MIT
 * preflight.h - what surely cannot be dumped is said before anything is touched
 * Promises: changes nothing in any process; what passes may still fail in criu, with the job
 * unharmed.
 * Leaves to others: what became of the memory of cards. */
#ifndef GQ_CHECKPOINT_PREFLIGHT_H
#define GQ_CHECKPOINT_PREFLIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "findings.h"

struct preflight {
	pid_t root;      /* the job's first process */
	uid_t uid;       /* the job's */
	bool can_freeze; /* it has a cgroup */
};

/* Looks at every process of the capsule that we are PID 1 of. *ret_bytes: memory an image will
 * hold at most; may be NULL. */
void preflight(const struct preflight *p, struct findings *ret, int64_t *ret_bytes);

#endif
