/* SPDX-License-Identifier: MIT
 * cmd_history.c - gqctl history: the audit trail, of everything or of one thing */
#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"job", 'j', "JOB", "only about this job", NULL},
	{"card", 'c', "INDEX", "only about this card", NULL},
	{"service", 's', "NAME", "only about this service", NULL},
	{"reservation", 'r', "N", "only about this reservation", NULL},
	{"since", 0, "WHEN", "only after it", NULL},
	{"limit", 'l', "N", "only the newest N, 100 without it", NULL},
	{"json", 0, NULL, "print the answer of GET /v1/history", NULL},
};

static const struct column columns[] = {
	{"TIME", 0}, {"WHAT", 0}, {"BY", 0}, {"EVENT", .elastic = true}};

static void add_row(void *ctx, const void *row)
{
	const struct api_history *h = row;
	struct table *t = ctx;
	char text[40];

	table_cell(t, text_time(h->time, text));
	table_cellf(t, "%s %u", h->kind, h->id);
	table_cell(t, h->user ? h->user : "gqd");
	table_cell(t, h->text);
}

static int run(struct ctl *ctl)
{
	static const char *const names[] = {
		"job", "card", "service", "reservation", "since", "limit"};
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct table t;
	struct api_history row;
	int r;

	buf_str(&path, "/v1/history");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		ctl_query(&path, names[i], ctl_opt(ctl, names[i]));
	table_init(&t, columns, ARRAY_LEN(columns));
	r = ctl_list(ctl, buf_c(&path), &api_history_object, &row, add_row, &t);
	return r || ctl_has(ctl, "json") ? r : table_print(&t, true);
}

const struct command cmd_history = {"history", "", "show what happened, newest first",
	NULL, options, ARRAY_LEN(options), 0, 0, run};
