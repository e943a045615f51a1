/* SPDX-License-Identifier: MIT
 * gate.c - the commit point of a snapshot */
#include "gate.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/mem.h"
#include "facts.h"
#include "image.h"
#include "shm.h"
#include "stream.h"

#define ACTION "CRTOOLS_SCRIPT_ACTION" /* set by criu */

static const char *env_text(const char *name)
{
	const char *v = getenv(name);

	return v ? v : "";
}

static int64_t env_int(const char *name)
{
	return strtoll(env_text(name), NULL, 10);
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
	char path[PATH_MAX];
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "%s/cgroup.freeze", env_text(GATE_CGROUP));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, value, 1) != 1 ? -errno : 0;
}

static int shm_send(int streamer, struct gq_err *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (!shm_any())
		return 0;
	r = stream_gate_file(streamer, SHM_FILE, &fd, err);
	return r < 0 ? r : shm_save(fd, err);
}

/* Has the streamer finish the image, then looks whether the disk holds one. */
static int finish_and_publish(struct image_info *info, struct gq_err *err)
{
	_cleanup_buf_ struct buf manifest = BUF_INIT;
	_cleanup_close_ int streamer = -1;
	int r = stream_gate_open(env_text(GATE_WORK_DIR), &streamer, err);

	if (!r)
		r = shm_send(streamer, err);
	if (r < 0)
		return r;
	image_lines(info, &manifest);
	facts_lines(info->root, getppid(), &manifest);
	r = stream_gate_commit(streamer, buf_c(&manifest), err);
	if (r < 0)
		return r;
	return image_publish(env_text(GATE_IMAGE_DIR), info, env_int(GATE_VERIFY), err);
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
	struct gq_err err = {0};
	int r = freeze("1");

	str_copy(info.criu, sizeof(info.criu), env_text(GATE_CRIU));
	signal(SIGPIPE, SIG_IGN); /* a streamer that died is an error like others */
	if (r < 0)
		gq_err_sys(&err, r, "freeze %s", env_text(GATE_CGROUP));
	else
		r = finish_and_publish(&info, &err);
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
