/* SPDX-License-Identifier: MIT
 * cmd_jobs.c - gqctl jobs: the queue */
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "gqctl.h"

#define FIELDS "job_id,name,user,state,reason,cards,gpus,run_s"

static const struct usage_option options[] = {
	{"all", 'a', NULL, "also those that have ended", NULL},
	{"user", 'u', "USER", "only the jobs of USER", NULL},
	{"account", 'A', "ACCOUNT", "only those that ACCOUNT pays", NULL},
	{"name", 'n', "NAME", "only those of this name", NULL},
	{"state", 't', "STATE[,STATE…]", "only those in these states: codes or words",
		"Codes as in the column ST, or their words, separated by commas: PD (PENDING), CF "
		"(CONFIGURING), R (RUNNING), CK (SNAPSHOT), S (SUSPENDED), RE (RESTORING), CG (COMPLETING), "
		"CD (COMPLETED), F (FAILED), CA (CANCELLED), TO (TIMEOUT), PR (PREEMPTED)."},
	{"limit", 'l', "N", "only the newest N", NULL},
	{"noheader", 'H', NULL, "without the first line", NULL},
	{"json", 0, NULL, "print the answer of GET /v1/jobs", NULL},
};

static const struct column columns[] = {{"JOBID", .right = true},
	{"NAME", .elastic = true}, {"USER", .elastic = true}, {"ST", 0},
	{"TIME", .right = true}, {"GPUS", .right = true}, {"CARDS", 0},
	{"REASON", .elastic = true}};

static void add_row(void *ctx, const void *row)
{
	const struct api_job *j = row;
	struct table *t = ctx;
	char text[80];

	table_cellf(t, "%u", j->job_id);
	table_cell(t, j->name);
	table_cell(t, j->user);
	table_cell(t, j->state);
	table_cell(t, text_span(j->run_s, text));
	table_cellf(t, "%u", j->gpus);
	table_cell(t, text_cards(&j->cards, text, sizeof(text)));
	table_cell(t, j->reason && strcmp(j->reason, "None") != 0 ? j->reason : "");
}

/* Jobs that ended are looked for where they are asked for. */
static bool names_an_end(const char *states)
{
	static const char *const ends[] = {"CD", "F", "CA", "TO", "PR", "COMPLETED",
		"FAILED", "CANCELLED", "TIMEOUT", "PREEMPTED"};

	for (size_t n; *states; states += n + (states[n] == ',')) {
		n = strcspn(states, ",");
		for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
			if (strlen(ends[i]) == n && strncasecmp(ends[i], states, n) == 0)
				return true;
		}
	}
	return false;
}

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	const char *states = ctl_opt(ctl, "state");
	struct table t;
	struct api_job row;
	int r;

	buf_str(&path, "/v1/jobs");
	if (!ctl_has(ctl, "json"))
		buf_str(&path, "?fields=" FIELDS);
	if (!states && !ctl_has(ctl, "all"))
		states = LIVE_STATES;
	ctl_query(&path, "state", states);
	ctl_query(&path, "user", ctl_opt(ctl, "user"));
	ctl_query(&path, "account", ctl_opt(ctl, "account"));
	ctl_query(&path, "name", ctl_opt(ctl, "name"));
	ctl_query(&path, "limit", ctl_opt(ctl, "limit"));
	if (!states || names_an_end(states))
		ctl_query(&path, "ended", "1");
	table_init(&t, columns, ARRAY_LEN(columns));
	r = ctl_list(ctl, buf_c(&path), &api_job_object, &row, add_row, &t);
	return r || ctl_has(ctl, "json") ? r : table_print(&t, !ctl_has(ctl, "noheader"));
}

const struct command cmd_jobs = {"jobs", "", "list the queue",
	"The columns are those of \\fBsqueue\\fR(1). TIME is computing time that counts, over all runs; "
	"REASON says why a job waits (\\fBgqctl job\\fR says it with numbers).",
	options, ARRAY_LEN(options), 0, 0, run};
