/* SPDX-License-Identifier: MIT
 * test_core_admit.c - who gets a card, in which order, and what the others are told
 * A default job is promised to leave in 30 s grace + 0.8 s store + 0.2 s margin = 31 s. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/core_world.h"

#define GIB(n) ((int64_t)(n) * 1024)

static struct core_world w;

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

/* Keeps card 1 out of the way. */
static void one_card(void)
{
	struct event ev = cw_card(1);

	ev.card.busy = true;
	cw_do(&w, &ev);
}

/* The job is admitted in a window of @least, and in none that is 1 ms shorter. */
static void window_is_enough(struct event job, gq_time least)
{
	uint32_t a, b, r;

	one_card();
	r = cw_reserve(&w, 0, w.now + least - GQ_MSEC(1), GQ_NEVER, 0);
	a = cw_submit(&w, job);
	assert_int_equal(cw_state(&w, a), JOB_PENDING);
	assert_int_equal(cw_reason(&w, a), REASON_WINDOW);
	assert_int_equal(cw_wish(&w, EV_CANCEL, a, CW_ALICE), 0);
	assert_int_equal(cw_unreserve(&w, r), 0);
	r = cw_reserve(&w, 0, w.now + least, GQ_NEVER, 0);
	b = cw_submit(&w, job);
	assert_int_equal(cw_state(&w, b), JOB_STARTING);
}

static void test_threshold(void **state)
{
	(void)state;
	window_is_enough(cw_job(), GQ_SEC(331));
}

static void test_time_min(void **state)
{
	struct event job = cw_job();

	(void)state;
	job.submit.time_min = GQ_SEC(600);
	window_is_enough(job, GQ_SEC(631));
}

static void test_grace(void **state)
{
	struct event job = cw_job();

	(void)state;
	job.submit.grace = GQ_SEC(5); /* shorter than the pool's */
	window_is_enough(job, GQ_SEC(306));
}

static void test_grace_is_capped(void **state)
{
	struct event job = cw_job();

	(void)state;
	job.submit.grace = GQ_SEC(3600);
	window_is_enough(job, GQ_SEC(331));
}

static void test_cost_factor(void **state)
{
	(void)state;
	w.conf.min_window = GQ_SEC(1);
	w.conf.cost_factor = 100;
	cw_conf(&w);
	window_is_enough(cw_job(), GQ_SEC(31) + 100 * GQ_MSEC(900)); /* 0.1 start + 0.8 store */
}

/* What cannot be stored has to fit as a whole. */
static void test_none_needs_all(void **state)
{
	struct event job = cw_job();

	(void)state;
	job.submit.checkpoint = CHECKPOINT_NONE;
	job.submit.time_limit = GQ_SEC(3600);
	window_is_enough(job, GQ_SEC(3600) + GQ_MSEC(30200));
}

static void test_none_time_min(void **state)
{
	struct event job = cw_job();

	(void)state;
	job.submit.checkpoint = CHECKPOINT_NONE;
	job.submit.time_limit = GQ_SEC(3600);
	job.submit.time_min = GQ_SEC(400);
	window_is_enough(job, GQ_MSEC(430200));
}

/* Measured: store 5 s, restore 2 s; then 100 × (0.1 + 5 + 2), and 30 + 5 + 5/4 to leave. */
static void test_measured_cost(void **state)
{
	uint32_t job, r;

	(void)state;
	w.conf.cost_factor = 100;
	cw_conf(&w);
	one_card();
	job = cw_run(&w, cw_job());
	assert_true(core_promise(w.core, cw_look(&w, job)) == GQ_SEC(31));
	for (int i = 0; i < 2; i++) {
		cw_until(&w, w.now + GQ_SEC(100));
		r = cw_reserve(&w, 0, w.now, w.now + GQ_SEC(60), 0);
		cw_stored(&w, job, GQ_SEC(5), 100);
		assert_int_equal(cw_state(&w, job), JOB_STORED);
		if (i == 1)
			break;
		cw_until(&w, w.now + GQ_SEC(60));
		assert_int_equal(cw_state(&w, job), JOB_RESTORING);
		struct event ev = cw_fact(&w, EV_STARTED, job);
		ev.took = GQ_SEC(2);
		cw_do(&w, &ev);
	}
	assert_true(core_promise(w.core, cw_look(&w, job)) == GQ_MSEC(36250));
	assert_int_equal(cw_unreserve(&w, r), 0);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING); /* no window ends */
	cw_started(&w, job);
	cw_reserve(&w, 0, w.now, w.now + GQ_SEC(60), 0);
	cw_stored(&w, job, GQ_SEC(5), 100);
	cw_reserve(&w, 0, w.now + GQ_SEC(60) + GQ_MSEC(36250 + 520000 - 1), GQ_NEVER, 0);
	cw_until(&w, w.now + GQ_SEC(60)); /* the restore took 0.1 s last: 100 × 5.2 */
	assert_int_equal(cw_state(&w, job), JOB_STORED);
	assert_int_equal(cw_reason(&w, job), REASON_WINDOW);
}

static void test_best_fit(void **state)
{
	struct event hour = cw_job();
	uint32_t a, b;

	(void)state;
	hour.submit.time_limit = GQ_SEC(3600);
	cw_reserve(&w, 1, w.now + GQ_SEC(7200), GQ_NEVER, 0);
	a = cw_submit(&w, hour);
	assert_int_equal(cw_look(&w, a)->cards[0], 1); /* tight: the endless window stays */
	b = cw_submit_one(&w);
	assert_int_equal(cw_look(&w, b)->cards[0], 0);
}

static void test_longest_if_none_fits(void **state)
{
	struct event job = cw_job();
	uint32_t a;

	(void)state;
	job.submit.time_limit = GQ_SEC(36000);
	cw_reserve(&w, 0, w.now + GQ_SEC(3600), GQ_NEVER, 0);
	cw_reserve(&w, 1, w.now + GQ_SEC(7200), GQ_NEVER, 0);
	a = cw_submit(&w, job);
	assert_int_equal(cw_look(&w, a)->cards[0], 1);
}

static void test_service_cards_last(void **state)
{
	uint32_t a;

	(void)state;
	cw_service(&w, "chat", 0, 0);
	a = cw_submit_one(&w);
	assert_int_equal(cw_look(&w, a)->cards[0], 1);
}

/* Level, then an image, then priority, then age. */
static void test_order(void **state)
{
	struct event ev = cw_job();
	uint32_t stored, runs, low, normal, later, wanted, high;

	(void)state;
	one_card();
	stored = cw_run(&w, cw_job());
	cw_until(&w, w.now + GQ_SEC(10));
	cw_evict(&w, stored, EVICT_DEFAULT, 0);
	cw_stored(&w, stored, GQ_SEC(1), 10);
	runs = cw_run(&w, cw_job());
	ev.submit.level = -1;
	low = cw_submit(&w, ev);
	ev.submit.level = 0;
	normal = cw_submit(&w, ev);
	later = cw_submit(&w, ev);
	ev.submit.privileged = true;
	ev.submit.priority = 5000;
	wanted = cw_submit(&w, ev);
	ev.submit.priority = 1;
	ev.submit.level = 1;
	high = cw_submit(&w, ev);
	assert_int_equal(cw_wish(&w, EV_RELEASE, stored, CW_ALICE), 0);
	uint32_t order[] = {runs, high, stored, wanted, normal, later, low};
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		assert_true(job_state_has_cards(cw_state(&w, order[i])));
		if (i + 1 < ARRAY_LEN(order))
			assert_int_equal(cw_reason(&w, order[i + 1]), REASON_RESOURCES);
		if (i + 2 < ARRAY_LEN(order))
			assert_int_equal(cw_reason(&w, order[i + 2]), REASON_PRIORITY);
		if (i)
			cw_started(&w, order[i]);
		cw_exited(&w, order[i], 0, 0);
	}
}

/* A gang waits for several cards at once: at first others may fill in, then they may not. */
static void test_gang(void **state)
{
	struct event ev = cw_job();
	uint32_t first, gang, filler, behind;

	(void)state;
	first = cw_run(&w, cw_job());
	ev.submit.gpus = 2;
	gang = cw_submit(&w, ev);
	assert_int_equal(cw_reason(&w, gang), REASON_RESOURCES);
	filler = cw_run(&w, cw_job());
	w.now += GQ_SEC(300);
	cw_exited(&w, filler, 0, 0);
	behind = cw_submit_one(&w);
	assert_int_equal(cw_state(&w, behind), JOB_PENDING);
	assert_int_equal(cw_reason(&w, behind), REASON_PRIORITY);
	cw_exited(&w, first, 0, 0);
	assert_int_equal(cw_state(&w, gang), JOB_STARTING);
	assert_int_equal(cw_look(&w, gang)->n_cards, 2);
	cw_started(&w, gang);
	cw_exited(&w, gang, 0, 0);
	assert_int_equal(cw_state(&w, behind), JOB_STARTING);
}

/* The gang that keeps others waiting is cancelled: they go on at once. */
static void test_gang_cancelled(void **state)
{
	struct event ev = cw_job();
	uint32_t gang, behind;

	(void)state;
	cw_run(&w, cw_job());
	ev.submit.gpus = 2;
	gang = cw_submit(&w, ev);
	w.now += GQ_SEC(301);
	cw_tick(&w);
	cw_conf(&w);
	behind = cw_submit_one(&w);
	assert_int_equal(cw_state(&w, behind), JOB_PENDING);
	assert_int_equal(cw_wish(&w, EV_CANCEL, gang, CW_ALICE), 0);
	assert_int_equal(cw_state(&w, behind), JOB_STARTING);
}

/* It keeps those behind it waiting, not a newer one that stands before it. */
static void test_gang_and_higher(void **state)
{
	struct event ev = cw_job();
	uint32_t behind, before;

	(void)state;
	cw_run(&w, cw_job());
	ev.submit.gpus = 2;
	cw_submit(&w, ev);
	w.now += GQ_SEC(301);
	cw_conf(&w);
	behind = cw_submit_one(&w);
	ev = cw_job();
	ev.submit.privileged = true;
	ev.submit.level = 1;
	before = cw_submit(&w, ev);
	assert_int_equal(cw_state(&w, behind), JOB_PENDING);
	assert_int_equal(cw_state(&w, before), JOB_STARTING);
}

/* It keeps others waiting only while its own window is long enough. */
static void test_gang_out_of_time(void **state)
{
	struct event ev = cw_job();
	uint32_t gang, behind;

	(void)state;
	cw_run(&w, cw_job());
	ev.submit.gpus = 2;
	ev.submit.time_min = GQ_SEC(3600);
	gang = cw_submit(&w, ev);
	cw_reserve(&w, 1, w.now + GQ_SEC(400 + 3600 + 31), GQ_NEVER, 0);
	cw_until(&w, w.now + GQ_SEC(301));
	cw_conf(&w);
	behind = cw_submit_one(&w);
	cw_until(&w, w.now + GQ_SEC(99));
	assert_int_equal(cw_state(&w, behind), JOB_PENDING);
	cw_until(&w, w.now + 1);
	assert_int_equal(cw_state(&w, behind), JOB_STARTING);
	assert_int_equal(cw_state(&w, gang), JOB_PENDING);
}

/* A gang that no job's end can help keeps nobody waiting: a card is online for hours. */
static void test_gang_that_cannot(void **state)
{
	struct event ev = cw_job();
	uint32_t gang, single;

	(void)state;
	one_card();
	ev.submit.gpus = 2;
	gang = cw_submit(&w, ev);
	w.now += GQ_SEC(301);
	cw_conf(&w);
	single = cw_submit_one(&w);
	assert_int_equal(cw_state(&w, gang), JOB_PENDING);
	assert_int_equal(cw_state(&w, single), JOB_STARTING);
}

static void refused(struct event ev, int code, const char *text)
{
	assert_int_equal(cw_step(&w, &ev), code);
	assert_int_equal(w.err.code, code);
	assert_string_equal(w.err.text, text);
}

static void test_too_big(void **state)
{
	struct event ev = cw_job();

	(void)state;
	ev.submit.gpus = 3;
	refused(ev, -E2BIG, "gpus: asked for 3, this machine has 2");
	ev = cw_job();
	ev.submit.vram_mib = GIB(90);
	refused(ev, -E2BIG, "vram: asked for 92160 MiB per card, no card of this machine can ever lend "
			    "more than 32768 of its 81920 MiB");
	ev = cw_job();
	ev.submit.gpu_type = "a100";
	refused(ev, -E2BIG, "gpus: no card of this machine is a 'a100'");
	cw_service(&w, "chat", 0, GIB(60));
	ev = cw_job();
	ev.submit.gpus = 2;
	ev.submit.vram_mib = GIB(30);
	refused(ev, -E2BIG, "vram: asked for 30720 MiB on each of 2 cards, only 1 can ever lend that much");
	ev.submit.vram_mib = GIB(20);
	assert_int_equal(cw_step(&w, &ev), 0);
}

/* "Ever" looks at what stands, not at what happens to be on the card this minute. */
static void test_too_big_is_not_busy(void **state)
{
	struct event card = cw_card(0), job = cw_job();
	uint32_t id;

	(void)state;
	one_card();
	cw_service(&w, "chat", 0, GIB(30));
	cw_service(&w, "chat2", 1, GIB(30));
	for (card.card.index = 0; card.card.index < 2; card.card.index++) {
		card.card.foreign_pid = 5;
		card.card.foreign_mib = GIB(75);
		cw_do(&w, &card);
	}
	job.submit.vram_mib = GIB(20);
	id = cw_submit(&w, job);
	assert_int_equal(cw_reason(&w, id), REASON_VRAM);
	card.card.index = 0;
	card.card.foreign_mib = GIB(30);
	cw_do(&w, &card);
	cw_until(&w, w.now + GQ_SEC(10));
	assert_int_equal(cw_state(&w, id), JOB_STARTING);
}

static void test_refused(void **state)
{
	struct event ev = cw_job();

	(void)state;
	ev.submit.gpus = 0;
	refused(ev, -EINVAL, "gpus: asked for 0, allowed are 1 to 16");
	ev.submit.gpus = 17;
	refused(ev, -EINVAL, "gpus: asked for 17, allowed are 1 to 16");
	ev = cw_job();
	ev.submit.priority = 1001;
	refused(ev, -EPERM, "priority: only operators may ask for more than 1000");
	ev.submit.priority = 1000001;
	refused(ev, -EINVAL, "priority: 1000001, allowed are 0 to 1000000");
	ev = cw_job();
	ev.submit.level = 1;
	refused(ev, -EPERM, "qos: only operators may ask for high");
	ev.submit.level = -2;
	refused(ev, -EINVAL, "qos: -2, allowed are -1, 0 and 1");
	ev = cw_job();
	ev.submit.time_limit = GQ_SEC(60);
	ev.submit.time_min = GQ_SEC(61);
	refused(ev, -EINVAL, "time-min: longer than the time limit");
	ev = cw_job();
	ev.submit.checkpoint = CHECKPOINT_N;
	refused(ev, -EINVAL, "checkpoint: unknown mode 3");
	ev = cw_job();
	ev.submit.vram_mib = -1;
	refused(ev, -EINVAL, "vram, time, time-min, grace and signal: a value is negative");
	ev = cw_job();
	ev.submit.grace = -1;
	refused(ev, -EINVAL, "vram, time, time-min, grace and signal: a value is negative");
}

static void test_quota(void **state)
{
	struct event ev = cw_job();

	(void)state;
	w.conf.max_jobs_per_user = 2;
	w.conf.max_jobs = 3;
	cw_conf(&w);
	cw_submit_one(&w);
	uint32_t second = cw_submit_one(&w);
	refused(ev, -EDQUOT, "queue: you have 2 jobs in it (limits.max_jobs_per_user)");
	ev.submit.uid = ev.uid = CW_BOB;
	cw_submit(&w, ev);
	refused(ev, -EDQUOT, "queue: full, 3 jobs (limits.max_jobs)");
	assert_int_equal(cw_wish(&w, EV_CANCEL, second, CW_ALICE), 0);
	cw_exited(&w, second, 0, 9);
	cw_submit_one(&w); /* an ended job does not count */
}

static void test_test_only(void **state)
{
	struct event ev = cw_job();

	(void)state;
	ev.submit.test_only = true;
	cw_reserve(&w, 0, w.now, GQ_NEVER, 0);
	cw_do(&w, &ev);
	assert_int_equal(ev.ret_id, 0);
	assert_int_equal(ev.ret_reason, REASON_NONE);
	assert_int_equal(ev.ret_card, 1);
	cw_reserve(&w, 1, w.now + GQ_SEC(100), GQ_NEVER, 0);
	cw_do(&w, &ev);
	assert_int_equal(ev.ret_reason, REASON_WINDOW);
	ev.submit.hold = true;
	cw_do(&w, &ev);
	assert_int_equal(ev.ret_reason, REASON_HELD_USER);
	assert_int_equal(w.fx.len, 0);
}

static void test_begin(void **state)
{
	struct event ev = cw_job();
	uint32_t job;
	char text[200];

	(void)state;
	ev.submit.begin_at = w.now + GQ_SEC(60);
	job = cw_submit(&w, ev);
	assert_int_equal(cw_reason(&w, job), REASON_BEGIN_TIME);
	assert_string_equal(core_explain(w.core, cw_look(&w, job), w.now, text, sizeof(text)),
		"its --begin time has not come, not before 2026-11-30T00:54:20.000Z");
	assert_true(core_next_deadline(w.core) == w.now + GQ_SEC(60));
	cw_until(&w, w.now + GQ_SEC(59));
	assert_int_equal(cw_state(&w, job), JOB_PENDING);
	cw_until(&w, w.now + GQ_SEC(1));
	assert_int_equal(cw_state(&w, job), JOB_STARTING);
}

static void test_other_reasons(void **state)
{
	struct event ev = cw_job();
	uint32_t job;

	(void)state;
	cw_service(&w, "chat", 0, GIB(50));
	one_card();
	ev.submit.vram_mib = GIB(31);
	job = cw_submit(&w, ev);
	assert_int_equal(cw_reason(&w, job), REASON_VRAM);
	w.conf.offline_fill = false;
	cw_conf(&w);
	assert_int_equal(cw_reason(&w, job), REASON_FILL_OFF);
	for (uint16_t i = 0; i < 2; i++) {
		struct event card = cw_card(i);

		card.card.present = false;
		cw_do(&w, &card);
	}
	w.conf.offline_fill = true;
	cw_conf(&w);
	assert_int_equal(cw_reason(&w, job), REASON_NODE_DOWN);
}

/* The services of a card promise 20 s of notice: who needs 31 s to leave is not let in. */
static void test_promise(void **state)
{
	struct event service = cw_service_event("chat", 0, 0), ev = cw_job();
	uint32_t job;
	char text[200];

	(void)state;
	one_card();
	service.service.notice = GQ_SEC(20);
	cw_do(&w, &service);
	job = cw_submit_one(&w);
	assert_int_equal(cw_reason(&w, job), REASON_PROMISE);
	core_explain(w.core, cw_look(&w, job), w.now, text, sizeof(text));
	assert_non_null(strstr(text, "needs 31 s to leave"));
	ev.submit.grace = GQ_SEC(19);
	assert_int_equal(cw_state(&w, cw_submit(&w, ev)), JOB_STARTING);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_threshold), CASE(test_time_min), CASE(test_grace), CASE(test_grace_is_capped),
		CASE(test_cost_factor), CASE(test_none_needs_all), CASE(test_none_time_min),
		CASE(test_measured_cost), CASE(test_best_fit), CASE(test_longest_if_none_fits),
		CASE(test_service_cards_last), CASE(test_order), CASE(test_gang),
		CASE(test_gang_cancelled), CASE(test_gang_out_of_time),
		CASE(test_gang_and_higher),
		CASE(test_gang_that_cannot), CASE(test_too_big),
		CASE(test_too_big_is_not_busy), CASE(test_refused), CASE(test_quota),
		CASE(test_test_only), CASE(test_begin), CASE(test_other_reasons), CASE(test_promise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
