/* SPDX-License-Identifier: MIT
 * test_core_window.c - how long a card is idle and how much of it may be lent, against values by hand
 * The conf is the default one: 40 % of 80 GiB, min_window 300 s, idle hold 10 s. An average job leaves
 * in 0.8 s + 0.2 s margin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/core_world.h"

#define GIB(n) ((int64_t)(n) * 1024)

static struct core_world w;

static const struct card *card_of(uint16_t i)
{
	const struct card *const *list;

	core_cards(w.core, &list);
	return list[i];
}

static struct window window_of(uint16_t i)
{
	struct window ret;

	core_window(w.core, card_of(i), w.now, &ret);
	return ret;
}

static int64_t lendable(uint16_t i)
{
	return core_card_lendable_mib(w.core, card_of(i), w.now);
}

static int setup(void **state)
{
	(void)state;
	cw_init(&w, 2, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cw_clear(&w);
	return 0;
}

static void card_says(uint16_t index, bool busy, int foreign_pid, int64_t foreign_mib)
{
	struct event ev = cw_card(index);

	ev.card.busy = busy;
	ev.card.foreign_pid = foreign_pid;
	ev.card.foreign_mib = foreign_mib;
	ev.card.foreign_name = "vllm";
	cw_do(&w, &ev);
}

static void test_lendable_ratio(void **state)
{
	(void)state;
	assert_int_equal(lendable(0), GIB(32)); /* 0.4 × 80 */
	w.conf.vram_permille = 1000;
	cw_conf(&w);
	assert_int_equal(lendable(0), GIB(80));
	w.conf.vram_permille = 1;
	cw_conf(&w);
	assert_int_equal(lendable(0), 81); /* 81.92 rounded down */
}

static void test_lendable_reserved(void **state)
{
	(void)state;
	cw_service(&w, "chat", 0, GIB(30));
	assert_int_equal(lendable(0), GIB(32)); /* 50 are free, the ratio decides */
	assert_int_equal(lendable(1), GIB(32));
	cw_service(&w, "embed", 0, GIB(30));
	assert_int_equal(lendable(0), GIB(20)); /* 80 - 30 - 30 */
	w.conf.reserve_vram = RESERVE_NEVER;
	cw_conf(&w);
	assert_int_equal(lendable(0), GIB(32));
	w.conf.reserve_vram = RESERVE_BUSY;
	w.conf.vram_permille = 1000;
	cw_conf(&w);
	assert_int_equal(lendable(0), GIB(80));
	cw_service_say(&w, "chat", SERVICE_BUSY);
	assert_int_equal(lendable(0), GIB(50));
}

static void test_lendable_foreign(void **state)
{
	(void)state;
	cw_service(&w, "chat", 0, GIB(30));
	card_says(0, false, 4711, GIB(20)); /* less than what is reserved for it */
	assert_int_equal(lendable(0), GIB(32));
	card_says(0, false, 4711, GIB(70));
	assert_int_equal(lendable(0), GIB(10));
	card_says(0, false, 4711, GIB(81)); /* drivers round */
	assert_int_equal(lendable(0), 0);
	assert_false(window_of(0).offered);
}

static void test_lendable_started(void **state)
{
	(void)state;
	cw_reserve(&w, 0, w.now, GQ_NEVER, GIB(60));
	assert_int_equal(lendable(0), GIB(20));
	cw_reserve(&w, 0, w.now + GQ_SEC(100), GQ_NEVER, GIB(10)); /* not yet */
	assert_int_equal(lendable(0), GIB(20));
	cw_until(&w, w.now + GQ_SEC(100));
	assert_int_equal(lendable(0), GIB(10));
	cw_reserve(&w, 1, w.now, w.now + GQ_SEC(5), 0);
	assert_int_equal(lendable(1), 0);
	cw_until(&w, w.now + GQ_SEC(5));
	assert_int_equal(lendable(1), GIB(32));
}

static void test_window_threshold(void **state)
{
	(void)state;
	assert_true(window_of(0).until == GQ_NEVER);
	assert_true(window_of(0).offered);
	assert_string_equal(window_of(0).why, "offered");
	uint32_t id = cw_reserve(&w, 0, w.now + GQ_SEC(301), GQ_NEVER, 0);
	assert_int_equal(window_of(0).reservation, id);
	assert_true(window_of(0).until == w.now + GQ_SEC(301));
	assert_true(window_of(0).offered);
	w.now += GQ_MSEC(1);
	assert_false(window_of(0).offered);
	assert_non_null(strstr(window_of(0).why, "leaves less than the pool's smallest window"));
	assert_true(window_of(1).offered);
}

static void test_window_earliest(void **state)
{
	(void)state;
	uint32_t late = cw_reserve(&w, 0, w.now + GQ_SEC(9000), GQ_NEVER, 0);
	uint32_t soon = cw_reserve(&w, 0, w.now + GQ_SEC(1000), w.now + GQ_SEC(2000), 0);
	assert_int_equal(window_of(0).reservation, soon);
	assert_int_equal(cw_unreserve(&w, soon), 0);
	assert_int_equal(window_of(0).reservation, late);
	soon = cw_reserve(&w, 0, w.now + GQ_SEC(1000), w.now + GQ_SEC(2000), 0);
	cw_until(&w, w.now + GQ_SEC(1500));
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_ONLINE);
	assert_string_equal(window_of(0).why, "reservation 3 holds it");
	cw_until(&w, w.now + GQ_SEC(500));
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_IDLE);
	assert_int_equal(window_of(0).reservation, late);
	assert_true(window_of(0).until == CW_START + GQ_SEC(9000));
}

/* A reservation that leaves room for what may be lent ends no window. */
static void test_window_sharing(void **state)
{
	(void)state;
	cw_reserve(&w, 0, w.now + GQ_SEC(60), GQ_NEVER, GIB(48)); /* 32 + 48 = 80 */
	assert_true(window_of(0).until == GQ_NEVER);
	uint32_t id = cw_reserve(&w, 1, w.now + GQ_SEC(60), GQ_NEVER, GIB(48) + 1);
	assert_int_equal(window_of(1).reservation, id);
	cw_service(&w, "chat", 0, GIB(30)); /* 32 + 30 + 48 > 80 */
	assert_true(window_of(0).until == w.now + GQ_SEC(60));
}

/* Each leaves room, both at once do not: the window ends where they overlap. */
static void test_window_sharing_together(void **state)
{
	uint32_t second;

	(void)state;
	cw_reserve(&w, 0, w.now + GQ_SEC(1000), w.now + GQ_SEC(2000), GIB(30));
	cw_reserve(&w, 0, w.now + GQ_SEC(2000), w.now + GQ_SEC(2500), GIB(30));
	assert_true(window_of(0).until == GQ_NEVER); /* one after the other */
	second = cw_reserve(&w, 0, w.now + GQ_SEC(1500), w.now + GQ_SEC(1800), GIB(30));
	assert_true(window_of(0).until == w.now + GQ_SEC(1500));
	assert_int_equal(window_of(0).reservation, second);
	cw_until(&w, w.now + GQ_SEC(1600));
	assert_true(window_of(0).until == w.now);
	cw_until(&w, w.now + GQ_SEC(200));
	assert_true(window_of(0).until == GQ_NEVER);
}

static void test_card_states(void **state)
{
	struct event ev = cw_card(0);

	(void)state;
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_IDLE);
	card_says(0, true, 0, 0);
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_ONLINE);
	assert_true(window_of(0).idle_since == 0);
	card_says(0, false, 99, GIB(1));
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_UNMANAGED);
	assert_string_equal(window_of(0).why, "unmanaged: process 99 (vllm) holds 1024 MiB");
	cw_service(&w, "chat", 0, GIB(30)); /* then the process is the service's */
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_IDLE);
	cw_service_say(&w, "chat", SERVICE_BUSY);
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_ONLINE);
	ev.card.fault = true;
	cw_do(&w, &ev);
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_DOWN);
	ev.card.fault = ev.card.present = false;
	cw_do(&w, &ev);
	assert_int_equal(core_card_state(w.core, card_of(0), w.now), CARD_DOWN);
	assert_string_equal(window_of(0).why, "the driver does not see this card");
	cw_run(&w, cw_job());
	assert_int_equal(core_card_state(w.core, card_of(1), w.now), CARD_OFFLINE);
}

/* Quiet is not idle: only after the hold time, and then without being asked. */
static void test_idle_hold(void **state)
{
	uint32_t job;

	(void)state;
	card_says(0, true, 0, 0);
	card_says(1, true, 0, 0);
	job = cw_submit_one(&w);
	w.now += GQ_SEC(100);
	card_says(0, false, 0, 0);
	assert_false(window_of(0).offered);
	assert_string_equal(window_of(0).why, "idle, but not yet for 10 s");
	assert_true(core_next_deadline(w.core) == w.now + GQ_SEC(10));
	cw_until(&w, w.now + GQ_SEC(10) - 1);
	assert_int_equal(cw_state(&w, job), JOB_PENDING);
	cw_until(&w, w.now + 1);
	assert_int_equal(cw_state(&w, job), JOB_STARTING);
	cw_started(&w, job);
	cw_exited(&w, job, 0, 0); /* our own load was no online load */
	assert_true(window_of(0).offered);
}

static void test_settings(void **state)
{
	(void)state;
	cw_service(&w, "chat", 0, 0);
	w.conf.unified = false;
	cw_conf(&w);
	assert_false(window_of(0).offered);
	assert_true(window_of(1).offered);
	w.conf.offline_fill = false;
	cw_conf(&w);
	assert_string_equal(window_of(1).why, "pool.offline_fill is off");
	w.conf.offline_fill = w.conf.unified = true;
	cw_conf(&w);
	assert_true(window_of(0).offered);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_lendable_ratio), CASE(test_lendable_reserved), CASE(test_lendable_foreign),
		CASE(test_lendable_started), CASE(test_window_threshold), CASE(test_window_earliest),
		CASE(test_window_sharing), CASE(test_window_sharing_together), CASE(test_card_states),
		CASE(test_idle_hold), CASE(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
