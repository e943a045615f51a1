/* SPDX-License-Identifier: MIT
 * test_core_reserve.c - reservations: made, chosen, changed, repeated, honoured, refused, forgotten */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/core_world.h"

#define GIB(n) ((int64_t)(n) * 1024)
#define HOUR   GQ_SEC(3600)
#define DAY    (24 * HOUR)

static struct core_world w;

static int setup(void **state)
{
	(void)state;
	cw_init(&w, 4, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cw_clear(&w);
	return 0;
}

static void refused(struct event ev, int code, const char *text)
{
	assert_int_equal(cw_step(&w, &ev), code);
	assert_string_equal(w.err.text, text);
}

static void test_life(void **state)
{
	uint32_t r = cw_reserve(&w, 0, w.now + GQ_SEC(10), w.now + GQ_SEC(20), 0);

	(void)state;
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_PLANNED);
	assert_true(core_next_deadline(w.core) == w.now + GQ_SEC(10));
	cw_until(&w, w.now + GQ_SEC(10));
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
	assert_true(cw_reservation(&w, r)->free_at == w.now);
	assert_true(core_next_deadline(w.core) == w.now + GQ_SEC(10));
	cw_until(&w, w.now + GQ_SEC(10));
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_ENDED);
	assert_string_equal(w.last_audit, "ended");
}

static void test_waiting(void **state)
{
	uint32_t job = cw_run(&w, cw_job()), r = cw_reserve(&w, 0, w.now, GQ_NEVER, 0);

	(void)state;
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_WAITING);
	w.now += GQ_SEC(3);
	cw_stored(&w, job, GQ_SEC(3), 5);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
	assert_true(cw_reservation(&w, r)->late == GQ_SEC(3));
	assert_true(cw_reservation(&w, r)->sudden);
}

/* A job that can share the card blocks nobody, and one that cannot does. */
static void test_sharing(void **state)
{
	struct event ev = cw_job();
	uint32_t job, r;

	(void)state;
	ev.submit.vram_mib = GIB(20);
	job = cw_run(&w, ev);
	r = cw_reserve(&w, 0, w.now, GQ_NEVER, GIB(60));
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
	r = cw_reserve(&w, 0, w.now, GQ_NEVER, 1);
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_WAITING);
}

/* Also while a busy service is the first in line for the same card. */
static void test_blocked_behind_service(void **state)
{
	uint32_t job, r;

	(void)state;
	cw_service(&w, "chat", 0, 0);
	for (uint16_t i = 1; i < 4; i++)
		cw_reserve(&w, i, w.now, GQ_NEVER, 0);
	job = cw_run(&w, cw_job());
	assert_int_equal(cw_look(&w, job)->cards[0], 0);
	cw_service_say(&w, "chat", SERVICE_BUSY);
	r = cw_reserve(&w, 0, w.now, GQ_NEVER, GIB(60));
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_WAITING);
	cw_stored(&w, job, GQ_SEC(1), 5);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
}

static struct event count_of(uint8_t count, const char *service, const char *label)
{
	struct event ev = cw_reserve_event(0, w.now + HOUR, w.now + 2 * HOUR, 0);

	ev.reserve.n_cards = 0;
	ev.reserve.count = count;
	ev.reserve.service = service;
	ev.reserve.label = label;
	return ev;
}

/* The service's own cards first, then cards nobody computes on, then the others. */
static void test_count(void **state)
{
	struct event ev;
	const struct reservation *r;

	(void)state;
	cw_service(&w, "chat", 2, 0);
	cw_run(&w, cw_job()); /* card 0 */
	ev = count_of(2, "chat", NULL);
	cw_do(&w, &ev);
	r = cw_reservation(&w, ev.ret_id);
	assert_int_equal(r->n_cards, 2);
	assert_int_equal(r->cards[0], 2);
	assert_int_equal(r->cards[1], 1);
	ev = count_of(2, NULL, NULL); /* what is left: the idle one, and the lent one */
	cw_do(&w, &ev);
	r = cw_reservation(&w, ev.ret_id);
	assert_int_equal(r->cards[0], 3);
	assert_int_equal(r->cards[1], 0);
	refused(count_of(1, NULL, NULL), -E2BIG,
		"count: asked for 1 cards, 0 of 4 are not reserved by others then");
	ev = count_of(4, NULL, NULL); /* at another time all are free */
	ev.reserve.start += HOUR;
	ev.reserve.end += HOUR;
	cw_do(&w, &ev);
}

static void test_label(void **state)
{
	struct event card = cw_card(3), ev;

	(void)state;
	card.card.labels = "big,nvlink";
	cw_do(&w, &card);
	ev = count_of(1, NULL, "NVLINK");
	cw_do(&w, &ev);
	assert_int_equal(cw_reservation(&w, ev.ret_id)->cards[0], 3);
	refused(count_of(1, NULL, "h200"), -E2BIG,
		"count: asked for 1 cards labelled h200, 0 of 0 are not reserved by others then");
}

/* A faulty card is nothing to promise. */
static void test_faulty_card(void **state)
{
	struct event card = cw_card(0), ev;

	(void)state;
	card.card.fault = true;
	cw_do(&w, &card);
	ev = count_of(1, NULL, NULL);
	cw_do(&w, &ev);
	assert_int_equal(cw_reservation(&w, ev.ret_id)->cards[0], 1);
}

static void test_all_of_a_service(void **state)
{
	struct event ev = count_of(0, "chat", NULL);

	(void)state;
	cw_service(&w, "chat", 2, 0);
	cw_do(&w, &ev);
	assert_int_equal(cw_reservation(&w, ev.ret_id)->cards[0], 2);
	refused(count_of(0, NULL, NULL), -EINVAL, "cards: name cards or give a count");
}

static void test_refused(void **state)
{
	struct event ev = cw_reserve_event(0, w.now + HOUR, w.now + HOUR, 0);

	(void)state;
	refused(ev, -EINVAL, "end: lies before the start");
	ev = cw_reserve_event(0, w.now - 2 * HOUR, w.now, 0);
	refused(ev, -EINVAL, "end: lies in the past");
	ev = cw_reserve_event(9, w.now, GQ_NEVER, 0);
	refused(ev, -ENOENT, "cards: this machine has no card 9");
	ev = cw_reserve_event(0, w.now, GQ_NEVER, GIB(81));
	refused(ev, -E2BIG, "vram: 82944 MiB is more than card 0 has (81920 MiB)");
	ev = cw_reserve_event(0, w.now, GQ_NEVER, -5);
	refused(ev, -EINVAL, "vram: -5 MiB is negative");
	ev = cw_reserve_event(0, w.now, w.now + DAY, 0);
	ev.reserve.repeat = REPEAT_DAILY;
	refused(ev, -EINVAL, "duration: a daily reservation must be shorter than its period");
	ev.reserve.repeat = REPEAT_N;
	refused(ev, -EINVAL, "repeat: unknown value 3");
	ev = count_of(17, NULL, NULL);
	refused(ev, -EINVAL, "count: asked for 17 cards, allowed are 1 to 16");
	ev = cw_reserve_event(0, w.now, GQ_NEVER, 0);
	ev.reserve.n_cards = 17;
	refused(ev, -EINVAL, "cards: asked for 17 cards, allowed are 1 to 16");
	ev = cw_reserve_event(0, w.now, GQ_NEVER, 0);
	ev.reserve.service = "ghost";
	refused(ev, -ENOENT, "service ghost: no such service");
	ev.reserve.service = NULL;
	ev.reserve.id = 7;
	refused(ev, -ENOENT, "reservation 7: no such reservation, or it is over");
	assert_int_equal(cw_unreserve(&w, 7), -ENOENT);
}

static void test_permission(void **state)
{
	struct event service = cw_service_event("alices", 0, 0), ev;
	uint32_t r;

	(void)state;
	service.service.uid = CW_ALICE;
	service.service.from_config = true; /* the config says whose it is */
	cw_do(&w, &service);
	cw_service(&w, "roots", 1, 0);
	ev = cw_reserve_event(0, w.now + HOUR, GQ_NEVER, 0);
	ev.privileged = false;
	ev.uid = CW_ALICE;
	refused(ev, -EPERM,
		"reservation: only operators and the one who registered the service may reserve for it");
	ev.reserve.service = "alices";
	cw_do(&w, &ev);
	r = cw_reserve(&w, 1, w.now + HOUR, GQ_NEVER, 0);
	/* naming her own service gives her no hold on what is not its */
	ev.reserve.id = r;
	refused(ev, -EPERM,
		"reservation: only operators and the one who registered the service may reserve for it");
	struct event del = {.type = EV_UNRESERVE, .id = r, .uid = CW_ALICE};
	assert_int_equal(cw_step(&w, &del), -EPERM);
	del.id = 1;
	assert_int_equal(cw_step(&w, &del), 0);
}

static void test_service_refused(void **state)
{
	struct event ev = cw_service_event("bad name", 0, 0);

	(void)state;
	refused(ev, -EINVAL,
		"service: 'bad name' is no name; use up to 47 letters, digits, '-', '_', '.'");
	ev = cw_service_event("chat", 0, GIB(81));
	refused(ev, -EINVAL, "reserve_vram: 82944 MiB is more than card 0 has (81920 MiB)");
	ev = cw_service_event("chat", 0, 0);
	ev.privileged = false;
	refused(ev, -EPERM, "service chat: only root and the operator group may register a service");
	ev = cw_service_event("chat", 0, 0);
	ev.service.n_cards = 17;
	refused(ev, -EINVAL, "cards: 17 cards, allowed are up to 16");
	ev.service.n_cards = 1;
	ev.service.from_config = true;
	cw_do(&w, &ev);
	ev.privileged = false;
	ev.uid = CW_BOB;
	refused(ev, -EPERM, "service chat: registered by uid 0");
	ev.type = EV_SERVICE_DELETE;
	ev.privileged = true;
	refused(ev, -EPROTO, "service chat: stands in the config; remove it there");
}

/* A card given back while it is on: what was measured of this occurrence stays. */
/* What chat has to itself is not promised to lee; chat's own may overlap, shared VRAM too. */
static void test_overlap(void **state)
{
	struct event ev = cw_reserve_event(0, w.now, w.now + HOUR, 0);

	(void)state;
	cw_service(&w, "chat", 0, 0);
	cw_service(&w, "lee", 1, 0);
	ev.reserve.service = "chat";
	cw_do(&w, &ev);
	ev.reserve.service = "lee";
	assert_int_equal(cw_step(&w, &ev), -EEXIST);
	assert_non_null(strstr(w.err.text, "card 0 is reserved by reservation 1 of chat from "));
	ev.reserve.vram_mib = 1024;
	cw_do(&w, &ev);
	ev = cw_reserve_event(0, w.now, w.now + HOUR, 0);
	ev.reserve.service = "chat";
	cw_do(&w, &ev);
	ev = cw_reserve_event(0, w.now + HOUR, w.now + 2 * HOUR, 0);
	ev.reserve.service = "lee";
	cw_do(&w, &ev);
}

static void test_fewer_cards(void **state)
{
	struct event ev = cw_reserve_event(0, w.now, w.now + HOUR, 0);
	uint32_t job = cw_run(&w, cw_job());

	(void)state;
	ev.reserve.n_cards = 2;
	ev.reserve.cards[1] = 1;
	cw_do(&w, &ev);
	w.now += GQ_SEC(2);
	cw_stored(&w, job, GQ_SEC(2), 5);
	ev.reserve.id = ev.ret_id;
	ev.reserve.n_cards = 1;
	w.now += GQ_SEC(60);
	cw_do(&w, &ev);
	assert_int_equal(cw_reservation(&w, ev.ret_id)->state, RESERVATION_HONOURED);
	assert_true(cw_reservation(&w, ev.ret_id)->late == GQ_SEC(2));
	assert_true(cw_reservation(&w, ev.ret_id)->sudden);
	assert_int_equal(cw_reservation(&w, ev.ret_id)->n_cards, 1);
}

/* Longer while it is on: what was measured of this occurrence stays. */
static void test_extended(void **state)
{
	uint32_t job = cw_run(&w, cw_job()), r;
	struct event ev;

	(void)state;
	r = cw_reserve(&w, 0, w.now, w.now + HOUR, 0);
	w.now += GQ_SEC(2);
	cw_stored(&w, job, GQ_SEC(2), 5);
	ev = cw_reserve_event(0, w.now - GQ_SEC(2), w.now + 2 * HOUR, 0);
	ev.reserve.id = r;
	w.now += GQ_SEC(60);
	cw_do(&w, &ev);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
	assert_true(cw_reservation(&w, r)->late == GQ_SEC(2));
	assert_true(cw_reservation(&w, r)->sudden);
	assert_true(cw_reservation(&w, r)->free_at == w.now - GQ_SEC(60));
	ev.reserve.start = w.now + GQ_SEC(100); /* another time: all new */
	cw_do(&w, &ev);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_PLANNED);
	assert_false(cw_reservation(&w, r)->sudden);
}

static uint32_t daily(gq_time start, gq_time length, enum repeat repeat)
{
	struct event ev = cw_reserve_event(0, start, start + length, 0);

	ev.reserve.repeat = (uint8_t)repeat;
	cw_do(&w, &ev);
	return ev.ret_id;
}

static void test_repeats(void **state)
{
	gq_time t = w.now + HOUR;
	uint32_t r = daily(t, HOUR, REPEAT_DAILY), week = daily(t + 2 * HOUR, HOUR, REPEAT_WEEKLY);

	(void)state;
	cw_until(&w, t);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
	cw_until(&w, t + HOUR);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_PLANNED);
	assert_true(cw_reservation(&w, r)->start == t + DAY);
	assert_true(cw_reservation(&w, r)->end == t + DAY + HOUR);
	assert_true(cw_reservation(&w, r)->free_at == 0);
	cw_until(&w, t + 3 * HOUR);
	assert_true(cw_reservation(&w, week)->start == t + 2 * HOUR + 7 * DAY);
	/* gqd was down for three days and a half: the next one is what counts */
	w.now = t + 3 * DAY + 12 * HOUR;
	cw_tick(&w);
	assert_true(cw_reservation(&w, r)->start == t + 4 * DAY);
}

/* 08:00 stays 08:00. The clock goes forward between two occurrences: the next comes an hour earlier. */
static void test_daylight_saving(void **state)
{
	gq_time t = w.now + HOUR;
	uint32_t r;

	(void)state;
	w.conf.utc_offset_s = 3600;
	cw_conf(&w);
	r = daily(t, HOUR, REPEAT_DAILY);
	cw_until(&w, t + HOUR);
	assert_true(cw_reservation(&w, r)->start == t + DAY);
	w.now = t + 12 * HOUR;
	w.conf.utc_offset_s = 7200;
	cw_conf(&w);
	assert_true(cw_reservation(&w, r)->start == t + 23 * HOUR);
	assert_true(cw_reservation(&w, r)->end == t + 24 * HOUR);
	cw_until(&w, t + 24 * HOUR);
	assert_true(cw_reservation(&w, r)->start == t + DAY + 23 * HOUR);
	w.conf.utc_offset_s = 3600; /* and back, while gqd was down */
	w.now = t + DAY + 12 * HOUR;
	cw_restart(&w);
	assert_true(cw_reservation(&w, r)->start == t + 2 * DAY);
}

/* One that does not repeat is a point in time, whatever the clocks on the walls do. */
static void test_no_daylight_saving(void **state)
{
	gq_time t = w.now + HOUR;
	uint32_t r = cw_reserve(&w, 0, t, t + HOUR, 0), on = daily(w.now - HOUR, 2 * HOUR, REPEAT_DAILY);

	(void)state;
	w.conf.utc_offset_s = 3600;
	cw_conf(&w);
	assert_true(cw_reservation(&w, r)->start == t);
	assert_true(cw_reservation(&w, on)->start == t - 2 * HOUR); /* it is on: it stays as it is */
	cw_until(&w, t);
	assert_true(cw_reservation(&w, on)->start == t - 2 * HOUR + 23 * HOUR);
}

/* Over and deleted reservations leave memory, also where no job ever ran. */
static void test_forgotten(void **state)
{
	const struct reservation *const *list;

	(void)state;
	for (int i = 0; i < 100; i++)
		cw_unreserve(&w, cw_reserve(&w, 0, w.now, GQ_NEVER, 0));
	cw_reserve(&w, 0, w.now, w.now + GQ_SEC(1), 0);
	cw_until(&w, w.now + GQ_SEC(400));
	assert_int_equal(core_reservations(w.core, &list), 1); /* ended ones can be seen for a day */
	cw_until(&w, w.now + DAY);
	assert_int_equal(core_reservations(w.core, &list), 0);
	assert_true(core_next_deadline(w.core) == GQ_NEVER);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_life), CASE(test_waiting), CASE(test_sharing), CASE(test_blocked_behind_service),
		CASE(test_count), CASE(test_label), CASE(test_faulty_card), CASE(test_all_of_a_service),
		CASE(test_refused), CASE(test_permission), CASE(test_service_refused),
		CASE(test_fewer_cards), CASE(test_overlap), CASE(test_extended),
		CASE(test_repeats), CASE(test_daylight_saving), CASE(test_no_daylight_saving),
		CASE(test_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
