/* SPDX-License-Identifier: MIT
 * core_world.c - a core with some cards and a clock of its own, for tests of gqd/core */
#include "core_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define STEPS_PER_INSTANT 64

static struct eviction evictions[256]; /* as a store would have them: by id */

static _Noreturn void broken(const struct core_world *w, const char *what, const char *text)
{
	fprintf(stderr, "core_world: at +%.3f s: %s: %s\n", (double)(w->now - CW_START) / 1e9, what, text);
	abort();
}

void cw_conf_init(struct core_conf *c)
{
	core_conf_default(c);
	c->margin = GQ_MSEC(200);
	c->store_base = GQ_MSEC(800);
	c->store_mib_per_s = 300;
	c->min_window = GQ_SEC(300);
	c->graceful_exit = c->kill_wait = GQ_SEC(30);
	c->sudden_grace = GQ_SEC(2);
	c->idle_hold = GQ_SEC(10);
	c->cost_factor = 3;
	c->vram_permille = 400;
	c->keep_ended = GQ_SEC(300);
}

void cw_init(struct core_world *w, size_t n_cards, const struct core_conf *conf)
{
	*w = (struct core_world){.now = CW_START};
	memset(evictions, 0, sizeof(evictions));
	cw_conf_init(&w->conf);
	if (conf)
		w->conf = *conf;
	w->core = core_new(&w->conf);
	for (uint16_t i = 0; i < n_cards; i++) {
		struct event ev = cw_card(i);

		cw_do(w, &ev);
	}
}

void cw_clear(struct core_world *w)
{
	core_free(w->core);
	effects_clear(&w->fx);
	w->core = NULL;
}

static uint64_t hash_add(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* Everything that a client or the store can see of the core, as one number. */
static uint64_t world_hash(const struct core_world *w)
{
	const struct job *const *jobs;
	const struct service *const *services;
	const struct reservation *const *reservations;
	const struct card *const *cards;
	size_t n;
	uint64_t h = core_version(w->core);

	n = core_jobs(w->core, &jobs);
	for (size_t i = 0; i < n; i++)
		h = hash_add(h, jobs[i], sizeof(*jobs[i]));
	n = core_services(w->core, &services);
	for (size_t i = 0; i < n; i++)
		h = hash_add(h, services[i], sizeof(*services[i]));
	n = core_reservations(w->core, &reservations);
	for (size_t i = 0; i < n; i++)
		h = hash_add(h, reservations[i], sizeof(*reservations[i]));
	n = core_cards(w->core, &cards);
	for (size_t i = 0; i < n; i++)
		h = hash_add(h, cards[i], sizeof(*cards[i]));
	return h;
}

/* What the store does with a turn. */
static void world_commit(struct core_world *w)
{
	struct dirty d;

	core_dirty(w->core, &d);
	for (size_t i = 0; i < d.n_evictions; i++) {
		struct eviction *row = &evictions[d.evictions[i]->id % ARRAY_LEN(evictions)];

		*row = *d.evictions[i];
		row->error = NULL; /* the core's */
		if (d.evictions[i]->error)
			str_copy(w->eviction_error, sizeof(w->eviction_error), d.evictions[i]->error);
	}
	if (d.n_audits)
		str_copy(w->last_audit, sizeof(w->last_audit), d.audits[d.n_audits - 1].text);
	core_dirty_done(w->core);
}

int cw_step(struct core_world *w, struct event *ev)
{
	uint64_t before = world_hash(w);
	size_t n_fx = w->fx.len;
	struct gq_err err = {0};
	struct dirty d;
	int r;

	w->err = (struct gq_err){0};
	r = core_step(w->core, w->now, ev, &w->fx, &w->err);
	if (core_check(w->core, w->now, &err) < 0)
		broken(w, "invariant", err.text);
	core_dirty(w->core, &d);
	if (r < 0 && (world_hash(w) != before || w->fx.len != n_fx || d.n_jobs || d.n_services ||
			     d.n_reservations || d.n_evictions || d.n_audits))
		broken(w, "a refused event changed something", w->err.text);
	if (r < 0 && !w->err.text[0])
		broken(w, "a refused event has no text", "");
	world_commit(w);
	return r;
}

void cw_do(struct core_world *w, struct event *ev)
{
	if (cw_step(w, ev) < 0)
		broken(w, "refused", w->err.text);
}

void cw_tick(struct core_world *w)
{
	struct event ev = {.type = EV_TICK, .uid = (uid_t)-1};

	cw_do(w, &ev);
}

void cw_until(struct core_world *w, gq_time t)
{
	int steps = 0;

	while (core_next_deadline(w->core) <= t) {
		gq_time at = core_next_deadline(w->core);

		if (at > w->now) {
			w->now = at;
			steps = 0;
		}
		if (++steps > STEPS_PER_INSTANT)
			broken(w, "a deadline does not pass", "");
		cw_tick(w);
	}
	w->now = t;
	cw_tick(w);
}

void cw_conf(struct core_world *w)
{
	struct event ev = {.type = EV_CONF, .uid = (uid_t)-1, .conf = &w->conf};

	cw_do(w, &ev);
}

static void load_job(struct core *to, const struct job *from)
{
	struct job row = *from;

	row.name = xstrdup(from->name);
	row.account = xstrdup(from->account);
	row.gpu_type = xstrdup(from->gpu_type);
	row.error = xstrdup(from->error);
	core_load_job(to, &row);
}

void cw_restart(struct core_world *w)
{
	struct core *old = w->core, *new = core_new(&w->conf);
	const struct job *const *jobs;
	const struct service *const *services;
	const struct reservation *const *reservations;
	const struct card *const *cards;
	uint32_t last_job = 0, last_reservation = 0, last_service = 0, last_eviction = 0;
	size_t n = core_jobs(old, &jobs), n_cards;

	for (size_t i = 0; i < n; i++) {
		last_job = jobs[i]->id;
		if (!job_state_is_ended(jobs[i]->state))
			load_job(new, jobs[i]);
	}
	n = core_services(old, &services);
	for (size_t i = 0; i < n; i++) {
		core_load_service(new, services[i]);
		last_service = services[i]->id;
	}
	n = core_reservations(old, &reservations);
	for (size_t i = 0; i < n; i++) {
		last_reservation = reservations[i]->id;
		if (reservations[i]->state < RESERVATION_ENDED)
			core_load_reservation(new, reservations[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(evictions); i++) {
		if (evictions[i].id > last_eviction)
			last_eviction = evictions[i].id;
		if (evictions[i].id && evictions[i].how == HOW_PENDING)
			core_load_eviction(new, &evictions[i]);
	}
	core_load_next_ids(new, last_job + 1, last_reservation + 1, last_service + 1, last_eviction + 1);
	cw_forget(w);
	w->core = new;
	core_resume(new, w->now, &w->fx);
	n_cards = core_cards(old, &cards);
	for (uint16_t i = 0; i < n_cards; i++) {
		struct event ev = cw_card(i);

		cw_do(w, &ev);
	}
	core_free(old);
}

struct event cw_job(void)
{
	return (struct event){.type = EV_SUBMIT, .uid = CW_ALICE,
		.submit = {.name = "job", .uid = CW_ALICE, .gid = CW_ALICE, .gpus = 1,
			.time_limit = GQ_NEVER, .grace = GQ_NEVER, .exit_saved = 85, .requeue = true,
			.priority = -1}};
}

uint32_t cw_submit(struct core_world *w, struct event ev)
{
	cw_do(w, &ev);
	return ev.ret_id;
}

uint32_t cw_submit_one(struct core_world *w)
{
	return cw_submit(w, cw_job());
}

uint32_t cw_run(struct core_world *w, struct event ev)
{
	uint32_t id = cw_submit(w, ev);

	if (cw_state(w, id) != JOB_STARTING)
		broken(w, "the job does not start", reason_name(cw_reason(w, id)));
	cw_started(w, id);
	return id;
}

int cw_wish(struct core_world *w, enum event_type type, uint32_t job, uid_t uid)
{
	struct event ev = {.type = type, .job = job, .uid = uid, .privileged = uid == CW_ROOT};

	return cw_step(w, &ev);
}

int cw_evict(struct core_world *w, uint32_t job, enum evict_mode mode, gq_time grace)
{
	struct event ev = {.type = EV_EVICT, .job = job, .privileged = true,
		.evict_mode = (uint8_t)mode, .evict_grace = grace};

	return cw_step(w, &ev);
}

struct event cw_reserve_event(uint16_t card, gq_time start, gq_time end, int64_t vram_mib)
{
	return (struct event){.type = EV_RESERVE, .privileged = true,
		.reserve = {.start = start, .end = end, .n_cards = 1, .cards = {card},
			.vram_mib = vram_mib}};
}

uint32_t cw_reserve(struct core_world *w, uint16_t card, gq_time start, gq_time end,
	int64_t vram_mib)
{
	struct event ev = cw_reserve_event(card, start, end, vram_mib);

	cw_do(w, &ev);
	return ev.ret_id;
}

int cw_unreserve(struct core_world *w, uint32_t id)
{
	struct event ev = {.type = EV_UNRESERVE, .id = id, .privileged = true};

	return cw_step(w, &ev);
}

struct event cw_service_event(const char *name, uint16_t card, int64_t reserve_mib)
{
	struct event ev = {.type = EV_SERVICE_PUT, .privileged = true,
		.service = {.uid = CW_ROOT, .n_cards = 1, .cards = {card}, .reserve_mib = reserve_mib}};

	str_copy(ev.service.name, sizeof(ev.service.name), name);
	return ev;
}

uint32_t cw_service(struct core_world *w, const char *name, uint16_t card, int64_t reserve_mib)
{
	struct event ev = cw_service_event(name, card, reserve_mib);

	cw_do(w, &ev);
	return ev.ret_id;
}

void cw_service_say(struct core_world *w, const char *name, enum service_state state)
{
	struct event ev = {.type = EV_SERVICE_RENEW, .privileged = true, .has_state = true,
		.service = {.state = (uint8_t)state}};

	str_copy(ev.service.name, sizeof(ev.service.name), name);
	cw_do(w, &ev);
}

struct event cw_fact(const struct core_world *w, enum event_type type, uint32_t job)
{
	return (struct event){.type = type, .job = job, .uid = (uid_t)-1,
		.incarnation = cw_look(w, job)->incarnation};
}

void cw_started(struct core_world *w, uint32_t job)
{
	struct event ev = cw_fact(w, EV_STARTED, job);

	ev.took = GQ_MSEC(100);
	cw_do(w, &ev);
}

void cw_exited(struct core_world *w, uint32_t job, int code, int signal)
{
	struct event ev = cw_fact(w, EV_EXITED, job);

	ev.exit_code = code;
	ev.exit_signal = signal;
	cw_do(w, &ev);
}

void cw_stored(struct core_world *w, uint32_t job, gq_time took, int64_t mib)
{
	struct event ev = cw_fact(w, EV_STORED, job);

	ev.took = took;
	ev.bytes = mib << 20;
	cw_do(w, &ev);
}

void cw_failed(struct core_world *w, enum event_type type, uint32_t job, const char *text)
{
	struct event ev = cw_fact(w, type, job);

	ev.text = text;
	cw_do(w, &ev);
}

void cw_gone(struct core_world *w, uint32_t job)
{
	struct event ev = cw_fact(w, EV_GONE, job);

	cw_do(w, &ev);
}

struct event cw_card(uint16_t index)
{
	static const char *const uuids[] = {"GPU-0", "GPU-1", "GPU-2", "GPU-3", "GPU-4", "GPU-5", "GPU-6",
		"GPU-7"};

	return (struct event){.type = EV_CARD, .uid = (uid_t)-1,
		.card = {.index = index, .present = true, .uuid = uuids[index % ARRAY_LEN(uuids)],
			.model = "Sim H100", .mem_total_mib = CW_CARD_MIB}};
}

const struct job *cw_look(const struct core_world *w, uint32_t job)
{
	const struct job *j = core_job(w->core, job);

	if (!j)
		broken(w, "no such job", "");
	return j;
}

enum job_state cw_state(const struct core_world *w, uint32_t job)
{
	return cw_look(w, job)->state;
}

enum reason cw_reason(const struct core_world *w, uint32_t job)
{
	return core_reason(w->core, cw_look(w, job), w->now);
}

const struct reservation *cw_reservation(const struct core_world *w, uint32_t id)
{
	const struct reservation *const *list;
	size_t n = core_reservations(w->core, &list);

	for (size_t i = 0; i < n; i++)
		if (list[i]->id == id)
			return list[i];
	broken(w, "no such reservation", "");
}

const struct effect *cw_fx(const struct core_world *w, enum effect_type type, uint32_t job)
{
	for (size_t i = w->fx.len; i-- > 0;)
		if (w->fx.list[i].type == type && w->fx.list[i].job == job)
			return &w->fx.list[i];
	return NULL;
}

void cw_forget(struct core_world *w)
{
	w->fx.len = 0;
}

const struct eviction *cw_eviction(const struct core_world *w, uint32_t job)
{
	const struct eviction *last = NULL;

	(void)w;
	for (size_t i = 0; i < ARRAY_LEN(evictions); i++)
		if (evictions[i].id && evictions[i].job == job && (!last || evictions[i].id > last->id))
			last = &evictions[i];
	return last;
}
