/* SPDX-License-Identifier: MIT
 * sampler.c - gq-sampler: looks at the cards once a period and writes records to stdout
 * A program of its own, because a driver call can hang for minutes in the kernel: gqd kills it
 * and goes on. A byte on stdin asks for a sample now; stdin closed means that gqd is gone.
 * Usage: gq-sampler --period-ms N [--library FILE] */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/gqtime.h"
#include "base/mem.h"
#include "base/parse.h"
#include "nvml.h"

#define XID_LOOK_MS   200 /* an XID is reported at most so late */
#define REOPEN_ROUNDS 30  /* a lost card comes back only to a library that is opened anew */

struct sampler {
	const char *library;
	int64_t period_ms;
	struct nvml *nvml;
	struct gpu_record *records; /* owned: room for the largest round */
	size_t n, cap;
	unsigned lost_rounds;
};

static struct gpu_record *next(struct sampler *s)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->records = xrealloc(s->records, s->cap, sizeof(*s->records));
	}
	return &s->records[s->n++];
}

/* gqd is the only reader: when it does not read, waiting is all there is to do. */
static int flush(struct sampler *s)
{
	int r = write_all(STDOUT_FILENO, s->records, s->n * sizeof(*s->records));

	s->n = 0;
	return r;
}

static int failed(struct sampler *s, const struct gq_err *err)
{
	struct gpu_record *r = next(s);

	*r = (struct gpu_record){.magic = GPU_RECORD_MAGIC, .version = GPU_RECORD_VERSION,
		.type = GPU_FAILED};
	str_copy(r->failed.text, sizeof(r->failed.text), err->text);
	flush(s);
	return 1;
}

static int reopen(struct sampler *s, struct gq_err *err)
{
	int r;

	s->lost_rounds = 0;
	s->nvml = nvml_close(s->nvml);
	r = nvml_open(s->library, &s->nvml, err);
	if (r == 0)
		nvml_hello(s->nvml, next(s));
	return r;
}

static void add_procs(struct sampler *s, unsigned card)
{
	struct gpu_record procs[GPU_PROCS_MAX];
	unsigned n = nvml_procs(s->nvml, card, procs, GPU_PROCS_MAX);

	for (unsigned i = 0; i < n; i++)
		*next(s) = procs[i];
}

static int sample(struct sampler *s, struct gq_err *err)
{
	bool lost = false;
	int r = 0;

	if (s->lost_rounds >= REOPEN_ROUNDS)
		r = reopen(s, err);
	for (unsigned i = 0; r == 0 && i < nvml_count(s->nvml); i++) {
		int r2 = nvml_card(s->nvml, i, next(s), err);

		if (r2 == -ESHUTDOWN)
			return r2;
		if (r2 == 0)
			add_procs(s, i);
		lost = lost || r2 < 0;
	}
	if (r < 0)
		return r;
	s->lost_rounds = lost ? s->lost_rounds + 1 : 0;
	*next(s) = (struct gpu_record){.magic = GPU_RECORD_MAGIC, .version = GPU_RECORD_VERSION,
		.type = GPU_END};
	return 0;
}

static int send_xids(struct sampler *s)
{
	struct gpu_record r;

	while (nvml_xid(s->nvml, &r))
		*next(s) = r;
	return s->n > 0 ? flush(s) : 0;
}

/* Until @until or a poke. 1 = gqd is gone. */
static int wait_for(struct sampler *s, gq_time until)
{
	for (;;) {
		int64_t left_ms = (until - gq_monotonic() + GQ_NS_PER_MS - 1) / GQ_NS_PER_MS;
		struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
		char pokes[64];

		if (send_xids(s) < 0)
			return 1;
		if (left_ms <= 0)
			return 0;
		if (poll(&in, 1, left_ms < XID_LOOK_MS ? (int)left_ms : XID_LOOK_MS) <= 0)
			continue;
		return read(STDIN_FILENO, pokes, sizeof(pokes)) <= 0;
	}
}

static int run(struct sampler *s)
{
	gq_time next_at = gq_monotonic();
	struct gq_err err = {0};
	int r = reopen(s, &err);

	while (r == 0) {
		r = sample(s, &err);
		if (r < 0)
			break;
		if (flush(s) < 0)
			return 0;
		/* after a poke the old rhythm goes on */
		while (next_at <= gq_monotonic())
			next_at += GQ_MSEC(s->period_ms);
		if (wait_for(s, next_at))
			return 0;
	}
	return failed(s, &err);
}

int main(int argc, char **argv)
{
	struct sampler s = {.period_ms = 1000};
	struct gq_err err = {0};
	int status;

	signal(SIGPIPE, SIG_IGN);
	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--library") == 0 && *value) {
			s.library = value;
		} else if (strcmp(argv[i], "--period-ms") != 0 ||
			parse_int(value, 10, 3600000, &s.period_ms, &err) < 0) {
			fprintf(stderr, "gq-sampler: %s %s: %s\nUsage: gq-sampler --period-ms N "
					"[--library FILE]\n", argv[i], value,
				err.code ? err.text : "unknown option");
			return 2;
		}
	}
	status = run(&s);
	nvml_close(s.nvml);
	free(s.records);
	return status;
}
