/* SPDX-License-Identifier: MIT
 * gate.c - the commit point of a snapshot */
#include "gate.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/mem.h"
#include "image.h"
#include "shm.h"

#define ACTION "CRTOOLS_SCRIPT_ACTION" /* set by criu */

static int64_t env_int(const char *name)
{
	const char *v = getenv(name);

	return v ? strtoll(v, NULL, 10) : 0;
}

static pid_t last_pid(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "re");
	int v = 0;

	return f && fscanf(f, "%d", &v) == 1 ? v : 0;
}

/* From here on the job cannot run even if criu dies: what is published stays the truth. */
static int freeze(const char *value)
{
	const char *cgroup = getenv(GATE_CGROUP);
	char path[PATH_MAX];
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "%s/cgroup.freeze", cgroup ? cgroup : "");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, value, 1) != 1 ? -errno : 0;
}

static int save_and_publish(const char *dir, struct image_info *info, struct gq_err *err)
{
	char tmp[PATH_MAX];
	int r;

	image_path_tmp(tmp, sizeof(tmp), dir, info->job, info->incarnation);
	r = shm_save(tmp, err);
	return r < 0 ? r : image_publish(dir, info, err);
}

static int post_dump(void)
{
	struct image_info info = {
		.job = env_int(GATE_JOB),
		.incarnation = env_int(GATE_INCARNATION),
		.root = (pid_t)env_int(GATE_ROOT),
		.uid = (uid_t)env_int(GATE_UID),
		.last_pid = last_pid(),
		.created = gq_now(),
	};
	const char *dir = getenv(GATE_IMAGE_DIR), *criu = getenv(GATE_CRIU);
	struct gq_err err = {0};
	int r;

	str_copy(info.criu, sizeof(info.criu), criu ? criu : "unknown");
	r = freeze("1");
	if (r < 0)
		gq_err_sys(&err, r, "freeze %s", getenv(GATE_CGROUP));
	else
		r = save_and_publish(dir ? dir : "", &info, &err);
	if (r < 0) {
		fprintf(stderr, "%s\n", err.text);
		freeze("0");
		return 1;
	}
	gq_fault("dump.published");
	return 0;
}

static int post_restore(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "we");

	/* New processes of the job get new PIDs, as if it had never been away. */
	return f && fprintf(f, "%lld", (long long)env_int(GATE_LAST_PID)) > 0 ? 0 : 1;
}

bool gate_asked(void)
{
	return getenv(ACTION) && getenv(GATE_JOB);
}

int gate_main(void)
{
	const char *action = getenv(ACTION);

	if (action && !strcmp(action, "post-dump"))
		return post_dump();
	if (action && !strcmp(action, "post-restore"))
		return post_restore();
	return 0;
}
