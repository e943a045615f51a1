/* SPDX-License-Identifier: MIT
 * cmd_cancel.c - gqctl cancel: ends jobs */
#include "gqctl.h"

static int run(struct ctl *ctl)
{
	return ctl_each_job(ctl, "cancel", NULL);
}

const struct command cmd_cancel = {"cancel", "JOB…", "end jobs",
	"A running job gets SIGTERM, then SIGKILL; a waiting or stored one ends at once.",
	NULL, 0, 1, WORDS_MAX, run};
