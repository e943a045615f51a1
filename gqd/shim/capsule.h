/* SPDX-License-Identifier: MIT
 * capsule.h - the walls around a job, and everything that lives inside them
 * With root a capsule is a PID namespace (the shim is its PID 1), a mount namespace with its own
 * /proc and a cgroup v2; without, it is "every descendant of the shim", which is a child subreaper.
 * Promises: capsule_signal(SIGKILL) reaches every process, also one that forks meanwhile.
 * Leaves to others: reaping (shim.c), what runs inside (start.c). */
#ifndef GQD_SHIM_CAPSULE_H
#define GQD_SHIM_CAPSULE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "launch.h"

#define CAPSULE_FIRST_PID 1000 /* of a job; lower ones are left to criu at restore */

/* What can be done before the job is known. */
int capsule_enter(struct gq_err *err);
/* @ret_cgroup_fd: the folder of the job's cgroup, -1 without a capsule. */
int capsule_make(const struct launch *l, int *ret_cgroup_fd, struct gq_err *err);
void capsule_signal(const struct launch *l, int signal); /* to all but the shim */
void capsule_thaw(int cgroup_fd);
void capsule_remove(const struct launch *l); /* the empty cgroup */
int64_t capsule_rss_mib(const struct launch *l);

#endif
