/* SPDX-License-Identifier: MIT
 * timerfd.c - finds stopped periodic timers in /proc/PID/fdinfo, and sets them through pidfd_getfd */
#include "timerfd.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

static bool number(const char *name, int *ret)
{
	*ret = (int)strtol(name, NULL, 10);
	return isdigit((unsigned char)name[0]);
}

static bool is_timer(pid_t pid, int fd)
{
	char path[64], link[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	n = readlink(path, link, sizeof(link) - 1);
	link[n < 0 ? 0 : n] = '\0';
	return !strcmp(link, "anon_inode:[timerfd]");
}

/* The interval of a timer that has one and yet does not run. */
static bool is_stopped(pid_t pid, int fd, struct timespec *ret_interval)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	const char *value, *interval;
	long long s = 0, ns = 0;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	if (file_read(path, 4096, &text, NULL, NULL) < 0)
		return false;
	value = strstr(text, "it_value: (0, 0)");
	interval = strstr(text, "it_interval: (");
	if (!value || !interval || sscanf(interval, "it_interval: (%lld, %lld)", &s, &ns) != 2)
		return false;
	*ret_interval = (struct timespec){s, ns};
	return s || ns;
}

static void wind(pid_t pid, int fd, const struct timespec *interval)
{
	struct itimerspec t = {.it_interval = *interval, .it_value = {0, 1}};
	_cleanup_close_ int process = (int)syscall(SYS_pidfd_open, pid, 0);
	_cleanup_close_ int ours = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);

	if (ours >= 0)
		timerfd_settime(ours, 0, &t, NULL);
}

static void wind_process(pid_t pid)
{
	char path[32];
	_cleanup_closedir_ DIR *d = NULL;
	struct timespec interval;
	struct dirent *e;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (number(e->d_name, &fd) && is_timer(pid, fd) && is_stopped(pid, fd, &interval))
			wind(pid, fd, &interval);
}

void timerfd_wind_all(void)
{
	_cleanup_closedir_ DIR *d = opendir("/proc");
	struct dirent *e;
	int pid;

	while (d && (e = readdir(d)))
		if (number(e->d_name, &pid) && pid != getpid())
			wind_process(pid);
}
