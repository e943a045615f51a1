/* SPDX-License-Identifier: MIT
 * effect.c - carries one effect of the core out
 * An effect may come twice, or late: what has been overtaken is dropped here by asking the core. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "daemon.h"

/* exec has never heard of the pair, and the core waits for its end. */
static void effect_unknown(struct daemon *d, const struct effect *f)
{
	struct event ev = {.type = EV_GONE, .job = f->job, .incarnation = f->incarnation};

	daemon_fact(d, &ev);
}

/* The machine lacks something for now; the job is as good as it was. */
static bool is_for_now(int r)
{
	return r == -ENOSPC || r == -EDQUOT || r == -ENOMEM || r == -EAGAIN || r == -EMFILE ||
	       r == -ENFILE || r == -EIO || r == -EROFS;
}

static void effect_launch(struct daemon *d, const struct effect *f)
{
	bool restore = f->type == FX_RESTORE;
	const struct job *j = core_job(d->core, f->job);
	struct event ev = {.type = restore ? EV_RESTORE_FAILED : EV_START_FAILED, .job = f->job,
		.incarnation = f->incarnation};
	struct gq_err err = {0};
	int r;

	if (!j || j->incarnation != f->incarnation ||
		j->state != (restore ? JOB_RESTORING : JOB_STARTING))
		return;
	r = launch_job(d, j, restore, &err);
	if (r == 0)
		return;
	log_warn("job %u: could not be %s: %s", f->job, restore ? "restored" : "started", err.text);
	ev.text = err.text;
	ev.again = is_for_now(r);
	daemon_fact(d, &ev);
}

static void effect_forget_job(struct daemon *d, const struct effect *f)
{
	if (f->incarnation)
		exec_forget(d->exec, f->job, f->incarnation);
	exec_forget_job(d->exec, f->job);
	grades_drop(d, f->job);
}

void effect_do(struct daemon *d, const struct effect *f)
{
	int r = 0;

	switch (f->type) {
	case FX_START:
	case FX_RESTORE: effect_launch(d, f); break;
	case FX_NOTICE:
		r = exec_notice(d->exec, f->job, f->incarnation, cause_name(f->cause), f->text,
			f->deadline, f->signal);
		break;
	case FX_NOTICE_OFF: r = exec_notice_off(d->exec, f->job, f->incarnation); break;
	case FX_STORE: r = exec_store(d->exec, f->job, f->incarnation, f->deadline); break;
	case FX_SIGNAL: r = exec_signal(d->exec, f->job, f->incarnation, f->signal); break;
	case FX_KILL: r = exec_kill(d->exec, f->job, f->incarnation); break;
	case FX_FORGET: exec_forget(d->exec, f->job, f->incarnation); break;
	case FX_DROP_IMAGE: exec_drop_image(d->exec, f->job, f->image); break;
	case FX_FORGET_JOB: effect_forget_job(d, f); break;
	case FX_N: break;
	}
	if (r == -ENOENT)
		effect_unknown(d, f);
}
