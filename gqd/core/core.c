/* SPDX-License-Identifier: MIT
 * core.c - the way in: one event, then everything that follows from it */
#include "core.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

#define SWEEP_EVERY       GQ_SEC(30)
#define RESERVATION_KEPT  GQ_SEC(86400)

void core_conf_default(struct core_conf *c)
{
	*c = (struct core_conf){.unified = true, .online_priority = true, .offline_fill = true,
		.vram_permille = 400, .reserve_vram = RESERVE_ALWAYS, .graceful_exit = GQ_SEC(30),
		.sudden_grace = GQ_SEC(2), .kill_wait = GQ_SEC(30), .min_window = GQ_SEC(300),
		.idle_hold = GQ_SEC(10), .cost_factor = 3, .margin = GQ_MSEC(200),
		.store_base = GQ_MSEC(400), .store_mib_per_s = 300, .restore_mib_per_s = 150,
		.max_requeue = 5, .restore_tries = 3, .store_tries = 2, .retry_wait = GQ_SEC(2),
		.keep_ended = GQ_SEC(300), .max_jobs = 100000, .max_jobs_per_user = 10000,
		.can_store = true};
}

struct core *core_new(const struct core_conf *conf)
{
	struct core *c = xnew(struct core);

	c->conf = *conf;
	c->next_job = c->next_reservation = c->next_service = c->next_eviction = 1;
	c->next_begin = c->next_sweep = c->deadline = GQ_NEVER;
	return c;
}

static void eviction_free(struct eviction *v)
{
	free(v->error);
	free(v);
}

struct core *core_free(struct core *c)
{
	if (!c)
		return NULL;
	for EACH (struct entry, e, c->jobs, i) {
		job_clear(&e->row);
		free(e);
	}
	for EACH (struct card, card, c->cards, i) {
		free(card->labels);
		free(card);
	}
	for EACH (struct eviction, v, c->evictions, i)
		eviction_free(v);
	for EACH (struct service, s, c->services, i)
		free(s);
	for EACH (struct service, s, c->buried, i)
		free(s);
	for EACH (struct reservation, r, c->reservations, i)
		free(r);
	for EACH (struct bucket, b, c->buckets, i)
		free(b);
	struct ptrs *all[] = {&c->jobs, &c->holding, &c->buckets, &c->cards, &c->services,
		&c->reservations, &c->dirty_jobs, &c->dirty_services, &c->dirty_reservations,
		&c->dirty_evictions, &c->evictions, &c->buried};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ptrs_clear(all[i]);
	map_clear(&c->by_id);
	map_clear(&c->by_wish);
	free(c->offers);
	map_clear(&c->per_user);
	free(c->audits);
	free(c);
	return NULL;
}

void core_load_job(struct core *c, const struct job *row)
{
	struct entry *e = xnew(struct entry);
	intptr_t n = (intptr_t)map_get(&c->per_user, row->uid) + 1;

	e->row = *row;
	map_put(&c->by_id, row->id, e);
	map_put(&c->per_user, row->uid, (void *)n);
	ptrs_add(&c->jobs, e);
	c->n_alive++;
	if (row->version > c->version)
		c->version = row->version;
	if (row->state == JOB_PENDING || row->state == JOB_STORED)
		queue_add(c, e);
	if (!job_state_has_cards(row->state))
		return;
	for (size_t i = 0; i < row->n_cards; i++)
		card_make(c, row->cards[i])->job = row->id;
	ptrs_add(&c->holding, e);
}

void core_load_service(struct core *c, const struct service *row)
{
	struct service *s = xnew(struct service);

	*s = *row;
	ptrs_add(&c->services, s);
}

void core_load_reservation(struct core *c, const struct reservation *row)
{
	struct reservation *r = xnew(struct reservation);

	*r = *row;
	ptrs_add(&c->reservations, r);
}

void core_load_eviction(struct core *c, const struct eviction *row)
{
	struct eviction *v = xnew(struct eviction);

	*v = *row;
	ptrs_add(&c->evictions, v);
}

void core_load_next_ids(struct core *c, uint32_t job, uint32_t reservation, uint32_t service,
	uint32_t eviction)
{
	c->next_job = job;
	c->next_reservation = reservation;
	c->next_service = service;
	c->next_eviction = eviction;
}

static void resume_job(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	switch (e->row.state) {
	case JOB_STARTING: fx_add(fx, FX_START, &e->row); break;
	case JOB_RESTORING: fx_add(fx, FX_RESTORE, &e->row); break;
	case JOB_RUNNING: fx_add(fx, FX_NOTICE_OFF, &e->row); break;
	case JOB_NOTICE:
	case JOB_STORING: evict_resume(c, e, now, fx); break;
	case JOB_ENDING: /* its time may have run out meanwhile, or the signal was lost with gqd */
		if (e->row.kill_at == GQ_NEVER || e->row.kill_at <= now)
			fx_add(fx, FX_KILL, &e->row);
		else
			fx_add(fx, FX_SIGNAL, &e->row)->signal = SIGTERM;
		break;
	default: break;
	}
}

static void core_set_deadline(struct core *c, gq_time now);

void core_resume(struct core *c, gq_time now, struct effects *fx)
{
	for EACH (struct service, s, c->services, i)
		if (!s->lease_lost)
			s->lease_until = s->lease ? now + s->lease : GQ_NEVER;
	reserve_set_clocks(c, now);
	for EACH (struct entry, e, c->holding, i)
		resume_job(c, e, now, fx);
	c->replan = true;
	core_set_deadline(c, now);
}

static gq_time earlier(gq_time a, gq_time b)
{
	return a < b ? a : b;
}

static void core_set_deadline(struct core *c, gq_time now)
{
	gq_time at = earlier(evict_deadline(c, now), earlier(c->next_begin, c->next_sweep));

	for EACH (const struct service, s, c->services, i)
		if (!s->lease_lost)
			at = earlier(at, s->lease_until);
	for EACH (const struct reservation, r, c->reservations, i) {
		if (!reserve_is_live(r))
			continue;
		at = earlier(at, r->end);
		if (r->start > now)
			at = earlier(at, r->start);
	}
	for EACH (const struct card, card, c->cards, i)
		if (!card->job && card->idle_since && card->idle_since + c->conf.idle_hold > now)
			at = earlier(at, card->idle_since + c->conf.idle_hold);
	c->deadline = at;
}

static void core_settle(struct core *c, gq_time now, struct effects *fx)
{
	if (c->deadline <= now)
		c->replan = true;
	service_pass(c, now);
	reserve_pass(c, now);
	evict_pass(c, now, fx);
	if (c->replan)
		fill_pass(c, now, fx);
	reserve_pass(c, now);
	if (c->next_sweep <= now) {
		c->sweep_before = now - c->conf.keep_ended;
		c->next_sweep = now + SWEEP_EVERY;
	}
	core_set_deadline(c, now);
	c->offers_at = 0; /* made before the last of this was decided */
}

int core_step(struct core *c, gq_time now, struct event *ev, struct effects *fx,
	struct gq_err *err)
{
	int r = 0;

	c->offers_at = 0;
	switch (ev->type) {
	case EV_SUBMIT: r = job_submit(c, now, ev, fx, err); break;
	case EV_CANCEL:
	case EV_HOLD:
	case EV_RELEASE:
	case EV_EVICT: r = job_wish(c, now, ev, fx, err); break;
	case EV_SERVICE_PUT:
	case EV_SERVICE_RENEW:
	case EV_SERVICE_DELETE: r = service_wish(c, now, ev, err); break;
	case EV_RESERVE:
	case EV_UNRESERVE: r = reserve_wish(c, now, ev, err); break;
	case EV_CARD: r = card_event(c, now, ev, err); break;
	case EV_CONF:
		c->conf = *ev->conf;
		c->replan = true;
		reserve_set_clocks(c, now);
		break;
	case EV_TICK: break;
	default: fact_apply(c, now, ev, fx); break;
	}
	if (r < 0)
		return r;
	core_settle(c, now, fx);
	return 0;
}

gq_time core_next_deadline(const struct core *c)
{
	return c->deadline;
}

void core_dirty(struct core *c, struct dirty *ret)
{
	*ret = (struct dirty){
		.jobs = (const struct job *const *)c->dirty_jobs.list, .n_jobs = c->dirty_jobs.len,
		.services = (const struct service *const *)c->dirty_services.list,
		.n_services = c->dirty_services.len,
		.reservations = (const struct reservation *const *)c->dirty_reservations.list,
		.n_reservations = c->dirty_reservations.len,
		.evictions = (const struct eviction *const *)c->dirty_evictions.list,
		.n_evictions = c->dirty_evictions.len, .audits = c->audits, .n_audits = c->n_audits};
}

/* Something is over: it leaves memory after a while. */
void core_sweep_later(struct core *c, gq_time now)
{
	if (c->next_sweep == GQ_NEVER)
		c->next_sweep = now + c->conf.keep_ended;
}

/* Takes ended jobs out of memory; the time from which the next one may go, GQ_NEVER = none left. */
static gq_time core_sweep_jobs(struct core *c)
{
	gq_time next = GQ_NEVER;
	size_t keep = 0;

	for EACH (struct entry, e, c->jobs, i) {
		bool ended = job_state_is_ended(e->row.state);

		if (ended && e->row.ended_at <= c->sweep_before) {
			map_del(&c->by_id, e->row.id);
			job_clear(&e->row);
			free(e);
			continue;
		}
		if (ended)
			next = earlier(next, e->row.ended_at + c->conf.keep_ended);
		c->jobs.list[keep++] = e;
	}
	c->jobs.len = keep;
	return next;
}

/* The same for reservations: deleted ones at once, ended ones can be seen for a day. */
static gq_time core_sweep_reservations(struct core *c)
{
	gq_time next = GQ_NEVER;

	for (size_t i = c->reservations.len; i-- > 0;) {
		struct reservation *r = c->reservations.list[i];

		if (reserve_is_live(r))
			continue;
		if (r->state == RESERVATION_ENDED && r->end > c->sweep_before - RESERVATION_KEPT) {
			next = earlier(next, r->end + RESERVATION_KEPT + c->conf.keep_ended);
			continue;
		}
		ptrs_remove(&c->reservations, i);
		free(r);
	}
	return next;
}

/* What is over leaves memory; its rows stay in the store. */
static void core_sweep(struct core *c)
{
	gq_time now = c->sweep_before + c->conf.keep_ended;
	gq_time next = earlier(core_sweep_jobs(c), core_sweep_reservations(c));

	c->next_sweep = next < now + SWEEP_EVERY ? now + SWEEP_EVERY : next;
	c->sweep_before = 0;
}

void core_dirty_done(struct core *c)
{
	for EACH (struct entry, e, c->dirty_jobs, i)
		e->dirty = false;
	for (size_t i = c->evictions.len; i-- > 0;) {
		struct eviction *v = c->evictions.list[i];

		if (v->how == HOW_PENDING)
			continue;
		ptrs_remove(&c->evictions, i);
		eviction_free(v);
	}
	for EACH (struct service, s, c->buried, i)
		free(s);
	c->dirty_jobs.len = c->dirty_services.len = c->dirty_reservations.len = 0;
	c->dirty_evictions.len = c->buried.len = c->n_audits = 0;
	if (c->sweep_before)
		core_sweep(c);
}

const struct job *core_job(const struct core *c, uint32_t id)
{
	return map_get(&c->by_id, id);
}

size_t core_jobs(const struct core *c, const struct job *const **ret)
{
	*ret = (const struct job *const *)c->jobs.list;
	return c->jobs.len;
}

size_t core_cards(const struct core *c, const struct card *const **ret)
{
	*ret = (const struct card *const *)c->cards.list;
	return c->cards.len;
}

size_t core_services(const struct core *c, const struct service *const **ret)
{
	*ret = (const struct service *const *)c->services.list;
	return c->services.len;
}

size_t core_reservations(const struct core *c, const struct reservation *const **ret)
{
	*ret = (const struct reservation *const *)c->reservations.list;
	return c->reservations.len;
}

const struct core_conf *core_settings(const struct core *c)
{
	return &c->conf;
}

uint64_t core_version(const struct core *c)
{
	return c->version;
}
