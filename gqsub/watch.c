/* SPDX-License-Identifier: MIT
 * watch.c - gqsub --wait: follows a job to its end by long polls, also over a restart of gqd */
#include "gqsub.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "client/field.h"

#define POLL_S     30
#define AWAY_MAX_S 300 /* gqd may be gone that long, then the wait is given up */

static void say(const char *text)
{
	write_all(STDERR_FILENO, text, strlen(text));
}

/* "20:15:01 job 42: PENDING (WindowTooShort)" where it differs from the last line. */
static void show(int64_t id, const char *job, struct buf *last)
{
	_cleanup_buf_ struct buf line = BUF_INIT, state = BUF_INIT, reason = BUF_INIT;
	time_t now = time(NULL);
	char clock[16];
	struct tm tm;

	if (field_text(field_find(job, "state_name", NULL), &state) < 0)
		return;
	field_text(field_find(job, "reason", NULL), &reason);
	if (reason.len && strcmp(buf_c(&reason), "None"))
		buf_fmt(&state, " (%s)", buf_c(&reason));
	if (!strcmp(buf_c(&state), buf_c(last)))
		return;
	buf_reset(last);
	buf_str(last, buf_c(&state));
	localtime_r(&now, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	buf_fmt(&line, "%s job %lld: %s\n", clock, (long long)id, buf_c(&state));
	say(buf_c(&line));
}

static int end_status(const char *job)
{
	int64_t code, sig;

	if (field_int(field_find(job, "exit_signal", NULL), &sig) == 0 && sig)
		return EXIT_REFUSED;
	if (field_int(field_find(job, "exit_code", NULL), &code) < 0)
		return EXIT_REFUSED; /* it did not end by itself */
	return (int)code & 0xff;
}

/* The daemon is away: 0 = asked again a moment later, else the reason to give up. */
static int wait_for_daemon(int *tries, bool quiet, struct gq_err *err)
{
	static const struct timespec moment = {.tv_nsec = 250 * 1000 * 1000};

	if (*tries == 0 && !quiet) {
		say("gqsub: ");
		say(err->text);
		say("; still waiting\n");
	}
	if (++*tries > AWAY_MAX_S * 4)
		return err->code;
	nanosleep(&moment, NULL);
	return 0;
}

int watch(struct client *c, int64_t id, bool quiet)
{
	_cleanup_buf_ struct buf job = BUF_INIT, last = BUF_INIT;
	int64_t version = 0;
	int tries = 0, status;
	bool ended = false;

	client_set_timeout(c, GQ_SEC(POLL_S + 30));
	while (!ended) {
		struct gq_err err = {0};
		char path[96];
		int r;

		snprintf(path, sizeof(path), "/v1/jobs/%lld?wait_version=%lld&timeout=%d", (long long)id,
			(long long)version, POLL_S);
		r = client_call(c, "GET", path, NULL, 0, &status, &job, &err);
		if (r == 0) {
			tries = 0;
			if (!quiet)
				show(id, buf_c(&job), &last);
			field_int(field_find(buf_c(&job), "version", NULL), &version);
			field_bool(field_find(buf_c(&job), "ended", NULL), &ended);
		} else if ((r == -EREMOTEIO && status < 500) || wait_for_daemon(&tries, quiet, &err) < 0) {
			say("gqsub: ");
			say(err.text);
			say("\n");
			return EXIT_REFUSED;
		}
	}
	return end_status(buf_c(&job));
}
