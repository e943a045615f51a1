/* SPDX-License-Identifier: MIT
 * grades.c - how well each running job can be snapshotted: told by its shim, again to each new gqd,
 * so it is kept in memory only */
#include <stdlib.h>

#include "api/message.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "daemon.h"

struct grade_row {
	struct api_grade shown;
	char *texts[EXEC_FINDINGS_MAX]; /* owned; lent to shown */
};

static const char *const grade_names[] = {"C0", "C1", "C2", "C3"};

static void row_free(struct grade_row *row)
{
	if (!row)
		return;
	for (size_t i = 0; i < ARRAY_LEN(row->texts); i++)
		free(row->texts[i]);
	free(row);
}

void grades_keep(struct daemon *d, const struct exec_report *r)
{
	struct grade_row *row;

	if (!core_job(d->core, r->job) || r->grade < 0 || r->grade >= (int)ARRAY_LEN(grade_names))
		return;
	row_free(map_del(&d->grades, r->job));
	row = xnew(struct grade_row);
	row->shown.grade = grade_names[r->grade];
	for (size_t i = 0; i < r->n_findings; i++) {
		row->texts[i] = xstrdup(r->findings[i]);
		row->shown.findings.word[i] = row->texts[i];
	}
	row->shown.findings.n = (uint32_t)r->n_findings;
	map_put(&d->grades, r->job, row);
}

const struct api_grade *grades_of(void *ctx, uint32_t job)
{
	struct daemon *d = ctx;
	const struct grade_row *row = map_get(&d->grades, job);

	return row ? &row->shown : NULL;
}

void grades_drop(struct daemon *d, uint32_t job)
{
	row_free(map_del(&d->grades, job));
}

void grades_clear(struct daemon *d)
{
	struct grade_row *row;

	for (size_t i = 0; (row = map_next(&d->grades, &i));)
		row_free(row);
	map_clear(&d->grades);
}
