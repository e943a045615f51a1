/* SPDX-License-Identifier: MIT
 * cmd_hold.c - gqctl hold: keeps waiting jobs from starting */
#include "gqctl.h"

static int run(struct ctl *ctl)
{
	return ctl_each_job(ctl, "hold", NULL);
}

const struct command cmd_hold = {"hold", "JOB…", "keep waiting jobs from starting",
	"A stored job may be held, too; its image stays.", NULL, 0, 1, WORDS_MAX, run};
