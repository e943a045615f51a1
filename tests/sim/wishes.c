/* SPDX-License-Identifier: MIT
 * wishes.c - what users, operators, services and drivers want of the core, at random */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "world.h"

#define GIB(n) ((int64_t)(n) * 1024)

static uint64_t dice(struct world *w, uint64_t n)
{
	return world_random(w, n);
}

static void wish_asker(struct world *w, struct event *ev)
{
	ev->uid = 1000 + (uid_t)dice(w, 3);
	ev->privileged = dice(w, 3) == 0;
}

static void wish_submit(struct world *w)
{
	struct event ev = {.type = EV_SUBMIT};
	struct event_submit *s = &ev.submit;
	struct sim_job *j = &w->jobs[w->last_job + 1];

	if (w->last_job + 2 >= WORLD_JOBS)
		return;
	wish_asker(w, &ev);
	*s = (struct event_submit){.name = "sim", .uid = ev.uid, .privileged = ev.privileged,
		.gpus = dice(w, 5) ? 1 : (uint16_t)(1 + dice(w, 4)),
		.vram_mib = dice(w, 3) ? 0 : (int64_t)dice(w, GIB(36)),
		.time_limit = dice(w, 3) ? GQ_NEVER : world_between(w, GQ_SEC(30), GQ_SEC(20000)),
		.time_min = dice(w, 6) ? 0 : world_between(w, 0, GQ_SEC(1800)),
		.grace = dice(w, 2) ? GQ_NEVER : world_between(w, 0, GQ_SEC(60)),
		.begin_at = dice(w, 8) ? 0 : w->now + world_between(w, 0, GQ_SEC(5000)),
		.signal_before = world_between(w, 0, GQ_SEC(90)), .checkpoint = (uint8_t)dice(w, 3),
		.exit_saved = 85, .signal = dice(w, 4) ? 0 : SIGUSR1, .requeue = dice(w, 4) != 0,
		.hold = dice(w, 12) == 0, .test_only = dice(w, 20) == 0,
		.level = (int8_t)(dice(w, 3) - 1), .priority = (int64_t)dice(w, 1200) - 100};
	*j = (struct sim_job){.work = world_between(w, GQ_MSEC(1), GQ_SEC(dice(w, 3) ? 500 : 20000)),
		.stubborn = dice(w, 4) == 0, .exit_code = dice(w, 5) ? 0 : 1};
	world_step(w, &ev);
}

static void wish_about_job(struct world *w)
{
	static const enum event_type types[] = {EV_CANCEL, EV_HOLD, EV_RELEASE, EV_RELEASE, EV_EVICT,
		EV_EVICT};
	struct event ev = {.type = types[dice(w, ARRAY_LEN(types))],
		.job = 1 + (uint32_t)dice(w, w->last_job + 2), .evict_mode = (uint8_t)dice(w, 3),
		.evict_grace = dice(w, 2) ? GQ_NEVER : world_between(w, 0, GQ_SEC(60))};

	wish_asker(w, &ev);
	world_step(w, &ev);
}

static void wish_service_name(struct world *w, struct event *ev)
{
	snprintf(ev->service.name, sizeof(ev->service.name), "s%u", (unsigned)dice(w, 3));
}

static void wish_service(struct world *w)
{
	static const enum event_type types[] = {EV_SERVICE_PUT, EV_SERVICE_RENEW, EV_SERVICE_RENEW,
		EV_SERVICE_RENEW, EV_SERVICE_RENEW, EV_SERVICE_DELETE};
	struct event ev = {.type = types[dice(w, ARRAY_LEN(types))], .has_state = dice(w, 2) == 0,
		.service = {.n_cards = (uint8_t)(1 + dice(w, w->n_cards)),
			.reserve_mib = (int64_t)dice(w, GIB(60)), .state = dice(w, 4) == 0,
			.lease = dice(w, 2) ? 0 : world_between(w, GQ_SEC(5), GQ_SEC(600)),
			.notice = dice(w, 3) ? 0 : world_between(w, 0, GQ_SEC(120))}};

	if (w->last_service + 2 >= WORLD_ROWS)
		return;
	wish_asker(w, &ev);
	wish_service_name(w, &ev);
	for (size_t i = 0; i < ev.service.n_cards; i++)
		ev.service.cards[i] = (uint16_t)dice(w, w->n_cards);
	world_step(w, &ev);
}

static void wish_reserve(struct world *w)
{
	struct event ev = {.type = EV_RESERVE, .privileged = true,
		.reserve = {.id = dice(w, 4) ? 0 : (uint32_t)dice(w, w->last_reservation + 2),
			.service = dice(w, 3) ? NULL : "s1", .repeat = dice(w, 8) ? 0 : (uint8_t)dice(w, 3),
			.vram_mib = dice(w, 3) ? 0 : (int64_t)dice(w, GIB(70))}};
	struct event_reserve *r = &ev.reserve;
	uint32_t id = r->id ? r->id : w->last_reservation + 1;

	if (id + 2 >= WORLD_ROWS)
		return;
	r->start = w->now + (dice(w, 3) ? world_between(w, GQ_SEC(40), GQ_SEC(5000))
					: world_between(w, GQ_SEC(-10), GQ_SEC(60)));
	r->end = dice(w, 20) ? r->start + world_between(w, GQ_SEC(1), GQ_SEC(2000)) : GQ_NEVER;
	if (dice(w, 2))
		r->count = (uint8_t)(1 + dice(w, w->n_cards));
	else
		r->n_cards = (uint8_t)(1 + dice(w, w->n_cards));
	for (size_t i = 0; i < r->n_cards; i++)
		r->cards[i] = (uint16_t)dice(w, w->n_cards + (dice(w, 30) == 0));
	w->made_at[id] = w->now;
	world_step(w, &ev);
}

static void wish_unreserve(struct world *w)
{
	struct event ev = {.type = EV_UNRESERVE, .id = (uint32_t)dice(w, w->last_reservation + 2)};

	wish_asker(w, &ev);
	world_step(w, &ev);
}

/* A card is busy, lost, faulty or taken for a while, or well again. */
static void wish_card(struct world *w)
{
	struct event ev = world_card((uint16_t)dice(w, w->n_cards));

	switch (dice(w, 12)) {
	case 0: ev.card.present = false; break;
	case 1: ev.card.fault = true; break;
	case 2:
		ev.card.foreign_pid = 4711;
		ev.card.foreign_mib = (int64_t)dice(w, GIB(80));
		break;
	case 3: ev.card.busy = true; break;
	case 4: ev.card.sample_only = true; break;
	default: break;
	}
	world_step(w, &ev);
}

static void wish_conf(struct world *w)
{
	struct event ev = {.type = EV_CONF, .uid = (uid_t)-1, .conf = &w->conf};
	static const int ratios[] = {100, 400, 400, 1000};

	w->conf.online_priority = dice(w, 8) != 0;
	w->conf.offline_fill = dice(w, 8) != 0;
	w->conf.unified = dice(w, 6) != 0;
	w->conf.can_store = dice(w, 8) != 0;
	w->conf.vram_permille = ratios[dice(w, ARRAY_LEN(ratios))];
	w->conf.reserve_vram = (uint8_t)dice(w, RESERVE_VRAM_N);
	w->conf.graceful_exit = GQ_SEC(dice(w, 60));
	w->conf.min_window = GQ_SEC(dice(w, 600));
	w->conf.utc_offset_s = dice(w, 2) ? 3600 : 7200;
	w->conf_at = w->now;
	world_step(w, &ev);
}

static void wish_size(struct world *w)
{
	struct event ev = {.type = EV_JOB_SIZE, .job = 1 + (uint32_t)dice(w, w->last_job + 1),
		.rss_mib = (int64_t)dice(w, 2000)};

	if (ev.job < WORLD_JOBS)
		ev.incarnation = w->jobs[ev.job].started;
	world_step(w, &ev);
}

/* A fact about an incarnation that is long over, or was never there. */
static void wish_stale(struct world *w)
{
	struct event ev = {.type = (enum event_type)(EV_STARTED + dice(w, 7)), .text = "stale",
		.job = 1 + (uint32_t)dice(w, w->last_job + 1), .took = GQ_SEC(1), .bytes = 1};
	uint64_t before;

	if (ev.job >= WORLD_JOBS)
		return;
	ev.incarnation = w->jobs[ev.job].started + (dice(w, 2) ? 2 : (uint32_t)-1);
	before = core_version(w->core);
	if (core_job(w->core, ev.job) && core_job(w->core, ev.job)->incarnation == ev.incarnation)
		return;
	if (core_next_deadline(w->core) <= w->now)
		return; /* the step would do what is due */
	world_step(w, &ev);
	if (w->core && core_version(w->core) != before)
		world_fail(w, "a stale fact about job %u changed something", ev.job);
}

/* Looking again must find nothing: whatever time alone brings about has its deadline. */
static void wish_probe(struct world *w)
{
	struct event ev = {.type = EV_CONF, .uid = (uid_t)-1, .conf = &w->conf};
	uint64_t before = core_version(w->core);

	if (core_next_deadline(w->core) <= w->now)
		return;
	world_step(w, &ev);
	if (w->core && core_version(w->core) != before)
		world_fail(w, "a second look found something that no deadline had announced");
}

void wish_something(struct world *w)
{
	uint64_t n = dice(w, 100);

	if (!w->core)
		return;
	if (n < 30)
		wish_submit(w);
	else if (n < 45)
		wish_about_job(w);
	else if (n < 62)
		wish_service(w);
	else if (n < 74)
		wish_reserve(w);
	else if (n < 79)
		wish_unreserve(w);
	else if (n < 90)
		wish_card(w);
	else if (n < 93)
		wish_conf(w);
	else if (n < 97)
		wish_size(w);
	else if (n < 98)
		wish_stale(w);
	else
		wish_probe(w);
}

static void peace_services(struct world *w)
{
	for (uint32_t id = 1; id <= w->last_service; id++) {
		struct event ev = {.type = EV_SERVICE_DELETE, .privileged = true};

		str_copy(ev.service.name, sizeof(ev.service.name), w->service_rows[id].name);
		if (ev.service.name[0])
			world_step(w, &ev);
	}
}

void wish_peace(struct world *w)
{
	struct event ev = {.type = EV_CONF, .uid = (uid_t)-1, .conf = &w->conf};

	w->calm = true;
	core_conf_default(&w->conf);
	w->conf.vram_permille = 1000;
	w->conf_at = w->now;
	world_step(w, &ev);
	peace_services(w);
	for (uint32_t id = 1; id <= w->last_reservation; id++) {
		ev = (struct event){.type = EV_UNRESERVE, .id = id, .privileged = true};
		world_step(w, &ev);
	}
	for (uint16_t i = 0; i < w->n_cards; i++) {
		ev = world_card(i);
		world_step(w, &ev);
	}
	for (uint32_t id = 1; id <= w->last_job; id++) {
		ev = (struct event){.type = EV_RELEASE, .job = id, .privileged = true};
		world_step(w, &ev);
	}
}
