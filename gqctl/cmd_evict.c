/* SPDX-License-Identifier: MIT
 * cmd_evict.c - gqctl evict: makes a job leave its cards now */
#include <string.h>

#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"store", 0, NULL, "keep its state in a snapshot, whatever its own way is", NULL},
	{"requeue", 0, NULL, "start it from its beginning again later", NULL},
	{"grace", 'g', "SPAN", "exit period, as 5s; without it the job's own", NULL},
	{"wait", 'w', NULL, "return when it has left", NULL},
};

/* It has left when it holds no card or another run of it has begun; never when it computes on and
 * need not leave any more. */
static int has_left(void *ctx, const struct api_job *j)
{
	uint32_t *incarnation = ctx;

	if (*incarnation == 0)
		*incarnation = j->incarnation;
	if (j->cards.n == 0 || j->incarnation != *incarnation)
		return 1;
	return j->cause || strcmp(j->state, "R") != 0 ? 0 : -1;
}

static int wait_until_left(struct ctl *ctl, uint32_t id)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct gq_err err = {0};
	struct api_job last;
	uint32_t incarnation = 0;
	int r = wait_job(ctl, id, GQ_NEVER, has_left, &incarnation, &last, &text, &err);

	if (r == 0)
		gq_err_set(&err, -EPROTO, "job %u: did not leave: %s", id,
			last.error ? last.error : "the eviction was called off");
	return r <= 0 ? ctl_say(&err) : 0;
}

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf body = BUF_INIT;
	struct gq_err err;
	uint32_t id = 0;
	int r;

	if (ctl_has(ctl, "store") && ctl_has(ctl, "requeue"))
		return ctl_usage("evict: --store or --requeue, not both");
	ctl_member(&body, "mode",
		ctl_has(ctl, "store")     ? "store"
		: ctl_has(ctl, "requeue") ? "requeue"
					  : NULL);
	ctl_member(&body, "grace", ctl_opt(ctl, "grace"));
	ctl_close(&body);
	r = ctl_each_job(ctl, "evict", &body);
	for (int i = 0; r == 0 && ctl_has(ctl, "wait") && i < ctl->n_words; i++) {
		if (ctl_job_id(ctl->words[i], &id, &err) == 0)
			r = wait_until_left(ctl, id);
	}
	return r;
}

const struct command cmd_evict = {"evict", "JOB…", "make jobs leave their cards now",
	"They are held then: with gqctl resume they go on in the next window.", options, ARRAY_LEN(options), 1,
	WORDS_MAX, run};
