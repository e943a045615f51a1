/* SPDX-License-Identifier: MIT
 * cmd_evictions.c - gqctl evictions: predicted and actual times of every one */
#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"job", 'j', "JOB", "only those of this job", NULL},
	{"since", 0, "WHEN", "only those after it", NULL},
	{"limit", 'l', "N", "only the newest N, 100 without it", NULL},
	{"json", 0, NULL, "print the answer of GET /v1/evictions",
		"Print the answer of GET /v1/evictions, newest first: job, incarnation, cards, cause, "
		"notice_at, due_at, predicted_free_at, free_at, late_ms, how, lost_s, sudden, error."},
};

static const struct column columns[] = {{"JOB", .right = true}, {"RUN", .right = true},
	{"CARDS", 0}, {"CAUSE", 0}, {"NOTICE", 0}, {"DUE", 0}, {"PREDICTED", 0},
	{"FREE", 0}, {"LATE", .right = true}, {"HOW", 0}, {"LOST", .right = true},
	{"ERROR", .elastic = true}};

static void add_row(void *ctx, const void *row)
{
	const struct api_eviction *e = row;
	struct table *t = ctx;
	char text[80];

	table_cellf(t, "%u", e->job);
	table_cellf(t, "%u", e->incarnation);
	table_cell(t, text_cards(&e->cards, text, sizeof(text)));
	table_cellf(t, "%s%s", e->cause, e->sudden ? " (sudden)" : "");
	table_cell(t, text_time(e->notice_at, text));
	table_cell(t, e->due_at ? text_time(e->due_at, text) : "at once");
	table_cell(t, text_time(e->predicted_free_at, text));
	table_cell(t, text_time(e->free_at, text));
	if (e->free_at)
		table_cellf(t, "%lldms", (long long)(e->late_ms / GQ_NS_PER_MS));
	else
		table_cell(t, NULL);
	table_cell(t, e->how);
	table_cell(t, text_span(e->lost_s, text));
	table_cell(t, e->error ? e->error : "");
}

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct table t;
	struct api_eviction row;
	int r;

	buf_str(&path, "/v1/evictions");
	ctl_query(&path, "job", ctl_opt(ctl, "job"));
	ctl_query(&path, "since", ctl_opt(ctl, "since"));
	ctl_query(&path, "limit", ctl_opt(ctl, "limit"));
	table_init(&t, columns, ARRAY_LEN(columns));
	r = ctl_list(ctl, buf_c(&path), &api_eviction_object, &row, add_row, &t);
	return r || ctl_has(ctl, "json") ? r : table_print(&t, true);
}

const struct command cmd_evictions = {"evictions", "",
	"show when jobs had to leave, and when they had",
	"HOW is exit (it ended by itself), app (it saved its own state), store (a snapshot), requeue (it "
	"starts again from its beginning), called-off or pending. LOST is computing time thrown away.",
	options, ARRAY_LEN(options), 0, 0, run};
