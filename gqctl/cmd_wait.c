/* SPDX-License-Identifier: MIT
 * cmd_wait.c - gqctl wait: until a job is in a state */
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"state", 't', "STATE[,STATE…]",
		"until it is in one of these; without it, until it ended", NULL},
	{"timeout", 0, "SPAN", "give up after so long, as 60 or 5min; without it, never",
		NULL},
};

static bool is_listed(const char *list, const char *word)
{
	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (strlen(word) == n && strncasecmp(list, word, n) == 0)
			return true;
	}
	return false;
}

static int is_there(void *ctx, const struct api_job *j)
{
	const char *states = ctx;

	if (states ? is_listed(states, j->state) || is_listed(states, j->state_name)
		   : j->ended)
		return 1;
	return j->ended ? -1 : 0;
}

/* A misspelt state would be waited for in vain. */
static int check_states(const char *list)
{
	static const char known[] =
		"PD,PENDING,CF,CONFIGURING,R,RUNNING,CK,SNAPSHOT,S,SUSPENDED,RE,RESTORING,"
		"CG,COMPLETING,CD,COMPLETED,F,FAILED,CA,CANCELLED,TO,TIMEOUT,PR,PREEMPTED";
	char word[32];

	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s", n > 31 ? 31 : (int)n, list);
		if (!is_listed(known, word))
			return ctl_usage("wait: there is no state '%s'", word);
	}
	return 0;
}

static int run(struct ctl *ctl)
{
	const char *states = ctl_opt(ctl, "state"), *span = ctl_opt(ctl, "timeout");
	_cleanup_buf_ struct buf text = BUF_INIT, out = BUF_INIT;
	struct gq_err err = {0};
	gq_time timeout = GQ_NEVER;
	struct api_job last;
	uint32_t id;
	int r;

	if (ctl_job_id(ctl->words[0], &id, &err) < 0 ||
		(span && parse_duration(span, &timeout, &err) < 0))
		return ctl_usage("wait: %s", err.text);
	if (states && (!*states || check_states(states)))
		return *states ? EXIT_USAGE : ctl_usage("wait: --state: empty");
	r = wait_job(ctl, id, timeout, is_there, (void *)states, &last, &text, &err);
	if (r < 0)
		return ctl_say(&err);
	if (r == 0) {
		gq_err_set(&err, -ETIMEDOUT, "job %u: %s %s%s%s, not %s", id,
			last.ended ? "ended as" : "still", last.state,
			last.reason && strcmp(last.reason, "None") != 0 ? ": " : "",
			last.reason && strcmp(last.reason, "None") != 0 ? last.reason
									: "",
			states ? states : "ended");
		return ctl_say(&err);
	}
	buf_fmt(&out, "job %u: %s\n", id, last.state);
	return ctl_print(&out);
}

const struct command cmd_wait = {"wait", "JOB", "wait until a job is in a state",
	"Exits with 0 when it is, with 1 when the time is up or when the job ended otherwise.",
	options, ARRAY_LEN(options), 1, 1, run};
