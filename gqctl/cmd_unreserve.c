/* SPDX-License-Identifier: MIT
 * cmd_unreserve.c - gqctl unreserve: takes reservations back */
#include "base/cleanup.h"
#include "base/parse.h"
#include "gqctl.h"

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf answer = BUF_INIT;
	struct gq_err err = {0};
	char path[64];
	int64_t id;
	int status = 0;

	for (int i = 0; i < ctl->n_words; i++) {
		if (parse_int(ctl->words[i], 1, UINT32_MAX, &id, NULL) < 0)
			return ctl_usage(
				"unreserve: '%.40s' is not a reservation's number",
				ctl->words[i]);
	}
	for (int i = 0; i < ctl->n_words; i++) {
		parse_int(ctl->words[i], 1, UINT32_MAX, &id, NULL);
		snprintf(path, sizeof(path), "/v1/reservations/%lld", (long long)id);
		if (ctl_call(ctl, "DELETE", path, NULL, &answer, &err) < 0)
			status = ctl_say(&err);
	}
	return status;
}

const struct command cmd_unreserve = {"unreserve", "RESERVATION…",
	"take reservations back", NULL, NULL, 0, 1, WORDS_MAX, run};
