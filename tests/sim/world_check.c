/* SPDX-License-Identifier: MIT
 * world_check.c - the rules that hold in every world, beyond core_check() */
#include <stdlib.h>

#include "world.h"

static uint64_t hash_add(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* What can be seen of reservations and services; every change of a job grows the version. */
uint64_t check_hash(const struct world *w)
{
	const struct reservation *const *reservations;
	const struct service *const *services;
	uint64_t h = core_version(w->core);
	size_t n = core_reservations(w->core, &reservations);

	for (size_t i = 0; i < n; i++)
		h = hash_add(h, reservations[i], sizeof(*reservations[i]));
	n = core_services(w->core, &services);
	for (size_t i = 0; i < n; i++)
		h = hash_add(h, services[i], sizeof(*services[i]));
	return h;
}

void check_refused(struct world *w, uint64_t before)
{
	struct dirty d;

	core_dirty(w->core, &d);
	if (check_hash(w) != before || w->fx.len || d.n_jobs || d.n_services || d.n_reservations ||
		d.n_evictions || d.n_audits)
		world_fail(w, "a refused event changed something");
}

/* Whoever is on a card is who the core believes to be there. */
static void check_procs(struct world *w)
{
	for (size_t i = 0; i < WORLD_PROCS; i++) {
		const struct proc *p = &w->procs[i];
		const struct job *row = p->job ? core_job(w->core, p->job) : NULL;

		if (p->job && (!row || !job_state_has_cards(row->state) || row->incarnation != p->incarnation))
			world_fail(w, "job %u.%u: runs, and the core has it as %s", p->job, p->incarnation,
				row ? job_state_name(row->state) : "unknown");
	}
}

/* A job that holds cards has a process, or a fact about it is on its way: else nothing moves it. */
static void check_moves(struct world *w, const struct job *j)
{
	for (size_t i = 0; i < WORLD_PROCS; i++)
		if (w->procs[i].job == j->id && w->procs[i].incarnation == j->incarnation)
			return;
	for (size_t i = 0; i < w->n_inbox; i++)
		if (w->inbox[i].job == j->id && w->inbox[i].incarnation == j->incarnation)
			return;
	world_fail(w, "job %u: %s, and no process and no fact will ever move it", j->id,
		job_state_name(j->state));
}

static void check_job(struct world *w, const struct job *j)
{
	if (job_state_has_cards(j->state))
		check_moves(w, j);
	else if (!job_state_is_ended(j->state) && core_reason(w->core, j, w->now) == REASON_NONE)
		world_fail(w, "job %u: waits without a reason", j->id);
	if (job_state_is_ended(j->state) &&
		llabs(j->ran + j->lost - w->jobs[j->id].computed) > w->slack)
		world_fail(w, "job %u: ran %.3f + lost %.3f, in truth %.3f s", j->id, (double)j->ran / 1e9,
			(double)j->lost / 1e9, (double)w->jobs[j->id].computed / 1e9);
	if (j->ran < 0 || j->lost < 0 || j->ran_saved < 0 || j->run_since > w->now)
		world_fail(w, "job %u: negative work", j->id);
}

/* Was it wished so late that no promise covers it, or was gqd away, or its settings others? */
static bool reservation_is_excused(const struct world *w, const struct reservation *r,
	const struct job *j)
{
	gq_time before = r->start - core_promise(w->core, j) - GQ_SEC(5);

	return r->sudden || !w->conf.online_priority || w->made_at[r->id] > before ||
	       w->last_down > before || w->conf_at > before;
}

/* A reserved second is never overrun when the promise was kept. */
static void check_reservation(struct world *w, const struct reservation *r)
{
	if (r->state != RESERVATION_WAITING || r->vram_mib)
		return;
	for (size_t i = 0; i < r->n_cards; i++) {
		const struct proc *p = exec_on_card(w, r->cards[i]);
		const struct job *j = p ? core_job(w->core, p->job) : NULL;

		if (!j || p->excused || reservation_is_excused(w, r, j))
			continue;
		world_fail(w, "reservation %u: started %.3f s ago, and job %u is on card %u (%s, promise %.3f s)",
			r->id, (double)(w->now - r->start) / 1e9, j->id, r->cards[i],
			job_state_name(j->state), (double)core_promise(w->core, j) / 1e9);
	}
}

static void check_evictions(struct world *w)
{
	for (uint32_t id = 1; id <= w->last_eviction; id++) {
		const struct eviction *v = &w->eviction_rows[id];

		if (v->how == HOW_PENDING && w->job_rows[v->job].eviction != id)
			world_fail(w, "eviction %u of job %u: open, and the job knows nothing of it", id, v->job);
		if (v->how != HOW_PENDING && v->how != HOW_CALLED_OFF && v->free_at < v->notice_at)
			world_fail(w, "eviction %u: free before its notice", id);
	}
}

void check_step(struct world *w)
{
	const struct job *const *jobs;
	const struct reservation *const *reservations;
	size_t n = core_jobs(w->core, &jobs);

	check_procs(w);
	for (size_t i = 0; i < n; i++)
		check_job(w, jobs[i]);
	n = core_reservations(w->core, &reservations);
	for (size_t i = 0; i < n; i++)
		check_reservation(w, reservations[i]);
	if (w->steps % 16 == 0)
		check_evictions(w);
}

void check_end(struct world *w)
{
	if (w->broken[0])
		return;
	check_evictions(w);
	for (uint32_t id = 1; id <= w->last_job; id++)
		if (!job_state_is_ended(w->job_rows[id].state))
			world_fail(w, "job %u: forgotten, %s (%s)", id, job_state_name(w->job_rows[id].state),
				reason_name(core_reason(w->core, core_job(w->core, id), w->now)));
	for (uint32_t id = 1; id <= w->last_eviction; id++)
		if (w->eviction_rows[id].how == HOW_PENDING)
			world_fail(w, "eviction %u: still open", id);
	for (size_t i = 0; i < WORLD_PROCS; i++)
		if (w->procs[i].job)
			world_fail(w, "job %u: runs at the end", w->procs[i].job);
}
