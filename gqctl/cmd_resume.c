/* SPDX-License-Identifier: MIT
 * cmd_resume.c - gqctl resume: lets stored jobs that are held be restored */
#include "gqctl.h"

static int run(struct ctl *ctl)
{
	return ctl_each_job(ctl, "resume", NULL);
}

const struct command cmd_resume = {"resume", "JOB…",
	"let stored jobs that are held be restored",
	"As \\fBrelease\\fR, for jobs that were evicted and held, or whose restore failed too often.",
	NULL, 0, 1, WORDS_MAX, run};
