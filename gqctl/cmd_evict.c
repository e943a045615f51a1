/* SPDX-License-Identifier: MIT
 * cmd_evict.c - gqctl evict: makes a job leave its cards now */
#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"store", 0, NULL, "keep its state in a snapshot, whatever its own way is", NULL},
	{"requeue", 0, NULL, "start it from its beginning again later", NULL},
	{"grace", 'g', "SPAN", "exit period, as 5s; without it the job's own", NULL},
	{"wait", 'w', NULL, "return when it has left", NULL},
};

static int has_left(void *ctx, const struct api_job *j)
{
	(void)ctx;
	return j->cards.n == 0;
}

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf body = BUF_INIT, text = BUF_INIT;
	struct gq_err err = {0};
	struct api_job last;
	uint32_t id;
	int r;

	if (ctl_has(ctl, "store") && ctl_has(ctl, "requeue"))
		return ctl_usage("evict: --store or --requeue, not both");
	ctl_member(&body, "mode", ctl_has(ctl, "store") ? "store" : ctl_has(ctl, "requeue") ? "requeue" : NULL);
	ctl_member(&body, "grace", ctl_opt(ctl, "grace"));
	ctl_close(&body);
	r = ctl_each_job(ctl, "evict", &body);
	for (int i = 0; r == 0 && ctl_has(ctl, "wait") && i < ctl->n_words; i++) {
		ctl_job_id(ctl->words[i], &id, &err);
		if (wait_job(ctl, id, GQ_NEVER, has_left, NULL, &last, &text, &err) < 0)
			return ctl_say(&err);
	}
	return r;
}

const struct command cmd_evict = {"evict", "JOB…", "make jobs leave their cards now",
	"They wait for the next window and go on there.", options, ARRAY_LEN(options), 1, WORDS_MAX, run};
