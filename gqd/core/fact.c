/* SPDX-License-Identifier: MIT
 * fact.c - what exec reported about one incarnation of a job
 * A report about another incarnation, or one that says what is known already, changes nothing. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

#define START_WAIT GQ_SEC(30) /* before another start, where the machine had no room for one */
#define QUICK_EXIT GQ_SEC(5) /* a job that saves itself again and again at once is slowed down */

static void fact_audit(struct core *c, const struct entry *e, gq_time now, const char *what,
	const char *text)
{
	note_audit(c, now, AUDIT_JOB, e->row.id, (uid_t)-1, "%s%s%.150s", what, text ? ": " : "",
		text ? text : "");
}

static void fact_started(struct core *c, struct entry *e, gq_time now, const struct event *ev,
	struct effects *fx)
{
	struct job *j = &e->row;

	(void)fx;
	if (j->run_since && (j->state == JOB_RUNNING || j->state == JOB_NOTICE))
		fact_audit(c, e, now, "adopted by a new gqd: it computes on", NULL);
	if (j->run_since || (j->state != JOB_STARTING && j->state != JOB_RESTORING &&
				    j->state != JOB_ENDING))
		return;
	j->run_since = now;
	if (!j->started_at)
		j->started_at = now;
	if (j->state == JOB_ENDING)
		return;
	if (j->restored)
		cost_learn_restore(c, j, ev->took);
	j->restore_tries = 0;
	fact_audit(c, e, now, j->restored ? "resumed" : "started", NULL);
	job_move_or_die(c, e, MOVE_STARTED);
}

/* What it computed since it was last safe is lost, and it starts or resumes again. */
static gq_time fact_lose_work(struct entry *e, gq_time now)
{
	struct job *j = &e->row;
	gq_time lost;

	job_stop_clock(e, now);
	lost = j->ran - j->ran_saved;
	j->ran = j->ran_saved;
	j->lost += lost;
	return lost;
}

static void fact_keep_work(struct entry *e, gq_time at)
{
	job_stop_clock(e, at);
	e->row.ran_saved = e->row.ran;
}

/* It waits again, in whatever state the move put it. */
static void fact_back_in_queue(struct core *c, struct entry *e, gq_time now, enum reason reason,
	struct effects *fx)
{
	fx_add(fx, FX_FORGET, &e->row);
	job_release_cards(c, e, now);
	e->row.reason = (uint8_t)reason;
	e->row.kill_at = GQ_NEVER;
	e->row.exit_code = -1; /* this end was not its end */
	e->row.exit_signal = 0;
	e->row.restored = false;
	if (e->row.hold_after && job_move_target(e->row.state, MOVE_HOLD) != JOB_STATE_N)
		job_move_or_die(c, e, MOVE_HOLD);
	if (e->row.hold_after)
		e->row.reason = REASON_HELD_USER;
	e->row.hold_after = false;
	note_job(c, e);
}

static bool move_is_eviction(enum job_move m)
{
	return m == MOVE_EXIT_EVICTED || m == MOVE_EXIT_PREEMPTED || m == MOVE_EXIT_HELD ||
	       m == MOVE_EXIT_RESTORE;
}

static bool exit_is_saved(const struct job *j, const struct event *ev)
{
	return j->checkpoint == CHECKPOINT_APP && !ev->exit_signal && ev->exit_code == j->exit_saved;
}

/* Did the signal of the notice end it, directly or through a shell? */
static bool exit_is_by_notice(const struct job *j, const struct event *ev)
{
	int s = evict_signal(j);

	return s && (ev->exit_signal == s || (!ev->exit_signal && ev->exit_code == 128 + s));
}

static enum job_move exit_move(const struct job *j, const struct event *ev)
{
	bool clean = !ev->exit_code && !ev->exit_signal;

	if (j->state == JOB_ENDING) {
		if (move_is_eviction(j->after) && exit_is_saved(j, ev))
			return MOVE_EXIT_SAVED;
		return move_is_eviction(j->after) && clean ? MOVE_EXIT_OK : (enum job_move)j->after;
	}
	if (exit_is_saved(j, ev))
		return MOVE_EXIT_SAVED;
	if ((j->state == JOB_NOTICE || j->state == JOB_STORING) && exit_is_by_notice(j, ev))
		return evict_exit_move(j);
	return clean ? MOVE_EXIT_OK : MOVE_EXIT_BAD;
}

static enum reason exit_reason(const struct job *j, enum job_move m)
{
	switch (m) {
	case MOVE_EXIT_TIMEOUT: return REASON_TIME_LIMIT;
	case MOVE_EXIT_PREEMPTED: return REASON_EVICTED;
	case MOVE_EXIT_BAD: return j->exit_signal ? REASON_RAISED_SIGNAL : REASON_NON_ZERO_EXIT;
	default: return REASON_NONE;
	}
}

static void exit_requeued(struct core *c, struct entry *e, gq_time now, enum job_move m,
	struct effects *fx)
{
	struct job *j = &e->row;
	gq_time ran = j->run_since ? now - j->run_since : 0, lost = 0;
	bool evicted = j->eviction != 0;

	if (m == MOVE_EXIT_SAVED)
		fact_keep_work(e, now);
	else
		lost = fact_lose_work(e, now);
	j->requeues += m != MOVE_EXIT_SAVED && m != MOVE_EXIT_RESTORE;
	if (evicted)
		evict_left(c, e, now,
			m == MOVE_EXIT_SAVED ? HOW_APP
			: m == MOVE_EXIT_RESTORE && !lost ? HOW_STORE : HOW_REQUEUE, lost);
	if (m == MOVE_EXIT_SAVED && !evicted && ran < QUICK_EXIT)
		j->begin_at = now + QUICK_EXIT;
	if (m == MOVE_EXIT_HELD)
		j->hold_after = true;
	fact_audit(c, e, now, m == MOVE_EXIT_SAVED ? "saved itself, waits to go on"
		: m == MOVE_EXIT_RESTORE ? "ended, will resume from its image"
					 : "ended, will start again", NULL);
	fact_back_in_queue(c, e, now, m == MOVE_EXIT_SAVED && !evicted ? REASON_RETRY : REASON_EVICTED,
		fx);
}

static void fact_ended_with(struct core *c, struct entry *e, gq_time now, enum job_move m,
	struct effects *fx)
{
	job_move_or_die(c, e, m);
	if (!job_state_is_ended(e->row.state)) {
		exit_requeued(c, e, now, m, fx);
		return;
	}
	if (e->row.eviction)
		evict_left(c, e, now, m == MOVE_EXIT_PREEMPTED ? HOW_REQUEUE : HOW_EXIT,
			m == MOVE_EXIT_PREEMPTED && e->row.run_since ? now - e->row.run_since : 0);
	e->row.reason = (uint8_t)exit_reason(&e->row, m);
	job_end(c, e, now, fx);
}

/* When it happened, as far as it can be true: a shim's clock is ours. */
static gq_time fact_at(const struct job *j, const struct event *ev, gq_time now)
{
	return ev->at > j->run_since && ev->at < now ? ev->at : now;
}

static void fact_exited(struct core *c, struct entry *e, gq_time now, const struct event *ev,
	struct effects *fx)
{
	struct job *j = &e->row;
	gq_time at = fact_at(j, ev, now);

	if (!job_state_has_cards(j->state))
		return;
	if (!j->started_at)
		j->started_at = at;
	j->exit_code = ev->exit_code;
	j->exit_signal = ev->exit_signal;
	if (j->run_since)
		j->run_since += now - at; /* it did not compute until somebody looked */
	fact_ended_with(c, e, now, exit_move(j, ev), fx);
	if (job_state_is_ended(j->state))
		j->ended_at = at;
}

static void fact_start_failed(struct core *c, struct entry *e, gq_time now, const struct event *ev,
	struct effects *fx)
{
	if (e->row.state == JOB_ENDING) {
		fact_ended_with(c, e, now, e->row.after, fx);
		return;
	}
	if (e->row.state != JOB_STARTING)
		return;
	job_set_error(e, ev->text);
	fact_audit(c, e, now, ev->again ? "could not be started now, will be tried again"
					: "could not be started", ev->text);
	if (ev->again) {
		job_move_or_die(c, e, MOVE_GONE);
		e->row.begin_at = now + START_WAIT;
		fact_back_in_queue(c, e, now, REASON_RETRY, fx);
		return;
	}
	e->row.exit_code = 1;
	e->row.reason = REASON_START_FAILED;
	job_move_or_die(c, e, MOVE_START_FAILED);
	job_end(c, e, now, fx);
}

static void fact_stored(struct core *c, struct entry *e, gq_time now, const struct event *ev,
	struct effects *fx)
{
	struct job *j = &e->row;
	bool cancelled = j->state == JOB_ENDING && !move_is_eviction(j->after);
	uint32_t old = j->image;
	gq_time took;

	if (j->state != JOB_STORING && j->state != JOB_ENDING)
		return;
	if (cancelled) {
		fact_ended_with(c, e, now, j->after, fx);
		return;
	}
	fact_keep_work(e, fact_at(j, ev, now) - ev->took);
	/* what counts is when the card was free, not when criu was done */
	took = e->store_began && now - e->store_began > ev->took ? now - e->store_began : ev->took;
	cost_learn_store(c, j, took, ev->bytes);
	e->store_began = 0;
	j->image = j->incarnation;
	if (old && old != j->image)
		fx_add(fx, FX_DROP_IMAGE, j)->image = old;
	evict_left(c, e, now, HOW_STORE, 0);
	job_set_error(e, NULL);
	job_move_or_die(c, e, j->state == JOB_ENDING ? MOVE_EXIT_RESTORE
		: j->hold_after ? MOVE_STORED_HELD : MOVE_STORED);
	note_audit(c, now, AUDIT_JOB, j->id, (uid_t)-1, "stored in %lld ms, image %u of %lld MiB",
		(long long)(ev->took / GQ_NS_PER_MS), j->image, (long long)(ev->bytes >> 20));
	fact_back_in_queue(c, e, now, REASON_EVICTED, fx);
}

static void fact_restore_failed(struct core *c, struct entry *e, gq_time now, const struct event *ev,
	struct effects *fx)
{
	struct job *j = &e->row;
	bool again;

	if (j->state == JOB_ENDING) {
		fact_ended_with(c, e, now, j->after, fx);
		return;
	}
	if (j->state != JOB_RESTORING)
		return;
	job_set_error(e, ev->text);
	again = ++j->restore_tries < c->conf.restore_tries;
	job_move_or_die(c, e, again ? MOVE_RESTORE_FAILED : MOVE_RESTORE_HELD);
	if (again)
		j->begin_at = now + (c->conf.retry_wait << (j->restore_tries < 10 ? j->restore_tries - 1 : 9));
	fact_audit(c, e, now,
		again ? "restore failed, will be tried again" : "restore failed, held, its image stays",
		ev->text);
	fact_back_in_queue(c, e, now, again ? REASON_RETRY : REASON_RESTORE_FAILED, fx);
}

static enum job_move gone_move(const struct core *c, struct job *j)
{
	if (j->state == JOB_ENDING)
		return move_is_eviction(j->after) || j->after == MOVE_EXIT_CANCELLED ||
				       j->after == MOVE_EXIT_TIMEOUT
			       ? (enum job_move)j->after : MOVE_LOST;
	if (j->image)
		return MOVE_GONE_IMAGE;
	if (!j->requeue)
		return MOVE_LOST;
	if ((j->state == JOB_STARTING || j->state == JOB_RUNNING) &&
		++j->start_tries > c->conf.max_requeue)
		return MOVE_GONE_HELD;
	return MOVE_GONE;
}

static void fact_gone(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	struct job *j = &e->row;
	enum job_move m;
	gq_time lost;

	if (!job_state_has_cards(j->state))
		return;
	if (j->state == JOB_RESTORING) { /* a restore that kills its shim must not be tried for ever */
		fact_restore_failed(c, e, now, &(struct event){.text = "its shim is gone without a trace"},
			fx);
		return;
	}
	m = gone_move(c, j);
	fact_audit(c, e, now, "its processes are gone without a trace: killed, or the machine went down",
		NULL);
	if (j->state == JOB_ENDING && m != MOVE_LOST) {
		j->exit_signal = SIGKILL;
		fact_ended_with(c, e, now, m, fx);
		return;
	}
	job_move_or_die(c, e, m);
	lost = fact_lose_work(e, now);
	if (j->eviction)
		evict_left(c, e, now, HOW_REQUEUE, lost);
	if (m == MOVE_LOST) {
		j->exit_signal = SIGKILL;
		j->reason = REASON_LOST;
		job_end(c, e, now, fx);
		return;
	}
	j->requeues += m != MOVE_GONE_IMAGE;
	fact_back_in_queue(c, e, now, m == MOVE_GONE_HELD ? REASON_HOLD_MAX_REQUEUE : REASON_NONE, fx);
}

void fact_apply(struct core *c, gq_time now, const struct event *ev, struct effects *fx)
{
	struct entry *e = job_entry(c, ev->job);

	if (!e || e->row.incarnation != ev->incarnation)
		return;
	switch (ev->type) {
	case EV_STARTED: fact_started(c, e, now, ev, fx); break;
	case EV_START_FAILED: fact_start_failed(c, e, now, ev, fx); break;
	case EV_EXITED: fact_exited(c, e, now, ev, fx); break;
	case EV_STORED: fact_stored(c, e, now, ev, fx); break;
	case EV_STORE_FAILED:
		if (e->row.state == JOB_STORING)
			evict_store_failed(c, e, now, ev->text, fx);
		break;
	case EV_RESTORE_FAILED: fact_restore_failed(c, e, now, ev, fx); break;
	case EV_GONE: fact_gone(c, e, now, fx); break;
	case EV_JOB_SIZE: e->row.rss_mib = ev->rss_mib; break;
	default: break;
	}
}
