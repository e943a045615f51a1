/* SPDX-License-Identifier: MIT
 * world_store.c - rows by id, as a store keeps them, and a core made from them */
#include <stdlib.h>

#include "base/mem.h"
#include "world.h"

static struct job job_copy(const struct job *row)
{
	struct job copy = *row;

	copy.name = xstrdup(row->name);
	copy.account = xstrdup(row->account);
	copy.gpu_type = xstrdup(row->gpu_type);
	copy.error = xstrdup(row->error);
	return copy;
}

static void row_put_job(struct world *w, const struct job *row)
{
	job_clear(&w->job_rows[row->id]);
	w->job_rows[row->id] = job_copy(row);
	w->last_job = row->id > w->last_job ? row->id : w->last_job;
}

static void row_put_service(struct world *w, const struct service *row)
{
	w->service_rows[row->id] = *row;
	w->last_service = row->id > w->last_service ? row->id : w->last_service;
}

static void row_put_reservation(struct world *w, const struct reservation *row)
{
	w->reservation_rows[row->id] = *row;
	w->last_reservation = row->id > w->last_reservation ? row->id : w->last_reservation;
}

static void row_put_eviction(struct world *w, const struct eviction *row)
{
	struct eviction *to = &w->eviction_rows[row->id % WORLD_ROWS];

	if (row->id >= WORLD_ROWS)
		world_fail(w, "more evictions than the world has room for: %u", row->id);
	free(to->error);
	*to = *row;
	to->error = xstrdup(row->error);
	w->last_eviction = row->id > w->last_eviction ? row->id : w->last_eviction;
}

void store_commit(struct world *w)
{
	struct dirty d;

	core_dirty(w->core, &d);
	for (size_t i = 0; i < d.n_jobs; i++)
		row_put_job(w, d.jobs[i]);
	for (size_t i = 0; i < d.n_services; i++)
		row_put_service(w, d.services[i]);
	for (size_t i = 0; i < d.n_reservations; i++)
		row_put_reservation(w, d.reservations[i]);
	for (size_t i = 0; i < d.n_evictions; i++)
		row_put_eviction(w, d.evictions[i]);
	for (size_t i = 0; i < d.n_audits; i++)
		world_say(w, "    %s %u: %s", audit_kind_name(d.audits[i].kind), d.audits[i].id,
			d.audits[i].text);
	core_dirty_done(w->core);
}

struct core *store_load(struct world *w)
{
	struct core *c = core_new(&w->conf);

	for (uint32_t id = 1; id <= w->last_job; id++) {
		struct job row;

		if (job_state_is_ended(w->job_rows[id].state))
			continue;
		row = job_copy(&w->job_rows[id]);
		core_load_job(c, &row);
	}
	for (uint32_t id = 1; id <= w->last_service; id++)
		if (w->service_rows[id].name[0])
			core_load_service(c, &w->service_rows[id]);
	for (uint32_t id = 1; id <= w->last_reservation; id++)
		if (w->reservation_rows[id].state < RESERVATION_ENDED)
			core_load_reservation(c, &w->reservation_rows[id]);
	for (uint32_t id = 1; id <= w->last_eviction; id++) {
		struct eviction row = w->eviction_rows[id];

		if (row.how != HOW_PENDING)
			continue;
		row.error = xstrdup(row.error);
		core_load_eviction(c, &row);
	}
	core_load_next_ids(c, w->last_job + 1, w->last_reservation + 1, w->last_service + 1,
		w->last_eviction + 1);
	return c;
}
