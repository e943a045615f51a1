/* SPDX-License-Identifier: MIT
 * bench_run.c - programs run in a loop, and the way from a submission to the job's first instruction */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench_queue.h"

extern char **environ;

/* Its stdout goes nowhere; stderr stays, so that a failure is seen. */
static pid_t start(char **argv)
{
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (r)
		die("%s: %s", argv[0], strerror(r));
	return pid;
}

static void finish(char **argv)
{
	int status;

	if (waitpid(-1, &status, 0) < 0)
		die("wait: %s", strerror(errno));
	if (status)
		die("%s failed, status %#x", argv[0], (unsigned)status);
}

/* The floor is fork + exec + wait, as any program would do it; posix_spawn() would be faster. */
int cmd_floor(int argc, char **argv)
{
	gq_time begin = gq_monotonic(), end = begin + GQ_SEC(number(argv[0]));
	int n = 0;

	(void)argc;
	do {
		pid_t pid = fork();

		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid) {
			execv(argv[1], argv + 1);
			_exit(127);
		}
		finish(argv + 1);
		n++;
	} while (gq_monotonic() < end);
	printf("%.1f\n", n / ((double)(gq_monotonic() - begin) / GQ_NS_PER_S));
	return 0;
}

int cmd_spawn(int argc, char **argv)
{
	int n = number(argv[0]), parallel = number(argv[1]), running = 0;
	gq_time begin = gq_monotonic();

	(void)argc;
	for (int i = 0; i < n || running;) {
		if (i < n && running < parallel) {
			start(argv + 2);
			running++;
			i++;
			continue;
		}
		finish(argv + 2);
		running--;
	}
	printf("%.1f\n", n / ((double)(gq_monotonic() - begin) / GQ_NS_PER_S));
	return 0;
}

int cmd_median(int argc, char **argv)
{
	int n = number(argv[0]);
	double *ms = xnew_n(double, (size_t)n);

	(void)argc;
	for (int i = 0; i < n; i++) {
		gq_time begin = gq_monotonic();

		start(argv + 1);
		finish(argv + 1);
		ms[i] = (double)(gq_monotonic() - begin) / GQ_NS_PER_MS;
	}
	printf("%.2f\n", median(ms, n));
	free(ms);
	return 0;
}

/* "#!…/bench-queue stamp" is a job script; its output file collects a line per job. */
int cmd_stamp(int argc, char **argv)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "%020lld\n", (long long)gq_now());

	(void)argc, (void)argv;
	return write(STDOUT_FILENO, line, (size_t)n) == n ? 0 : 1;
}

#define STAMP_BYTES 21

/* Waits for line @i of @path. */
static gq_time read_stamp(const char *path, int i)
{
	gq_time give_up = gq_monotonic() + GQ_SEC(30);
	char line[STAMP_BYTES + 1] = "";
	struct stat st;
	int fd;

	while (stat(path, &st) || st.st_size < (off_t)(i + 1) * STAMP_BYTES) {
		if (gq_monotonic() > give_up)
			die("%s: job %d did not start within 30 s", path, i + 1);
		usleep(300);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, line, STAMP_BYTES, (off_t)i * STAMP_BYTES) != STAMP_BYTES)
		die("%s: %s", path, strerror(errno));
	close(fd);
	return strtoll(line, NULL, 10);
}

int cmd_latency(int argc, char **argv)
{
	int n = number(argv[0]);
	double *ms = xnew_n(double, (size_t)n);
	struct client *c = api_open();

	(void)argc;
	for (int i = 0; i < n; i++) {
		gq_time begin = gq_now();

		start(argv + 2);
		finish(argv + 2);
		ms[i] = (double)(read_stamp(argv[1], i) - begin) / GQ_NS_PER_MS;
		while (api_number(c, "/v1/ping", "jobs_running") > 0) /* the queue is idle again */
			nap(2);
	}
	printf("%.2f\n", median(ms, n));
	free(ms);
	client_close(c);
	return 0;
}
