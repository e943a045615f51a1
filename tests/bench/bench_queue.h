/* SPDX-License-Identifier: MIT
 * bench_queue.h - what the parts of bench-queue share
 * Each command prints its figures on one line, separated by blanks; the script `queue` makes the
 * table. A failure is one line on stderr and status 1. */
#ifndef TESTS_BENCH_QUEUE_H
#define TESTS_BENCH_QUEUE_H

#include <stdnoreturn.h>

#include "base/buf.h"
#include "base/gqtime.h"
#include "client/client.h"

noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int number(const char *text); /* ≥ 1, or dies */
void nap(int ms);
double median(double *values, int n); /* sorts them */
struct client *api_open(void);        /* $GQ_SOCKET */
void api_get(struct client *c, const char *path, struct buf *ret);
int64_t api_number(struct client *c, const char *path, const char *field);

int cmd_floor(int argc, char **argv);   /* SECONDS EMPTY: fork+exec+wait per second */
int cmd_spawn(int argc, char **argv);   /* N PARALLEL PROGRAM ARG…: runs per second */
int cmd_median(int argc, char **argv);  /* N PROGRAM ARG…: ms of a run */
int cmd_latency(int argc, char **argv); /* N STAMPS PROGRAM ARG…: ms from spawn to the job's stamp */
int cmd_stamp(int argc, char **argv);   /* as a job's interpreter: the time, to stdout */
int cmd_submit(int argc, char **argv);  /* one|batch|pipe N SIZE BODYFILE: jobs per second */
int cmd_drain(int argc, char **argv);   /* TIMEOUT: until no job waits or runs; dies if one failed */
int cmd_up(int argc, char **argv);      /* TIMEOUT: ms until gqd answers, number of its jobs */
int cmd_evict(int argc, char **argv);   /* N CARDS: see bench_evict.c */

#endif
