/* SPDX-License-Identifier: MIT
 * cmd_windows.c - gqctl windows: how long each card is idle, and why it is lent or not */
#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"json", 0, NULL, "print the answer of GET /v1/windows", NULL},
};

static const struct column columns[] = {{"CARD", .right = true}, {"STATE", 0},
	{"IDLE-SINCE", 0}, {"UNTIL", 0}, {"RESERVATION", .right = true},
	{"VRAM", .right = true}, {"LENDABLE", 0}, {"WHY", .elastic = true}};

static void add_row(void *ctx, const void *row)
{
	const struct api_window *w = row;
	struct table *t = ctx;
	char text[40];

	table_cellf(t, "%u", w->card);
	table_cell(t, w->state);
	table_cell(t, text_time(w->idle_since, text));
	table_cell(t, w->until ? text_time(w->until, text) : "open");
	if (w->reservation_id)
		table_cellf(t, "%u", w->reservation_id);
	else
		table_cell(t, NULL);
	table_cell(t, text_mib(w->vram_mib, text));
	table_cell(t, w->lendable ? "yes" : "no");
	table_cell(t, w->why);
}

static int run(struct ctl *ctl)
{
	struct table t;
	struct api_window row;
	int r;

	table_init(&t, columns, ARRAY_LEN(columns));
	r = ctl_list(ctl, "/v1/windows", &api_window_object, &row, add_row, &t);
	return r || ctl_has(ctl, "json") ? r : table_print(&t, true);
}

const struct command cmd_windows = {"windows", "", "show how long each card is idle",
	NULL, options, ARRAY_LEN(options), 0, 0, run};
