/* SPDX-License-Identifier: MIT
 * cmd_shutdown.c - gqctl shutdown: stops gqd, not the jobs */
#include "base/cleanup.h"
#include "gqctl.h"

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf answer = BUF_INIT;
	struct gq_err err = {0};

	if (ctl_call(ctl, "POST", "/v1/shutdown", NULL, &answer, &err) < 0)
		return ctl_say(&err);
	return 0;
}

const struct command cmd_shutdown = {"shutdown", "", "stop gqd; jobs run on",
	"For operators. The next gqd takes the jobs over.", NULL, 0, 0, 0, run};
