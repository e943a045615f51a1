/* SPDX-License-Identifier: MIT
 * settle.c - waits for the vforks of a job to be over
 * The parent of a vfork() sleeps in the kernel until its child runs a program of its own. criu stops
 * every task; when it stops such a child its parent can never stop, and criu waits for it until its
 * time is up. A shell is in that moment at each command that it starts. */
#include "settle.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

#define LOOK_EVERY GQ_MSEC(1) /* between two looks at whether all is frozen */
#define PAUSE_MAX  GQ_MSEC(20)
#define TASKS_MAX  (1u << 20) /* bytes of cgroup.threads */

static void set_frozen(const char *cgroup, const char *value)
{
	char path[PATH_MAX];
	_cleanup_close_ int fd = -1;
	ssize_t w;

	snprintf(path, sizeof(path), "%s/cgroup.freeze", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	w = write(fd, value, 1);
	(void)w; /* is_frozen() tells */
}

static bool is_frozen(const char *cgroup)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cgroup.events", cgroup);
	return file_read(path, 4096, &text, NULL, NULL) == 0 && strstr(text, "frozen 1");
}

static bool wait_frozen(const char *cgroup, gq_time until)
{
	while (!is_frozen(cgroup)) {
		if (gq_monotonic() >= until)
			return false;
		usleep((useconds_t)(LOOK_EVERY / 1000));
	}
	return true;
}

/* Frozen tasks sleep interruptibly, but for one that waits for its vforked child. */
static bool is_in_vfork(const char *tid)
{
	_cleanup_free_ char *text = NULL;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%.20s/status", tid);
	return file_read(path, 64u << 10, &text, NULL, NULL) == 0 && strstr(text, "\nState:\tD");
}

static bool any_in_vfork(const char *cgroup)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX], *save = NULL;

	snprintf(path, sizeof(path), "%s/cgroup.threads", cgroup);
	if (file_read(path, TASKS_MAX, &text, NULL, NULL) < 0)
		return false;
	for (char *t = strtok_r(text, "\n", &save); t; t = strtok_r(NULL, "\n", &save))
		if (is_in_vfork(t))
			return true;
	return false;
}

bool settle(const char *cgroup, gq_time limit)
{
	gq_time until = gq_monotonic() + limit, pause = LOOK_EVERY;

	for (;;) {
		set_frozen(cgroup, "1");
		if (wait_frozen(cgroup, until) && !any_in_vfork(cgroup))
			return true;
		set_frozen(cgroup, "0");
		if (gq_monotonic() >= until)
			return false;
		usleep((useconds_t)(pause / 1000));
		if (pause < PAUSE_MAX) /* longer each time: not in step with a job that forks at a beat */
			pause += pause / 2;
	}
}
