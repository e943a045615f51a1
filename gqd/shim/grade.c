/* SPDX-License-Identifier: MIT
 * grade.c - when to look, and the message */
#include "grade.h"

#include "base/cleanup.h"
#include "base/kv.h"
#include "checkpoint/preflight.h"
#include "link.h"
#include "shim.h"

static const gq_time looks[] = {GQ_SEC(5), GQ_SEC(40)}; /* after the start, after the first */

void grade_begin(struct shim *s)
{
	s->graded = 0;
	s->grade_due = gq_monotonic() + looks[0];
}

void grade_soon(struct shim *s)
{
	s->grade_due = gq_monotonic();
}

gq_time grade_due(const struct shim *s)
{
	return s->state == SHIM_RUNNING && s->link_fd >= 0 ? s->grade_due : GQ_NEVER;
}

void grade_tell(const struct shim *s)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char text[FINDING_TEXT_MAX];

	if (!s->graded)
		return;
	link_begin(&b, "grade");
	kv_add_int(&b, "grade", s->findings.grade);
	for (size_t i = 0; i < s->findings.n; i++)
		kv_add(&b, "finding", finding_text(&s->findings.list[i], text));
	link_send(s->link_fd, &b);
}

static void look(struct shim *s)
{
	struct preflight p = {s->root, (uid_t)s->launch.uid, s->launch.cgroup != NULL};

	if (s->launch.capsule) {
		preflight(&p, &s->findings, NULL);
		return;
	}
	findings_begin(&s->findings);
	findings_add(&s->findings, GRADE_NONE, 0, "start gqd as root",
		"the job runs outside a capsule");
}

void grade_tick(struct shim *s)
{
	if (gq_monotonic() < grade_due(s))
		return;
	look(s);
	s->graded++;
	s->grade_due = s->graded < ARRAY_LEN(looks) ? gq_monotonic() + looks[s->graded] : GQ_NEVER;
	grade_tell(s);
}
