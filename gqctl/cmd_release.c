/* SPDX-License-Identifier: MIT
 * cmd_release.c - gqctl release: lets held jobs start again */
#include "gqctl.h"

static int run(struct ctl *ctl)
{
	return ctl_each_job(ctl, "release", NULL);
}

const struct command cmd_release = {
	"release", "JOB…", "let held jobs start again", NULL, NULL, 0, 1, WORDS_MAX, run};
