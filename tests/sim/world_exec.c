/* SPDX-License-Identifier: MIT
 * world_exec.c - processes as exec and the shims have them: an incarnation is started once, a report is
 * repeated until it is forgotten, and everything may fail */
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "world.h"

static struct proc *proc_find(struct world *w, uint32_t job, uint32_t incarnation)
{
	for (size_t i = 0; i < WORLD_PROCS; i++)
		if (w->procs[i].job == job && (!job || w->procs[i].incarnation == incarnation))
			return &w->procs[i];
	return NULL;
}

const struct proc *exec_on_card(const struct world *w, uint16_t card)
{
	for (size_t i = 0; i < WORLD_PROCS; i++)
		for (size_t k = 0; w->procs[i].job && k < w->procs[i].n_cards; k++)
			if (w->procs[i].cards[k] == card)
				return &w->procs[i];
	return NULL;
}

/* A fact, told at once while gqd lives. */
static void exec_tell(struct world *w, const struct event *ev)
{
	if (!w->core)
		return;
	if (w->n_inbox == w->cap_inbox) {
		w->cap_inbox = w->cap_inbox ? w->cap_inbox * 2 : 16;
		w->inbox = xrealloc(w->inbox, w->cap_inbox, sizeof(*w->inbox));
	}
	w->inbox[w->n_inbox++] = *ev;
}

static struct event fact_of(const struct proc *p, enum event_type type)
{
	return (struct event){.type = type, .job = p->job, .incarnation = p->incarnation,
		.uid = (uid_t)-1, .text = "by chance"};
}

/* The last word about an incarnation: written down, then told. */
static void exec_record(struct world *w, struct proc *p, struct event ev)
{
	w->jobs[p->job].record = ev;
	w->jobs[p->job].has_record = true;
	exec_tell(w, &ev);
	p->job = 0;
}

static void image_add(struct world *w, uint32_t job, uint32_t incarnation, gq_time done)
{
	struct sim_job *j = &w->jobs[job];

	for (size_t i = 0; i < ARRAY_LEN(j->images); i++) {
		if (j->images[i].incarnation && j->images[i].incarnation != w->job_rows[job].image)
			j->images[i].incarnation = 0; /* left by a gqd that died before it dropped it */
		if (j->images[i].incarnation)
			continue;
		j->images[i].incarnation = incarnation;
		j->images[i].done = done;
		return;
	}
}

static bool image_find(const struct sim_job *j, uint32_t incarnation, gq_time *ret_done)
{
	for (size_t i = 0; i < ARRAY_LEN(j->images); i++) {
		if (j->images[i].incarnation != incarnation)
			continue;
		*ret_done = j->images[i].done;
		return true;
	}
	return false;
}

static void exec_check_start(struct world *w, const struct effect *f, const struct job *row)
{
	const struct sim_job *j = &w->jobs[f->job];

	if (f->incarnation < j->started)
		world_fail(w, "job %u: incarnation %u started after %u", f->job, f->incarnation, j->started);
	if (j->finished)
		world_fail(w, "job %u: runs again, and had ended by itself", f->job);
	for (size_t i = 0; i < row->n_cards; i++) {
		const struct proc *other = exec_on_card(w, row->cards[i]);

		if (other && (other->job != f->job || other->incarnation != f->incarnation))
			world_fail(w, "card %u: given to job %u, and job %u is on it", row->cards[i], f->job,
				other->job);
	}
}

static void exec_start(struct world *w, const struct effect *f)
{
	const struct job *row = core_job(w->core, f->job);
	struct sim_job *j = &w->jobs[f->job];
	struct proc *p = proc_find(w, 0, 0);
	gq_time done = 0;

	if (f->incarnation == j->started)
		return; /* adopted */
	exec_check_start(w, f, row);
	if (f->type == FX_RESTORE && !image_find(j, f->image, &done))
		world_fail(w, "job %u: no image %u to restore", f->job, f->image);
	j->started = f->incarnation;
	j->has_record = false;
	*p = (struct proc){.job = f->job, .incarnation = f->incarnation, .done = done,
		.phase = f->type == FX_START ? PROC_STARTING : PROC_RESTORING,
		.phase_end = w->now + world_between(w, GQ_MSEC(5), GQ_MSEC(1500)),
		.fails = world_chance(w, f->type == FX_START ? 20 : 150), .die_at = GQ_NEVER,
		.vanish_at = GQ_NEVER, .n_cards = row->n_cards};
	memcpy(p->cards, row->cards, sizeof(p->cards));
	if (world_chance(w, 60))
		p->vanish_at = w->now + world_between(w, 0, world_chance(w, 500) ? GQ_SEC(2) : GQ_SEC(4000));
}

static void exec_die(struct world *w, struct proc *p, gq_time after, int code, int sig)
{
	if (p->die_at <= w->now + after)
		return;
	p->die_at = w->now + after;
	p->die_code = code;
	p->die_signal = sig;
}

static void exec_signal(struct world *w, struct proc *p, int sig)
{
	const struct job *row = core_job(w->core, p->job);
	gq_time after = world_between(w, GQ_MSEC(1), GQ_SEC(40));

	if (p->phase != PROC_RUNNING || w->jobs[p->job].stubborn)
		return;
	if (row->checkpoint == CHECKPOINT_APP && world_chance(w, 700))
		exec_die(w, p, after, row->exit_saved, 0);
	else if (world_chance(w, 100))
		exec_die(w, p, after, (int)world_random(w, 3), 0);
	else if (world_chance(w, 500))
		exec_die(w, p, after, 128 + sig, 0);
	else
		exec_die(w, p, after, 0, sig);
}

static void exec_notice(struct world *w, struct proc *p, const struct effect *f)
{
	const struct job *row = core_job(w->core, p->job);
	gq_time grace = row->grace < w->conf.graceful_exit ? row->grace : w->conf.graceful_exit;

	w->notices++;
	p->promised = core_promise(w->core, row) - grace;
	if (f->signal)
		exec_signal(w, p, f->signal);
}

static void exec_store(struct world *w, struct proc *p, const struct effect *f)
{
	if (p->phase != PROC_RUNNING)
		return;
	p->phase = PROC_STORING;
	p->dump_at = w->now;
	p->fails = world_chance(w, 120);
	p->phase_end = w->now + world_between(w, GQ_MSEC(100), GQ_MSEC(700));
	if (world_chance(w, 100))
		p->phase_end += world_between(w, 0, GQ_SEC(20));
	if (p->phase_end > f->deadline) { /* given up */
		p->phase_end = f->deadline;
		p->fails = true;
	}
	p->excused |= p->fails || p->phase_end - p->dump_at > p->promised;
}

static void exec_drop_image(struct world *w, const struct effect *f)
{
	struct sim_job *j = &w->jobs[f->job];

	if (w->job_rows[f->job].image == f->image)
		world_fail(w, "job %u: its image %u is dropped", f->job, f->image);
	for (size_t i = 0; i < ARRAY_LEN(j->images); i++)
		if (j->images[i].incarnation == f->image)
			j->images[i].incarnation = 0;
}

static void exec_forget_job(struct world *w, const struct effect *f)
{
	struct sim_job *j = &w->jobs[f->job];

	if (!job_state_is_ended(w->job_rows[f->job].state))
		world_fail(w, "job %u: forgotten before it ended", f->job);
	memset(j->images, 0, sizeof(j->images));
	j->has_record = false;
}

static void exec_forget(struct world *w, const struct effect *f)
{
	struct sim_job *j = &w->jobs[f->job];

	if (j->record.incarnation == f->incarnation)
		j->has_record = false;
}

void exec_do(struct world *w, const struct effect *f)
{
	struct proc *p = proc_find(w, f->job, f->incarnation);
	static const char *const names[] = {[FX_START] = "start", [FX_RESTORE] = "restore",
		[FX_NOTICE] = "notice", [FX_NOTICE_OFF] = "notice off", [FX_STORE] = "store",
		[FX_SIGNAL] = "signal", [FX_KILL] = "kill", [FX_FORGET] = "forget",
		[FX_DROP_IMAGE] = "drop image", [FX_FORGET_JOB] = "forget job"};

	world_say(w, "  job %u.%u: %s", f->job, f->incarnation, names[f->type]);
	switch (f->type) {
	case FX_START:
	case FX_RESTORE: exec_start(w, f); return;
	case FX_FORGET: exec_forget(w, f); return;
	case FX_DROP_IMAGE: exec_drop_image(w, f); return;
	case FX_FORGET_JOB: exec_forget_job(w, f); return;
	default: break;
	}
	if (!p)
		return;
	switch (f->type) {
	case FX_NOTICE: exec_notice(w, p, f); break;
	case FX_STORE: exec_store(w, p, f); break;
	case FX_SIGNAL: exec_signal(w, p, f->signal); break;
	case FX_KILL: exec_die(w, p, world_between(w, GQ_MSEC(1), GQ_MSEC(100)), 0, SIGKILL); break;
	default: break;
	}
}

static void exec_adopt_one(struct world *w, const struct job *row)
{
	struct sim_job *j = &w->jobs[row->id];
	const struct proc *p = proc_find(w, row->id, row->incarnation);
	struct event ev = {.type = EV_GONE, .job = row->id, .incarnation = row->incarnation};

	if (p && p->since)
		ev = fact_of(p, EV_STARTED);
	else if (j->has_record && j->record.incarnation == row->incarnation)
		ev = j->record;
	if (!p || p->since)
		exec_tell(w, &ev);
}

void exec_adopt(struct world *w)
{
	const struct job *const *jobs;
	size_t n = core_jobs(w->core, &jobs);

	for (size_t i = 0; i < n; i++)
		if (job_state_has_cards(jobs[i]->state))
			exec_adopt_one(w, jobs[i]);
	for (size_t i = 0; i < WORLD_PROCS; i++) {
		const struct proc *p = &w->procs[i];
		const struct job *row = p->job ? core_job(w->core, p->job) : NULL;

		if (p->job && (!row || !job_state_has_cards(row->state) || row->incarnation != p->incarnation))
			world_fail(w, "job %u.%u: runs, and nobody knows it after a restart", p->job,
				p->incarnation);
	}
}

static gq_time proc_next(const struct proc *p)
{
	gq_time at = p->phase_end < p->die_at ? p->phase_end : p->die_at;

	return at < p->vanish_at ? at : p->vanish_at;
}

gq_time exec_next(const struct world *w)
{
	gq_time at = GQ_NEVER;

	for (size_t i = 0; i < WORLD_PROCS; i++)
		if (w->procs[i].job && proc_next(&w->procs[i]) < at)
			at = proc_next(&w->procs[i]);
	return at;
}

static void proc_stop(struct world *w, const struct proc *p, gq_time at)
{
	if (p->since && at > p->since)
		w->jobs[p->job].computed += at - p->since;
}

static void proc_vanishes(struct world *w, struct proc *p)
{
	struct event ev = fact_of(p, EV_GONE);

	world_say(w, "job %u.%u: vanishes", p->job, p->incarnation);
	proc_stop(w, p, w->now);
	exec_tell(w, &ev);
	p->job = 0;
}

static void proc_exits(struct world *w, struct proc *p, int code, int sig)
{
	struct event ev = fact_of(p, p->since ? EV_EXITED
			: p->phase == PROC_STARTING ? EV_START_FAILED : EV_RESTORE_FAILED);

	world_say(w, "job %u.%u: exits %d signal %d", p->job, p->incarnation, code, sig);
	proc_stop(w, p, w->now);
	ev.exit_code = code;
	ev.exit_signal = sig;
	exec_record(w, p, ev);
}

/* When it will have computed all it has to. */
static gq_time proc_end(const struct world *w, const struct proc *p)
{
	gq_time end = p->since + w->jobs[p->job].work - p->done;

	return end > w->now ? end : w->now + 1;
}

static void proc_runs(struct world *w, struct proc *p)
{
	struct event ev = fact_of(p, EV_STARTED);

	ev.took = world_between(w, GQ_MSEC(1), GQ_MSEC(900));
	p->phase = PROC_RUNNING;
	p->since = w->now;
	p->phase_end = proc_end(w, p);
	exec_tell(w, &ev);
}

static void proc_dumped(struct world *w, struct proc *p)
{
	struct event ev = fact_of(p, p->fails ? EV_STORE_FAILED : EV_STORED);

	world_say(w, "job %u.%u: dump %s after %.3f s", p->job, p->incarnation,
		p->fails ? "fails" : "is done", (double)(w->now - p->dump_at) / 1e9);
	if (p->fails) {
		p->phase = PROC_RUNNING;
		p->phase_end = proc_end(w, p);
		exec_tell(w, &ev);
		return;
	}
	image_add(w, p->job, p->incarnation, p->done + p->dump_at - p->since);
	proc_stop(w, p, p->dump_at);
	ev.took = w->now - p->dump_at;
	ev.bytes = (int64_t)world_random(w, 1000) << 20;
	exec_record(w, p, ev);
}

static void proc_phase_ends(struct world *w, struct proc *p)
{
	struct sim_job *j = &w->jobs[p->job];

	switch (p->phase) {
	case PROC_STARTING:
	case PROC_RESTORING:
		if (p->fails)
			exec_record(w, p, fact_of(p,
				p->phase == PROC_STARTING ? EV_START_FAILED : EV_RESTORE_FAILED));
		else
			proc_runs(w, p);
		break;
	case PROC_RUNNING:
		j->finished = j->exit_code == 0;
		proc_exits(w, p, j->exit_code, 0);
		break;
	case PROC_STORING: proc_dumped(w, p); break;
	}
}

void exec_pass(struct world *w)
{
	for (size_t i = 0; i < WORLD_PROCS; i++) {
		struct proc *p = &w->procs[i];

		if (!p->job || proc_next(p) > w->now)
			continue;
		if (p->vanish_at <= w->now)
			proc_vanishes(w, p);
		else if (p->die_at <= w->now)
			proc_exits(w, p, p->die_code, p->die_signal);
		else
			proc_phase_ends(w, p);
	}
}
