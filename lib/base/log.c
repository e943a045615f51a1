/* SPDX-License-Identifier: MIT
 * log.c - lines to stderr or a file, each written with one write(2) */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
	const char *program;
	enum log_level max;
	bool timestamps;
	bool journal;
	int fd;
} log_state = {.program = "gq", .max = LOG_LEVEL_INFO, .fd = STDERR_FILENO};

void log_open(const char *program, enum log_level max, bool timestamps)
{
	log_state.program = program;
	log_state.max = max;
	log_state.timestamps = timestamps;
	log_state.journal = getenv("JOURNAL_STREAM") != NULL;
}

int log_to_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);

	if (fd < 0)
		return -errno;
	if (log_state.fd != STDERR_FILENO)
		close(log_state.fd);
	log_state.fd = fd;
	return 0;
}

int log_fd(void)
{
	return log_state.fd;
}

static size_t log_stamp(char *buf, size_t size)
{
	struct timespec ts;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
	n += (size_t)snprintf(buf + n, size - n, ".%03ldZ ", ts.tv_nsec / 1000000);
	return n;
}

static void log_line(enum log_level level, const char *fmt, va_list ap)
{
	static const char prio[] = {'3', '4', '6', '7'};
	static const char *const word[] = {"error: ", "warning: ", "", "debug: "};
	char line[1200];
	size_t n = 0;
	ssize_t w;
	int r;

	if (level > log_state.max)
		return;
	if (log_state.journal)
		n += (size_t)snprintf(line, sizeof(line), "<%c>", prio[level]);
	else if (log_state.timestamps)
		n += log_stamp(line, sizeof(line));
	n += (size_t)snprintf(line + n, sizeof(line) - n, "%s: %s", log_state.program, word[level]);
	r = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	if (r > 0)
		n += (size_t)r;
	if (n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < 0x20)
			line[i] = ' ';
	line[n++] = '\n';
	w = write(log_state.fd, line, n);
	(void)w; /* a log that cannot be written has nobody left to tell */
}

#define LOG_FUNCTION(name, level)                                                                  \
	void name(const char *fmt, ...)                                                            \
	{                                                                                          \
		va_list ap;                                                                        \
		va_start(ap, fmt);                                                                 \
		log_line(level, fmt, ap);                                                          \
		va_end(ap);                                                                        \
	}

LOG_FUNCTION(log_err, LOG_LEVEL_ERR)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
