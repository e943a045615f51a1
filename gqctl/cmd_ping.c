/* SPDX-License-Identifier: MIT
 * cmd_ping.c - gqctl ping: is gqd there? */
#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"json", 0, NULL, "print the answer of GET /v1/ping", NULL},
};

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf text = BUF_INIT, out = BUF_INIT;
	struct gq_err err = {0};
	struct json_in in;
	struct api_ping p;
	char since[40];

	if (ctl_call(ctl, "GET", "/v1/ping", NULL, &text, &err) < 0)
		return ctl_say(&err);
	if (ctl_has(ctl, "json"))
		return ctl_print(&text);
	in = (struct json_in){text.data, text.data + text.len};
	if (api_decode(&in, &api_ping_object, &p, &err) < 0)
		return ctl_say(&err);
	buf_fmt(&out,
		"gqd %s, pid %u, since %s: %u card%s, %u job%s waiting, %u running\n",
		p.version, p.pid, text_long_time(p.started_time, since), p.cards,
		p.cards == 1 ? "" : "s", p.jobs_waiting, p.jobs_waiting == 1 ? "" : "s",
		p.jobs_running);
	return ctl_print(&out);
}

const struct command cmd_ping = {"ping", "", "ask whether gqd is there", NULL, options,
	ARRAY_LEN(options), 0, 0, run};
