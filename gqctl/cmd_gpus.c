/* SPDX-License-Identifier: MIT
 * cmd_gpus.c - gqctl gpus: the cards */
#include <string.h>

#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"json", 0, NULL, "print the answer of GET /v1/gpus", NULL},
};

static const struct column columns[] = {{"INDEX", .right = true},
	{"UUID", 0}, {"MODEL", .elastic = true}, {"STATE", 0},
	{"JOB", .right = true}, {"SERVICE", .elastic = true}, {"VRAM", .right = true},
	{"UTIL", .right = true}, {"TEMP", .right = true}};

static void add_row(void *ctx, const void *row)
{
	const struct api_gpu *g = row;
	struct table *t = ctx;
	char used[40], total[40];

	table_cellf(t, "%u", g->index);
	table_cell(t, g->uuid);
	table_cell(t, g->model);
	if (g->foreign_name && g->state && strcmp(g->state, "unmanaged") == 0)
		table_cellf(t, "unmanaged (%s, pid %u)", g->foreign_name, g->foreign_pid);
	else
		table_cell(t, g->fault ? "down (fault)" : g->state);
	if (g->job_id)
		table_cellf(t, "%u", g->job_id);
	else
		table_cell(t, NULL);
	table_cell(t, g->service);
	table_cellf(t, "%s/%s", text_mib(g->vram_used_mib, used),
		text_mib(g->vram_total_mib, total));
	table_cellf(t, "%d%%", (int)g->util_percent);
	table_cellf(t, "%dC", (int)g->temperature_c);
}

static int run(struct ctl *ctl)
{
	struct table t;
	struct api_gpu row;
	int r;

	table_init(&t, columns, ARRAY_LEN(columns));
	r = ctl_list(ctl, "/v1/gpus", &api_gpu_object, &row, add_row, &t);
	return r || ctl_has(ctl, "json") ? r : table_print(&t, true);
}

const struct command cmd_gpus = {"gpus", "", "list the cards",
	"STATE is idle, offline (lent to a job), online (claimed by a service or a reservation, or "
	"busy), unmanaged (a process that is neither a job's nor a service's holds it: never lent) or "
	"down.",
	options, ARRAY_LEN(options), 0, 0, run};
