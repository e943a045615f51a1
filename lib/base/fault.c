/* SPDX-License-Identifier: MIT
 * fault.c - named fault points, read once from GQ_FAULT */
#include "base/fault.h"

#ifdef GQ_DEBUG

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define FAULTS_MAX 8

static const struct {
	const char *name, *program, *what;
} fault_points[] = {
#define GQ_FAULT_POINT(name, program, what) {name, program, what},
#include "base/fault.def"
#undef GQ_FAULT_POINT
};

static struct {
	char name[40];
	char action[24];
	int visit; /* fires at this visit and, for an errno, only then; 0 = at each */
	int seen;
} faults[FAULTS_MAX];
static int n_faults = -1;

static void fault_parse(const char *s)
{
	n_faults = 0;
	while (s && *s && n_faults < FAULTS_MAX) {
		int visit = 1, used = 0;

		if (sscanf(s, "%39[^:,]:%23[^,@]%n", faults[n_faults].name, faults[n_faults].action,
			    &used) != 2) {
			fprintf(stderr, "GQ_FAULT: '%s' is not name:action[@visit]\n", s);
			exit(2);
		}
		s += used;
		if (*s == '@')
			visit = (int)strtol(s + 1, (char **)&s, 10);
		faults[n_faults++].visit = visit;
		if (*s == ',')
			s++;
	}
}

static int fault_errno(const char *name)
{
	static const struct {
		const char *name;
		int code;
	} codes[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES},
		{"EAGAIN", EAGAIN}, {"ETIMEDOUT", ETIMEDOUT}, {"EMFILE", EMFILE}, {"EPIPE", EPIPE}};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (!strcmp(codes[i].name, name))
			return -codes[i].code;
	fprintf(stderr, "GQ_FAULT: '%s' is no action; use kill, exit, stop, sleep=MS or an errno\n",
		name);
	exit(2);
}

static int fault_act(const char *action)
{
	if (!strcmp(action, "kill")) {
		kill(getpid(), SIGKILL);
		_exit(137); /* PID 1 of a namespace cannot signal itself; leaving kills the rest too */
	}
	if (!strcmp(action, "exit"))
		_exit(99);
	if (!strcmp(action, "stop"))
		return kill(getpid(), SIGSTOP);
	if (!strncmp(action, "sleep=", 6)) {
		long ms = strtol(action + 6, NULL, 10);
		struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

		nanosleep(&ts, NULL);
		return 0;
	}
	return fault_errno(action);
}

int gq_fault(const char *name)
{
	if (n_faults < 0)
		fault_parse(getenv("GQ_FAULT"));
	for (int i = 0; i < n_faults; i++) {
		if (strcmp(faults[i].name, name))
			continue;
		if (!faults[i].visit || ++faults[i].seen == faults[i].visit)
			return fault_act(faults[i].action);
	}
	return 0;
}

void gq_fault_list(FILE *f)
{
	for (size_t i = 0; i < ARRAY_LEN(fault_points); i++)
		fprintf(f, "%s\t%s\t%s\n", fault_points[i].name, fault_points[i].program,
			fault_points[i].what);
}

#else
typedef int fault_not_built; /* ISO C wants a declaration */
#endif
