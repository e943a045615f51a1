/* SPDX-License-Identifier: MIT
 * job.c - one job's life: submitted, held, cancelled, given cards, ended */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

#define PRIORITY_DEFAULT 1000
#define PRIORITY_MAX     1000000

struct entry *job_entry(const struct core *c, uint32_t id)
{
	return map_get(&c->by_id, id);
}

static bool job_waits(enum job_state s)
{
	return s == JOB_PENDING || s == JOB_STORED;
}

int job_move(struct core *c, struct entry *e, enum job_move move, struct gq_err *err)
{
	enum job_state to = job_move_target(e->row.state, move);

	if (to == JOB_STATE_N)
		return gq_err_set(err, -EPROTO, "job %u: is %s", e->row.id, job_state_name(e->row.state));
	if (e->bucket)
		queue_remove(c, e);
	e->row.state = (uint8_t)to;
	if (job_waits(to)) {
		queue_add(c, e);
		c->replan = true;
	} else if (c->gang_waits) {
		c->replan = true; /* it may have been the one that kept others waiting */
	}
	note_job(c, e);
	return 0;
}

void job_move_or_die(struct core *c, struct entry *e, enum job_move move)
{
	int r = job_move(c, e, move, NULL);

	assert(r == 0);
	(void)r;
}

void job_take_cards(struct core *c, struct entry *e, const uint16_t *cards, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct card *card = card_at(c, cards[i]);

		assert(card && !card->job);
		card->job = e->row.id;
		e->row.cards[i] = cards[i];
	}
	e->row.n_cards = (uint8_t)n;
	ptrs_add(&c->holding, e);
}

void job_release_cards(struct core *c, struct entry *e, gq_time now)
{
	for (size_t i = 0; i < e->row.n_cards; i++) {
		struct card *card = card_at(c, e->row.cards[i]);

		if (!card || card->job != e->row.id)
			continue;
		card->job = 0;
		if (card->idle_since) /* our own load was no online load: no hold time */
			card->idle_since = now - c->conf.idle_hold;
	}
	e->row.n_cards = 0;
	ptrs_drop(&c->holding, e);
	c->replan = true;
}

void job_set_error(struct entry *e, const char *text)
{
	free(e->row.error);
	e->row.error = xstrdup(text);
}

/* Computing stopped at @at. */
void job_stop_clock(struct entry *e, gq_time at)
{
	if (e->row.run_since && at > e->row.run_since)
		e->row.ran += at - e->row.run_since;
	e->row.run_since = 0;
	e->limit_signalled = false;
}

static void job_count_user(struct core *c, uid_t uid, int step)
{
	intptr_t n = (intptr_t)map_get(&c->per_user, uid) + step;

	c->n_alive = (size_t)((intptr_t)c->n_alive + step);
	if (n)
		map_put(&c->per_user, uid, (void *)n);
	else
		map_del(&c->per_user, uid);
}

/* Its state is an ended one: nothing of it stays but the row. */
void job_end(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	assert(job_state_is_ended(e->row.state));
	job_stop_clock(e, now);
	if (e->row.n_cards)
		job_release_cards(c, e, now);
	e->row.ended_at = now;
	e->row.image = 0;
	e->row.kill_at = GQ_NEVER;
	job_count_user(c, e->row.uid, -1);
	fx_add(fx, FX_FORGET_JOB, &e->row);
	note_job(c, e);
	core_sweep_later(c, now);
	if (e->row.exit_code < 0)
		note_audit(c, now, AUDIT_JOB, e->row.id, (uid_t)-1, "%s", job_state_name(e->row.state));
	else
		note_audit(c, now, AUDIT_JOB, e->row.id, (uid_t)-1, "%s, exit code %d signal %d",
			job_state_name(e->row.state), e->row.exit_code, e->row.exit_signal);
}

/* Tells the job to end; what its exit means is @after. */
void job_start_ending(struct core *c, struct entry *e, gq_time now, enum job_move after,
	gq_time kill_at, struct effects *fx)
{
	job_move_or_die(c, e, MOVE_END);
	e->row.after = (uint8_t)after;
	e->row.kill_at = kill_at > now ? kill_at : GQ_NEVER;
	if (kill_at > now)
		fx_add(fx, FX_SIGNAL, &e->row)->signal = SIGTERM;
	else
		fx_add(fx, FX_KILL, &e->row);
	note_job(c, e);
}

static int submit_check(const struct core *c, const struct event *ev, struct gq_err *err)
{
	const struct event_submit *s = &ev->submit;

	if (s->gpus < 1 || s->gpus > JOB_CARDS_MAX)
		return gq_err_set(err, -EINVAL, "gpus: asked for %u, allowed are 1 to %d", s->gpus,
			JOB_CARDS_MAX);
	if (s->checkpoint >= CHECKPOINT_N)
		return gq_err_set(err, -EINVAL, "checkpoint: unknown mode %u", s->checkpoint);
	if (s->priority > PRIORITY_MAX)
		return gq_err_set(err, -EINVAL, "priority: %lld, allowed are 0 to %d",
			(long long)s->priority, PRIORITY_MAX);
	if (s->priority > PRIORITY_DEFAULT && !s->privileged)
		return gq_err_set(err, -EPERM, "priority: only operators may ask for more than %d",
			PRIORITY_DEFAULT);
	if (s->level > 0 && !s->privileged)
		return gq_err_set(err, -EPERM, "qos: only operators may ask for high");
	if (s->level < -1 || s->level > 1)
		return gq_err_set(err, -EINVAL, "qos: %d, allowed are -1, 0 and 1", s->level);
	if (s->vram_mib < 0 || s->time_limit < 0 || s->time_min < 0 || s->grace < 0 || s->signal_before < 0)
		return gq_err_set(err, -EINVAL,
			"vram, time, time-min, grace and signal: a value is negative");
	if (s->time_min && s->time_limit != GQ_NEVER && s->time_min > s->time_limit)
		return gq_err_set(err, -EINVAL, "time-min: longer than the time limit");
	if (c->n_alive >= c->conf.max_jobs)
		return gq_err_set(err, -EDQUOT, "queue: full, %u jobs (limits.max_jobs)", c->conf.max_jobs);
	if ((size_t)(intptr_t)map_get(&c->per_user, s->uid) >= c->conf.max_jobs_per_user)
		return gq_err_set(err, -EDQUOT, "queue: you have %u jobs in it (limits.max_jobs_per_user)",
			c->conf.max_jobs_per_user);
	return 0;
}

static void submit_fill(struct job *j, const struct event_submit *s, gq_time now)
{
	*j = (struct job){.state = s->hold ? JOB_HELD : JOB_PENDING,
		.reason = s->hold ? REASON_HELD_USER : REASON_NONE, .checkpoint = s->checkpoint,
		.exit_saved = s->exit_saved, .signal = s->signal, .requeue = s->requeue,
		.level = s->level, .gpus = s->gpus, .uid = s->uid, .gid = s->gid,
		.priority = (uint32_t)(s->priority < 0 ? PRIORITY_DEFAULT : s->priority),
		.vram_mib = s->vram_mib, .signal_before = s->signal_before, .time_limit = s->time_limit,
		.time_min = s->time_min, .grace = s->grace, .begin_at = s->begin_at,
		.submitted_at = now, .kill_at = GQ_NEVER, .exit_code = -1};
}

int job_submit(struct core *c, gq_time now, struct event *ev, struct effects *fx,
	struct gq_err *err)
{
	const struct event_submit *s = &ev->submit;
	uint16_t cards[JOB_CARDS_MAX];
	struct job row;
	struct entry *e;
	size_t n;
	int r = submit_check(c, ev, err);

	if (r < 0)
		return r;
	submit_fill(&row, s, now);
	row.gpu_type = (char *)s->gpu_type; /* lent until the copy below */
	r = admit_check_ever(c, &row, err);
	if (r < 0)
		return r;
	if (s->test_only) {
		ev->ret_reason = s->hold ? REASON_HELD_USER : admit_place(c, &row, now, cards, &n);
		ev->ret_card = ev->ret_reason == REASON_NONE ? cards[0] : 0;
		return 0;
	}
	e = xnew(struct entry);
	e->row = row;
	e->row.id = c->next_job++;
	e->row.name = xstrdup(s->name && *s->name ? s->name : "job");
	e->row.account = xstrdup(s->account);
	e->row.gpu_type = xstrdup(s->gpu_type);
	map_put(&c->by_id, e->row.id, e);
	ptrs_add(&c->jobs, e);
	job_count_user(c, e->row.uid, 1);
	if (e->row.state == JOB_PENDING)
		queue_add(c, e);
	note_job(c, e);
	note_audit(c, now, AUDIT_JOB, e->row.id, s->uid, "submitted");
	ev->ret_id = e->row.id;
	if (e->row.state == JOB_PENDING)
		fill_new(c, e, now, fx);
	return 0;
}

static int job_cancel(struct core *c, struct entry *e, gq_time now, const struct event *ev,
	struct effects *fx, struct gq_err *err)
{
	struct job *j = &e->row;

	if (job_state_is_ended(j->state))
		return gq_err_set(err, -EPROTO, "job %u: has ended already (%s)", j->id,
			job_state_name(j->state));
	note_audit(c, now, AUDIT_JOB, j->id, ev->uid, "cancelled");
	if (!job_state_has_cards(j->state)) {
		job_move_or_die(c, e, MOVE_CANCEL);
		j->reason = REASON_NONE;
		job_end(c, e, now, fx);
		return 0;
	}
	if (j->state == JOB_ENDING) { /* asked again: no more waiting */
		j->after = MOVE_EXIT_CANCELLED;
		j->kill_at = GQ_NEVER;
		fx_add(fx, FX_KILL, j);
		note_job(c, e);
		return 0;
	}
	job_start_ending(c, e, now, MOVE_EXIT_CANCELLED,
		j->run_since && j->state != JOB_STORING ? now + c->conf.kill_wait : now, fx);
	return 0;
}

static int job_hold(struct core *c, struct entry *e, gq_time now, const struct event *ev,
	struct gq_err *err)
{
	if (e->row.state == JOB_HELD || e->row.state == JOB_STORED_HELD)
		return gq_err_set(err, -EPROTO, "job %u: is held already", e->row.id);
	if (job_move(c, e, MOVE_HOLD, NULL) < 0)
		return gq_err_set(err, -EPROTO,
			"job %u: is %s; only a waiting job can be held (to take it off its card: gqctl "
			"evict %u)", e->row.id, job_state_name(e->row.state), e->row.id);
	e->row.reason = ev->privileged && ev->uid != e->row.uid ? REASON_HELD_ADMIN : REASON_HELD_USER;
	note_audit(c, now, AUDIT_JOB, e->row.id, ev->uid, "held");
	return 0;
}

static int job_release(struct core *c, struct entry *e, gq_time now, const struct event *ev,
	struct gq_err *err)
{
	if (job_move_target(e->row.state, MOVE_RELEASE) == JOB_STATE_N)
		return gq_err_set(err, -EPROTO, "job %u: is %s, not held", e->row.id,
			job_state_name(e->row.state));
	if (e->row.reason == REASON_HELD_ADMIN && !ev->privileged)
		return gq_err_set(err, -EPERM, "job %u: held by an operator", e->row.id);
	job_move_or_die(c, e, MOVE_RELEASE);
	e->row.reason = REASON_NONE;
	e->row.begin_at = e->row.begin_at > now ? e->row.begin_at : 0;
	e->row.start_tries = e->row.restore_tries = 0;
	note_audit(c, now, AUDIT_JOB, e->row.id, ev->uid, "released");
	return 0;
}

int job_wish(struct core *c, gq_time now, struct event *ev, struct effects *fx, struct gq_err *err)
{
	struct entry *e = job_entry(c, ev->job);

	if (!e)
		return gq_err_set(err, -ENOENT, "job %u: no such job, or it ended long ago", ev->job);
	if (e->row.uid != ev->uid && !ev->privileged)
		return gq_err_set(err, -EPERM, "job %u: belongs to another user", ev->job);
	ev->ret_id = ev->job;
	switch (ev->type) {
	case EV_CANCEL: return job_cancel(c, e, now, ev, fx, err);
	case EV_HOLD: return job_hold(c, e, now, ev, err);
	case EV_RELEASE: return job_release(c, e, now, ev, err);
	default: return evict_wish(c, now, ev, fx, err);
	}
}
