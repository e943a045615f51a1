/* SPDX-License-Identifier: MIT
 * launch.h - what a shim is told at its start, read from an inherited memfd (PROTOCOL.md)
 * Promises: every string that the rest of the shim needs is there, or launch_read() failed.
 * Leaves to others: whether the paths and numbers make sense in this machine. */
#ifndef GQD_SHIM_LAUNCH_H
#define GQD_SHIM_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/gqtime.h"

#define LAUNCH_HEAD "gq-launch=1"

#define SHIM_FD_LINK 3 /* connected socket to the gqd that started it */

struct launch_limit {
	int resource;
	struct rlimit limit;
};

struct launch {
	int64_t job, incarnation;
	int64_t image;   /* restore this one; 0 = start from the script */
	bool capsule;
	void *data; /* owned: the description, mapped */
	size_t data_len;
	/* paths of the shim's own; all lent from the description */
	const char *socket, *record, *notice, *cgroup, *work_dir, *image_dir;
	const char *criu, *criu_version; /* version NULL = not known */
	gq_time dump_timeout, restore_timeout;
	/* the job */
	int64_t uid, gid, umask;
	const char *cwd, *script, *stdin_path, *stdout_path, *stderr_path;
	bool truncate;
	gid_t *groups; /* owned */
	size_t n_groups;
	struct launch_limit *limits; /* owned */
	size_t n_limits;
	char **argv, **env; /* owned arrays of lent strings, NULL-terminated; argv[0] = script */
};

int launch_read(int fd, struct launch *ret, struct gq_err *err);
void launch_clear(struct launch *l);

#endif
