/* SPDX-License-Identifier: MIT
 * bench_queue.c - bench-queue COMMAND …: one measurement, its figures on a line */
#include "bench_queue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "client/field.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	int least; /* arguments */
} commands[] = {{"floor", cmd_floor, 2}, {"spawn", cmd_spawn, 3}, {"median", cmd_median, 2},
	{"latency", cmd_latency, 3}, {"stamp", cmd_stamp, 0}, {"submit", cmd_submit, 4},
	{"drain", cmd_drain, 1}, {"up", cmd_up, 1}, {"evict", cmd_evict, 2}};

void die(const char *fmt, ...)
{
	va_list ap;

	fputs("bench-queue: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

int number(const char *text)
{
	struct gq_err err;
	int64_t v;

	if (parse_int(text, 1, 10000000, &v, &err))
		die("%s", err.text);
	return (int)v;
}

void nap(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double median(double *values, int n)
{
	if (!n)
		return 0;
	qsort(values, (size_t)n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct client *api_open(void)
{
	struct client *c = NULL;
	struct gq_err err;

	if (client_open(NULL, &c, &err))
		die("%s", err.text);
	return c;
}

void api_get(struct client *c, const char *path, struct buf *ret)
{
	struct gq_err err;
	int status;

	if (client_call(c, "GET", path, NULL, 0, &status, ret, &err))
		die("GET %s: %s", path, err.text);
}

int64_t api_number(struct client *c, const char *path, const char *field)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int64_t v;

	api_get(c, path, &b);
	if (field_int(field_find(buf_c(&b), field, NULL), &v))
		die("GET %s: no %s in '%.80s'", path, field, buf_c(&b));
	return v;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(commands); i++)
		if (!strcmp(argv[1], commands[i].name) && argc - 2 >= commands[i].least)
			return commands[i].run(argc - 2, argv + 2);
	die("usage: see bench_queue.h");
}
