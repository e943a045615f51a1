/* SPDX-License-Identifier: MIT
 * evict.c - who has to leave, when and how
 * Announced: at `due - promise` the job is told (NOTICE) and computes on; at `due - cost - margin` the
 * exit period ends: it is stored, or killed where it cannot be. Sudden: the same with the exit period
 * cut to what is left, down to nothing for a job that can be stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>

#include "base/mem.h"
#include "core_priv.h"

#define OVERRUN GQ_SEC(5) /* a dump may run over its due time by this or its own estimate */

struct eviction *evict_row(const struct core *c, uint32_t id)
{
	for EACH (struct eviction, v, c->evictions, i)
		if (v->id == id)
			return v;
	return NULL;
}

static void evict_text(const struct core *c, const struct claim *claim, char *buf, size_t size)
{
	const struct service *s = NULL;
	char when[40];

	switch (claim->cause) {
	case CAUSE_RESERVATION:
		for EACH (const struct reservation, r, c->reservations, i)
			if (r->id == claim->ref)
				s = service_by_id(c, r->service);
		snprintf(buf, size, "reservation %u%s%s starts at %s", claim->ref, s ? " of " : "",
			s ? s->name : "", gq_time_iso(claim->at, when));
		break;
	case CAUSE_SERVICE:
	case CAUSE_LEASE:
		s = service_by_id(c, claim->ref);
		snprintf(buf, size, "service %s %s", s ? s->name : "?",
			claim->cause == CAUSE_LEASE ? "lost its lease, which counts as in use"
						    : "needs its cards");
		break;
	case CAUSE_FOREIGN: snprintf(buf, size, "a process outside gq took VRAM on the card"); break;
	case CAUSE_CARD: snprintf(buf, size, "the card is lost or faulty"); break;
	default: snprintf(buf, size, "an operator asked for it"); break;
	}
}

/* Jobs that must have left at the same moment share the disk: each is promised its turn's end. */
static int evict_crowd(const struct core *c, gq_time at)
{
	int n = 0;

	for EACH (const struct entry, e, c->holding, i)
		n += e->claim.at == at && cost_can_store(c, &e->row) && e->row.state != JOB_ENDING;
	return n > 1 ? n : 1;
}

/* Who wants the cards of the jobs that hold some: looked up once for all that follows. */
static void evict_look(struct core *c, gq_time now)
{
	for EACH (struct entry, e, c->holding, i)
		e->claim = window_claim_all(c, &e->row, now);
}

static gq_time evict_cost(const struct core *c, const struct job *j, gq_time due, gq_time now)
{
	gq_time cost = cost_leave(c, j);

	return due > now && cost ? cost * evict_crowd(c, due) : cost;
}

/* When the exit period of a job that leaves for @due has to end. */
static gq_time evict_store_at(const struct core *c, const struct job *j, gq_time due, gq_time now)
{
	gq_time cost = evict_cost(c, j, due, now);

	return due - cost - cost_margin(c, cost);
}

int evict_signal(const struct job *j)
{
	if (j->signal)
		return j->signal;
	return j->checkpoint == CHECKPOINT_AUTO ? 0 : SIGTERM;
}

/* A signal that was asked for "N seconds before the end" comes with the notice if that is later. */
static gq_time evict_signal_at(const struct job *j)
{
	if (j->signal && j->signal_before < j->store_at - j->notice_at)
		return j->store_at - j->signal_before;
	return j->notice_at;
}

static void evict_tell(struct core *c, struct entry *e, const struct claim *claim, struct effects *fx)
{
	struct effect *f = fx_add(fx, FX_NOTICE, &e->row);

	f->cause = e->row.cause;
	f->deadline = e->row.store_at;
	f->signal = evict_signal_at(&e->row) <= e->row.notice_at ? evict_signal(&e->row) : 0;
	e->signalled = f->signal != 0 || !evict_signal(&e->row);
	evict_text(c, claim, f->text, sizeof(f->text));
}

static struct eviction *evict_record(struct core *c, struct entry *e, const struct claim *claim,
	gq_time now)
{
	struct eviction *v = xnew(struct eviction);
	struct job *j = &e->row;

	*v = (struct eviction){.id = c->next_eviction++, .job = j->id,
		.incarnation = j->incarnation, .cause = claim->cause, .ref = claim->ref,
		.sudden = j->sudden, .n_cards = j->n_cards, .notice_at = j->notice_at,
		.due_at = j->due_at};
	memcpy(v->cards, j->cards, sizeof(v->cards));
	v->predicted_free_at = j->store_at + evict_cost(c, j, j->due_at, now);
	ptrs_add(&c->evictions, v);
	note_eviction(c, v);
	j->eviction = v->id;
	j->evictions++;
	return v;
}

static void evict_mark_sudden(struct core *c, const struct claim *claim)
{
	if (claim->cause != CAUSE_RESERVATION)
		return;
	for EACH (struct reservation, r, c->reservations, i) {
		if (r->id == claim->ref && !r->sudden) {
			r->sudden = true;
			note_reservation(c, r);
		}
	}
}

/* The plan: fills notice_at, store_at, due_at, sudden. */
static void evict_plan(struct core *c, struct job *j, const struct claim *claim, gq_time now)
{
	gq_time grace = cost_grace(c, j);
	gq_time least = cost_can_store(c, j) ? 0
			: grace < c->conf.sudden_grace ? grace : c->conf.sudden_grace;

	j->cause = claim->cause;
	j->notice_at = now;
	j->due_at = claim->at;
	j->store_at = evict_store_at(c, j, claim->at, now);
	/* what the planner's own timer may be late by is not worth the word */
	j->sudden = j->store_at - now < grace - GQ_MSEC(50) &&
		    j->store_at - now < grace - grace / 50;
	if (j->store_at < now + least)
		j->store_at = now + least;
	if (j->store_at > now + grace && claim->cause != CAUSE_RESERVATION)
		j->store_at = now + grace;
}

enum job_move evict_exit_move(const struct job *j)
{
	if (j->image)
		return MOVE_EXIT_RESTORE;
	if (!j->requeue && j->checkpoint != CHECKPOINT_APP)
		return MOVE_EXIT_PREEMPTED;
	return j->hold_after ? MOVE_EXIT_HELD : MOVE_EXIT_EVICTED;
}

static void evict_start(struct core *c, struct entry *e, const struct claim *claim, gq_time now,
	struct effects *fx)
{
	char text[160];

	evict_plan(c, &e->row, claim, now);
	e->row.store_tries = 0;
	evict_record(c, e, claim, now);
	if (e->row.sudden)
		evict_mark_sudden(c, claim);
	evict_text(c, claim, text, sizeof(text));
	note_audit(c, now, AUDIT_JOB, e->row.id, (uid_t)-1, "%snotice: %s",
		e->row.sudden ? "sudden " : "", text);
	if (!e->row.run_since) { /* it has not computed yet: nothing to keep */
		job_start_ending(c, e, now, evict_exit_move(&e->row), now, fx);
		return;
	}
	job_move_or_die(c, e, MOVE_NOTICE);
	evict_tell(c, e, claim, fx);
	note_job(c, e);
}

static void evict_call_off(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	evict_left(c, e, now, HOW_CALLED_OFF, 0);
	job_move_or_die(c, e, MOVE_CALLED_OFF);
	fx_add(fx, FX_NOTICE_OFF, &e->row);
	note_job(c, e);
	note_audit(c, now, AUDIT_JOB, e->row.id, (uid_t)-1, "notice called off: nothing needs its card");
}

/* The exit period is over. */
static void evict_go(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	struct job *j = &e->row;
	struct effect *f;
	gq_time over = cost_store(c, j) > OVERRUN ? cost_store(c, j) : OVERRUN;

	if (!cost_can_store(c, j)) {
		job_start_ending(c, e, now, evict_exit_move(j), now, fx);
		return;
	}
	job_move_or_die(c, e, MOVE_STORE);
	j->store_tries++;
	e->store_began = now;
	f = fx_add(fx, FX_STORE, j);
	f->cause = j->cause;
	f->deadline = (j->due_at > now ? j->due_at : now) + over;
	j->kill_at = f->deadline + OVERRUN; /* a shim that does not answer does not keep the card */
	note_job(c, e);
}

static bool evict_may(const struct core *c, const struct claim *claim)
{
	return claim->at != GQ_NEVER && (c->conf.online_priority || claim->cause == CAUSE_CARD);
}

/* A later claim may come before the one the job leaves for, or that one may be gone. */
static void evict_review(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	struct claim claim = e->claim;
	struct job *j = &e->row;
	gq_time planned = j->store_at;
	struct eviction *v;

	if (!evict_may(c, &claim))
		claim.at = GQ_NEVER;
	if (claim.at >= j->due_at) {
		if (!j->hold_after && /* an operator's wish is not called off */
			(claim.at == GQ_NEVER || (claim.at > j->due_at &&
				claim.at - core_promise(c, j) > now + GQ_SEC(1))))
			evict_call_off(c, e, now, fx);
		return;
	}
	evict_plan(c, j, &claim, now);
	if (j->store_at > planned) /* what was promised to the first stands */
		j->store_at = planned;
	v = evict_row(c, j->eviction);
	if (v) {
		j->notice_at = v->notice_at;
		v->cause = claim.cause;
		v->ref = claim.ref;
		v->due_at = j->due_at;
		v->sudden = j->sudden;
		v->predicted_free_at = j->store_at + evict_cost(c, j, j->due_at, now);
		note_eviction(c, v);
	}
	if (j->sudden)
		evict_mark_sudden(c, &claim);
	evict_tell(c, e, &claim, fx);
	note_job(c, e);
}

/* The moment at which a job that runs has to be told. */
static gq_time evict_notice_at(const struct core *c, const struct job *j, const struct claim *claim,
	gq_time now)
{
	if (!evict_may(c, claim))
		return GQ_NEVER;
	return evict_store_at(c, j, claim->at, now) - cost_grace(c, j);
}

static gq_time limit_at(const struct job *j)
{
	if (j->time_limit == GQ_NEVER || !j->run_since)
		return GQ_NEVER;
	return j->run_since + j->time_limit - j->ran;
}

static gq_time limit_signal_at(const struct entry *e)
{
	gq_time at = limit_at(&e->row);

	if (at == GQ_NEVER || !e->row.signal || e->limit_signalled)
		return GQ_NEVER;
	return at - e->row.signal_before;
}

static void evict_limit(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	if (limit_signal_at(e) <= now) {
		e->limit_signalled = true;
		fx_add(fx, FX_SIGNAL, &e->row)->signal = e->row.signal;
	}
	if (limit_at(&e->row) <= now) {
		note_audit(c, now, AUDIT_JOB, e->row.id, (uid_t)-1, "reached its time limit");
		job_start_ending(c, e, now, MOVE_EXIT_TIMEOUT, now + c->conf.kill_wait, fx);
	}
}

/* When an ending job is killed: its own time, or before somebody needs the card. */
static gq_time evict_kill_at(const struct core *c, const struct entry *e)
{
	gq_time at = evict_may(c, &e->claim) ? e->claim.at - cost_margin(c, 0) : GQ_NEVER;

	return at < e->row.kill_at && e->row.kill_at != GQ_NEVER ? at : e->row.kill_at;
}

static void evict_one(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	if (e->row.state == JOB_RUNNING || e->row.state == JOB_NOTICE)
		evict_limit(c, e, now, fx);
	switch (e->row.state) {
	case JOB_STARTING:
	case JOB_RESTORING:
	case JOB_RUNNING:
		if (evict_notice_at(c, &e->row, &e->claim, now) > now)
			return;
		evict_start(c, e, &e->claim, now, fx);
		break;
	case JOB_NOTICE: evict_review(c, e, now, fx); break;
	case JOB_STORING:
		if (e->row.kill_at <= now)
			job_start_ending(c, e, now, evict_exit_move(&e->row), now, fx);
		return;
	case JOB_ENDING:
		if (evict_kill_at(c, e) <= now) {
			fx_add(fx, FX_KILL, &e->row);
			e->row.kill_at = GQ_NEVER;
			note_job(c, e);
		}
		return;
	default: return;
	}
	if (e->row.state != JOB_NOTICE)
		return;
	if (!e->signalled && evict_signal_at(&e->row) <= now) {
		e->signalled = true;
		fx_add(fx, FX_SIGNAL, &e->row)->signal = evict_signal(&e->row);
	}
	if (e->row.store_at <= now)
		evict_go(c, e, now, fx);
}

void evict_pass(struct core *c, gq_time now, struct effects *fx)
{
	evict_look(c, now);
	/* ending a job may take it off the list: from the back */
	for (size_t i = c->holding.len; i-- > 0;)
		evict_one(c, c->holding.list[i], now, fx);
}

static gq_time earlier(gq_time a, gq_time b)
{
	return a < b ? a : b;
}

gq_time evict_deadline(struct core *c, gq_time now)
{
	gq_time at = GQ_NEVER;

	evict_look(c, now);
	for EACH (const struct entry, e, c->holding, i) {
		const struct job *j = &e->row;

		switch (j->state) {
		case JOB_STARTING:
		case JOB_RESTORING:
		case JOB_RUNNING:
			at = earlier(at, evict_notice_at(c, j, &e->claim, now));
			break;
		case JOB_NOTICE:
			at = earlier(at, j->store_at);
			if (!e->signalled)
				at = earlier(at, evict_signal_at(j));
			break;
		case JOB_STORING: at = earlier(at, j->kill_at); break;
		case JOB_ENDING: at = earlier(at, evict_kill_at(c, e)); break;
		default: break;
		}
		if (j->state == JOB_RUNNING || j->state == JOB_NOTICE)
			at = earlier(at, earlier(limit_at(j), limit_signal_at(e)));
	}
	return at;
}

/* The job has left (or stays after all): closes its eviction row. */
void evict_left(struct core *c, struct entry *e, gq_time now, enum how how, gq_time lost)
{
	struct eviction *v = evict_row(c, e->row.eviction);

	e->row.eviction = 0;
	e->row.cause = CAUSE_NONE;
	e->row.notice_at = e->row.store_at = e->row.due_at = 0;
	e->row.sudden = false;
	e->row.store_tries = 0;
	e->signalled = false;
	if (!v)
		return;
	v->how = (uint8_t)how;
	v->free_at = how == HOW_CALLED_OFF ? 0 : now;
	v->late = v->free_at > v->due_at ? v->free_at - v->due_at : 0;
	v->lost = lost;
	note_eviction(c, v);
}

/* The dump did not work and the job computes on: once more if there is time, else the none road; a
 * job that only an operator wanted away stays. */
void evict_store_failed(struct core *c, struct entry *e, gq_time now, const char *text,
	struct effects *fx)
{
	struct eviction *v = evict_row(c, e->row.eviction);
	struct job *j = &e->row;

	job_set_error(e, text);
	j->kill_at = GQ_NEVER;
	if (v) {
		free(v->error);
		v->error = xstrdup(text);
		note_eviction(c, v);
	}
	note_audit(c, now, AUDIT_JOB, j->id, (uid_t)-1, "snapshot failed: %.160s", text);
	if (j->cause == CAUSE_OPERATOR) {
		job_move_or_die(c, e, MOVE_STORE_GIVEN_UP);
		j->hold_after = false;
		evict_left(c, e, now, HOW_CALLED_OFF, 0);
		fx_add(fx, FX_NOTICE_OFF, j);
	} else if (j->store_tries < c->conf.store_tries &&
		   now + cost_store(c, j) + cost_margin(c, 0) <= j->due_at) {
		job_move_or_die(c, e, MOVE_STORE_FAILED);
	} else {
		job_start_ending(c, e, now, evict_exit_move(j), j->due_at > now ? j->due_at : now, fx);
	}
	note_job(c, e);
}

/* After a restart of gqd: what this leaving job still needs. */
void evict_resume(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	struct claim claim = window_claim_all(c, &e->row, now);
	struct effect *f;

	if (claim.at == GQ_NEVER)
		claim = (struct claim){e->row.due_at, e->row.cause, 0};
	if (e->row.state == JOB_NOTICE) {
		evict_tell(c, e, &claim, fx);
		return;
	}
	f = fx_add(fx, FX_STORE, &e->row);
	f->cause = e->row.cause;
	f->deadline = (e->row.due_at > now ? e->row.due_at : now) + cost_store(c, &e->row) + OVERRUN;
}

int evict_wish(struct core *c, gq_time now, const struct event *ev, struct effects *fx,
	struct gq_err *err)
{
	struct entry *e = job_entry(c, ev->job);
	struct claim claim = {now, CAUSE_OPERATOR, 0};
	gq_time grace;
	struct job *j;

	j = &e->row;
	if (j->state != JOB_RUNNING)
		return gq_err_set(err, -EPROTO, "job %u: is %s; only a running job can be evicted", j->id,
			job_state_name(j->state));
	if (ev->evict_mode == EVICT_STORE && !cost_can_store(c, j))
		return gq_err_set(err, -EPROTO, "job %u: cannot be stored (--checkpoint=%s%s); use --requeue",
			j->id, checkpoint_mode_name(j->checkpoint),
			c->conf.can_store ? "" : ", and gqd has no capsule or CRIU here");
	grace = ev->evict_grace < cost_grace(c, j) ? ev->evict_grace : cost_grace(c, j);
	j->hold_after = true;
	j->cause = CAUSE_OPERATOR;
	j->notice_at = now;
	j->store_at = now + grace;
	j->due_at = now + grace + cost_leave(c, j) + cost_margin(c, cost_leave(c, j));
	j->sudden = false;
	evict_record(c, e, &(struct claim){j->due_at, CAUSE_OPERATOR, 0}, now);
	note_audit(c, now, AUDIT_JOB, j->id, ev->uid, "eviction asked for");
	if (ev->evict_mode == EVICT_REQUEUE) {
		job_start_ending(c, e, now, evict_exit_move(j), now + grace, fx);
		return 0;
	}
	job_move_or_die(c, e, MOVE_NOTICE);
	evict_tell(c, e, &claim, fx);
	note_job(c, e);
	return 0;
}
