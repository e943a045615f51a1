/* SPDX-License-Identifier: MIT
 * start.h - from the shim to the first instruction of the job's script */
#ifndef GQD_SHIM_START_H
#define GQD_SHIM_START_H

#include "base/err.h"
#include "launch.h"

/* Forks the job's root process into @cgroup_fd. *ret_status_fd becomes readable when it is known
 * how that went: then ask start_result(). */
int start_job(const struct launch *l, int cgroup_fd, pid_t *ret_pid, int *ret_status_fd,
	struct gq_err *err);

/* Reads and closes @status_fd: 0 when the script was exec'ed, else its error in words. */
int start_result(const struct launch *l, int status_fd, struct gq_err *err);

#endif
