/* SPDX-License-Identifier: MIT
 * cmd_reservations.c - gqctl reservations: those that have not ended */
#include <string.h>

#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"json", 0, NULL, "print the answer of GET /v1/reservations", NULL},
};

static const struct column columns[] = {{"ID", .right = true},
	{"SERVICE", .elastic = true}, {"STATE", 0}, {"START", 0}, {"END", 0},
	{"CARDS", 0}, {"VRAM", .right = true}, {"REPEAT", 0}, {"FREE", 0},
	{"LATE", .right = true}};

static void add_row(void *ctx, const void *row)
{
	const struct api_reservation *r = row;
	struct table *t = ctx;
	char text[80];

	table_cellf(t, "%u", r->reservation_id);
	table_cell(t, r->service);
	table_cellf(t, "%s%s", r->state, r->sudden ? " (sudden)" : "");
	table_cell(t, text_time(r->start_time, text));
	table_cell(t, r->end_time ? text_time(r->end_time, text) : "open");
	table_cell(t, text_cards(&r->cards, text, sizeof(text)));
	table_cell(t, r->vram_mib == API_NONE ? "all" : text_mib(r->vram_mib, text));
	table_cell(t, r->repeat && strcmp(r->repeat, "none") != 0 ? r->repeat : NULL);
	table_cell(t, text_time(r->free_time, text));
	if (r->free_time)
		table_cellf(t, "%lldms", (long long)(r->late_ms / GQ_NS_PER_MS));
	else
		table_cell(t, NULL);
}

static int run(struct ctl *ctl)
{
	struct table t;
	struct api_reservation row;
	int r;

	table_init(&t, columns, ARRAY_LEN(columns));
	r = ctl_list(ctl, "/v1/reservations", &api_reservation_object, &row, add_row, &t);
	return r || ctl_has(ctl, "json") ? r : table_print(&t, true);
}

const struct command cmd_reservations = {"reservations", "", "list reservations",
	"FREE is when the cards were free of offline work, LATE how long after the start that was.",
	options, ARRAY_LEN(options), 0, 0, run};
