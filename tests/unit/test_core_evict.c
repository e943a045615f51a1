/* SPDX-License-Identifier: MIT
 * test_core_evict.c - the exit promise and the plan: notice, store, free, against values by hand
 * Default: 30 s grace, 0.8 s store, margin max(0.2 s, a quarter of the cost). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>

#include "tests/lib/core_world.h"

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

static struct event job_of(enum checkpoint_mode mode, bool requeue)
{
	struct event ev = cw_job();

	ev.submit.checkpoint = mode;
	ev.submit.requeue = requeue;
	return ev;
}

/* Runs on card 0 since 100 s, card 0 is reserved at now + @in: the reservation's id. */
static uint32_t reserve_in(uint32_t job, gq_time in)
{
	uint32_t id;

	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	cw_until(&w, w.now + GQ_SEC(100));
	id = cw_reserve(&w, cw_look(&w, job)->cards[0], w.now + in, GQ_NEVER, 0);
	return id;
}

static void test_announced(void **state)
{
	uint32_t job = cw_run(&w, cw_job()), r = reserve_in(job, GQ_SEC(600));
	gq_time t = w.now + GQ_SEC(600);
	const struct eviction *v;

	(void)state;
	assert_true(core_next_deadline(w.core) == t - GQ_SEC(31));
	cw_until(&w, t - GQ_SEC(31) - 1);
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	cw_until(&w, t - GQ_SEC(31));
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	assert_int_equal(cw_look(&w, job)->cause, CAUSE_RESERVATION);
	assert_true(cw_look(&w, job)->store_at == t - GQ_SEC(1));
	assert_false(cw_look(&w, job)->sudden);
	assert_int_equal(cw_fx(&w, FX_NOTICE, job)->signal, 0); /* it will be snapshotted */
	assert_true(cw_fx(&w, FX_NOTICE, job)->deadline == t - GQ_SEC(1));
	assert_string_equal(cw_fx(&w, FX_NOTICE, job)->text,
		"reservation 1 starts at 2026-11-30T01:05:00.000Z");
	v = cw_eviction(&w, job);
	assert_int_equal(v->how, HOW_PENDING);
	assert_true(v->notice_at == t - GQ_SEC(31) && v->due_at == t);
	assert_true(v->predicted_free_at == t - GQ_MSEC(200));
	assert_int_equal(v->ref, r);
	cw_until(&w, t - GQ_SEC(1) - 1);
	assert_null(cw_fx(&w, FX_STORE, job));
	cw_until(&w, t - GQ_SEC(1));
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	assert_non_null(cw_fx(&w, FX_STORE, job));
	w.now = t - GQ_MSEC(300);
	cw_stored(&w, job, GQ_MSEC(700), 10);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING); /* on the other card */
	assert_int_equal(cw_look(&w, job)->image, 1);
	/* 100 s + 600 s - 1 s of computing, all of it safe */
	assert_true(cw_look(&w, job)->ran == GQ_SEC(699) && cw_look(&w, job)->ran_saved == GQ_SEC(699));
	v = cw_eviction(&w, job);
	assert_int_equal(v->how, HOW_STORE);
	assert_true(v->free_at == t - GQ_MSEC(300) && v->late == 0 && v->lost == 0);
	cw_until(&w, t);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
	assert_true(cw_reservation(&w, r)->late == 0);
	assert_false(cw_reservation(&w, r)->sudden);
}

/* What it took last time is what the next promise is made of: 30 + 4 + 1. */
static void test_learns(void **state)
{
	uint32_t job = cw_run(&w, cw_job());
	gq_time t;

	(void)state;
	reserve_in(job, 0);
	cw_stored(&w, job, GQ_SEC(4), 10);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING);
	cw_started(&w, job);
	assert_true(core_promise(w.core, cw_look(&w, job)) == GQ_SEC(35));
	reserve_in(job, GQ_SEC(600));
	t = w.now + GQ_SEC(600);
	assert_true(core_next_deadline(w.core) == t - GQ_SEC(35));
	cw_until(&w, t - GQ_SEC(35));
	assert_true(cw_look(&w, job)->store_at == t - GQ_SEC(5));
	assert_true(cw_eviction(&w, job)->predicted_free_at == t - GQ_SEC(1));
}

/* A shim that never answers: the card is taken after the dump's deadline and a little more. */
static void test_store_hangs(void **state)
{
	uint32_t job = cw_run(&w, cw_job());
	gq_time t;

	(void)state;
	reserve_in(job, 0);
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	t = (cw_look(&w, job)->due_at > w.now ? cw_look(&w, job)->due_at : w.now) + GQ_SEC(10);
	cw_until(&w, t - 1);
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	cw_until(&w, t);
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	assert_non_null(cw_fx(&w, FX_KILL, job));
}

/* A large job is promised its size over the assumed rate: 0.8 + 3000/300, margin a quarter. */
static void test_size(void **state)
{
	uint32_t job = cw_run(&w, cw_job());
	struct event ev = cw_fact(&w, EV_JOB_SIZE, job);

	(void)state;
	ev.rss_mib = 3000;
	reserve_in(job, GQ_SEC(600));
	cw_do(&w, &ev);
	assert_true(core_promise(w.core, cw_look(&w, job)) == GQ_MSEC(30000 + 10800 + 2700));
	assert_true(core_next_deadline(w.core) == w.now + GQ_SEC(600) - GQ_MSEC(43500));
}

static void test_less_notice(void **state)
{
	uint32_t job = cw_run(&w, cw_job()), r = reserve_in(job, GQ_SEC(10));

	(void)state;
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	assert_true(cw_look(&w, job)->sudden);
	assert_true(cw_look(&w, job)->store_at == w.now + GQ_SEC(9));
	assert_true(cw_eviction(&w, job)->sudden);
	cw_until(&w, w.now + GQ_SEC(9));
	cw_until(&w, w.now + GQ_SEC(3));
	cw_stored(&w, job, GQ_SEC(3), 10);
	assert_true(cw_eviction(&w, job)->late == GQ_SEC(2));
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
	assert_true(cw_reservation(&w, r)->sudden);
	assert_true(cw_reservation(&w, r)->late == GQ_SEC(2));
}

static void test_no_notice(void **state)
{
	uint32_t job = cw_run(&w, cw_job());

	(void)state;
	reserve_in(job, GQ_MSEC(500)); /* the dump alone takes longer */
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	assert_non_null(cw_fx(&w, FX_NOTICE, job));
	assert_non_null(cw_fx(&w, FX_STORE, job));
	assert_true(cw_look(&w, job)->sudden);
}

static void test_none(void **state)
{
	uint32_t job = cw_run(&w, job_of(CHECKPOINT_NONE, true)), r = reserve_in(job, GQ_SEC(600));
	gq_time t = w.now + GQ_SEC(600);

	(void)state;
	cw_until(&w, t - GQ_MSEC(30200));
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	assert_int_equal(cw_fx(&w, FX_NOTICE, job)->signal, SIGTERM);
	assert_true(cw_eviction(&w, job)->predicted_free_at == t - GQ_MSEC(200));
	cw_until(&w, t - GQ_MSEC(200));
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	assert_non_null(cw_fx(&w, FX_KILL, job));
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_state(&w, job), JOB_STARTING); /* on the other card, from the beginning */
	assert_int_equal(cw_look(&w, job)->requeues, 1);
	assert_true(cw_look(&w, job)->ran == 0);
	assert_true(cw_look(&w, job)->lost == GQ_SEC(700) - GQ_MSEC(200));
	assert_int_equal(cw_eviction(&w, job)->how, HOW_REQUEUE);
	assert_true(cw_eviction(&w, job)->lost == GQ_SEC(700) - GQ_MSEC(200));
	cw_until(&w, t);
	assert_true(cw_reservation(&w, r)->late == 0);
}

/* No time at all: what cannot be stored still gets the sudden grace of 2 s. */
static void test_none_sudden(void **state)
{
	uint32_t job = cw_run(&w, job_of(CHECKPOINT_NONE, true));

	(void)state;
	reserve_in(job, 0);
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	assert_true(cw_look(&w, job)->store_at == w.now + GQ_SEC(2));
	cw_until(&w, w.now + GQ_SEC(2));
	assert_non_null(cw_fx(&w, FX_KILL, job));
}

static void test_no_requeue(void **state)
{
	uint32_t job = cw_run(&w, job_of(CHECKPOINT_NONE, false));

	(void)state;
	reserve_in(job, GQ_SEC(600));
	cw_until(&w, w.now + GQ_SEC(600));
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_state(&w, job), JOB_PREEMPTED);
	assert_int_equal(cw_look(&w, job)->reason, REASON_EVICTED);
	assert_int_equal(cw_eviction(&w, job)->how, HOW_REQUEUE);
	assert_non_null(cw_fx(&w, FX_FORGET_JOB, job));
}

static void test_app(void **state)
{
	uint32_t job = cw_run(&w, job_of(CHECKPOINT_APP, true));

	(void)state;
	reserve_in(job, GQ_SEC(600));
	cw_until(&w, w.now + GQ_SEC(580));
	assert_int_equal(cw_fx(&w, FX_NOTICE, job)->signal, SIGTERM);
	cw_exited(&w, job, 85, 0);
	assert_int_equal(cw_state(&w, job), JOB_STARTING); /* the other card */
	assert_int_equal(cw_eviction(&w, job)->how, HOW_APP);
	assert_true(cw_eviction(&w, job)->lost == 0);
	assert_true(cw_look(&w, job)->ran == GQ_SEC(680) && cw_look(&w, job)->lost == 0);
	assert_int_equal(cw_look(&w, job)->requeues, 0);
	assert_null(cw_fx(&w, FX_KILL, job));
}

/* An 85 that nobody asked for: run again, but not in a tight loop. */
static void test_app_by_itself(void **state)
{
	uint32_t job = cw_run(&w, job_of(CHECKPOINT_APP, true));

	(void)state;
	w.now += GQ_SEC(1);
	cw_exited(&w, job, 85, 0);
	assert_int_equal(cw_reason(&w, job), REASON_RETRY);
	cw_until(&w, w.now + GQ_SEC(5));
	assert_int_equal(cw_state(&w, job), JOB_STARTING);
	cw_started(&w, job);
	w.now += GQ_SEC(60);
	cw_exited(&w, job, 85, 0);
	assert_int_equal(cw_state(&w, job), JOB_STARTING);
	/* for the others 85 is an exit code like any other */
	job = cw_run(&w, cw_job());
	cw_exited(&w, job, 85, 0);
	assert_int_equal(cw_state(&w, job), JOB_FAILED);
}

/* How a job may end within its exit period, and what that means. */
static void test_exit_in_notice(void **state)
{
	static const struct {
		int code, signal;
		enum job_state ends;
		enum how how;
	} rows[] = {{0, 0, JOB_COMPLETED, HOW_EXIT}, {1, 0, JOB_FAILED, HOW_EXIT},
		{0, SIGTERM, JOB_PENDING, HOW_REQUEUE}, {128 + SIGTERM, 0, JOB_PENDING, HOW_REQUEUE},
		{0, SIGSEGV, JOB_FAILED, HOW_EXIT}};

	(void)state;
	cw_reserve(&w, 1, w.now, GQ_NEVER, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t job = cw_run(&w, job_of(CHECKPOINT_NONE, true)), r = reserve_in(job, GQ_SEC(10));

		cw_exited(&w, job, rows[i].code, rows[i].signal);
		assert_int_equal(cw_state(&w, job), rows[i].ends);
		assert_int_equal(cw_eviction(&w, job)->how, rows[i].how);
		if (rows[i].ends == JOB_PENDING)
			assert_int_equal(cw_wish(&w, EV_CANCEL, job, CW_ALICE), 0);
		assert_int_equal(cw_unreserve(&w, r), 0);
	}
}

/* --signal=USR1@5: five seconds before the exit period ends, and its exit by it is no failure. */
static void test_signal_before(void **state)
{
	struct event ev = job_of(CHECKPOINT_NONE, true);
	gq_time t;

	(void)state;
	ev.submit.signal = SIGUSR1;
	ev.submit.signal_before = GQ_SEC(5);
	uint32_t job = cw_run(&w, ev);
	reserve_in(job, GQ_SEC(600));
	t = w.now + GQ_SEC(600);
	cw_until(&w, t - GQ_MSEC(5200) - 1);
	assert_int_equal(cw_fx(&w, FX_NOTICE, job)->signal, 0);
	assert_null(cw_fx(&w, FX_SIGNAL, job));
	cw_until(&w, t - GQ_MSEC(5200));
	assert_int_equal(cw_fx(&w, FX_SIGNAL, job)->signal, SIGUSR1);
	cw_exited(&w, job, 128 + SIGUSR1, 0);
	assert_int_equal(cw_state(&w, job), JOB_STARTING);
}

/* Two dumps at the same time share the disk: each is promised the end of both, 1.6 s + 0.4 s. */
static void test_crowd(void **state)
{
	uint32_t a = cw_run(&w, cw_job()), b = cw_run(&w, cw_job());
	struct event ev = cw_reserve_event(0, w.now + GQ_SEC(600), GQ_NEVER, 0);
	gq_time t = w.now + GQ_SEC(600);

	(void)state;
	ev.reserve.n_cards = 2;
	ev.reserve.cards[1] = 1;
	cw_do(&w, &ev);
	assert_true(core_next_deadline(w.core) == t - GQ_SEC(32));
	cw_until(&w, t - GQ_SEC(32));
	assert_int_equal(cw_state(&w, a), JOB_NOTICE);
	assert_int_equal(cw_state(&w, b), JOB_NOTICE);
	assert_true(cw_look(&w, a)->store_at == t - GQ_SEC(2));
	assert_true(cw_look(&w, b)->store_at == t - GQ_SEC(2));
	assert_true(cw_eviction(&w, b)->predicted_free_at == t - GQ_MSEC(400));
}

static void test_called_off(void **state)
{
	uint32_t job = cw_run(&w, cw_job()), r = reserve_in(job, GQ_SEC(20));

	(void)state;
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	cw_until(&w, w.now + GQ_SEC(5));
	assert_int_equal(cw_unreserve(&w, r), 0);
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	assert_non_null(cw_fx(&w, FX_NOTICE_OFF, job));
	assert_int_equal(cw_eviction(&w, job)->how, HOW_CALLED_OFF);
	assert_true(cw_eviction(&w, job)->free_at == 0);
	cw_until(&w, w.now + GQ_SEC(60));
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
}

static void test_moved(void **state)
{
	uint32_t job = cw_run(&w, cw_job()), r = reserve_in(job, GQ_SEC(20));
	struct event ev = cw_reserve_event(0, w.now + GQ_SEC(600), GQ_NEVER, 0);
	gq_time t = w.now;

	(void)state;
	ev.reserve.id = r;
	cw_do(&w, &ev); /* later: it computes on */
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	cw_until(&w, t + GQ_SEC(570));
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	assert_int_equal(cw_look(&w, job)->evictions, 2);
	cw_reserve(&w, 0, t + GQ_SEC(580), GQ_NEVER, 0); /* earlier: pulled forward */
	assert_true(cw_look(&w, job)->due_at == t + GQ_SEC(580));
	assert_true(cw_look(&w, job)->store_at == t + GQ_SEC(579));
	assert_true(cw_eviction(&w, job)->due_at == t + GQ_SEC(580));
	assert_true(cw_eviction(&w, job)->notice_at == t + GQ_SEC(569));
	assert_int_equal(cw_eviction(&w, job)->ref, 2);
	assert_true(cw_fx(&w, FX_NOTICE, job)->deadline == t + GQ_SEC(579));
	assert_true(cw_reservation(&w, 2)->sudden);
	assert_false(cw_reservation(&w, 1)->sudden);
}

/* A dump that fails: once more while there is time, then the none road, killed before it is due. */
static void test_dump_fails(void **state)
{
	uint32_t job = cw_run(&w, cw_job());
	gq_time due;

	(void)state;
	reserve_in(job, GQ_SEC(40));
	due = w.now + GQ_SEC(40);
	cw_until(&w, due - GQ_SEC(1)); /* STORING; the next try needs 0.8 + 0.2 s */
	cw_failed(&w, EV_STORE_FAILED, job, "criu: out of luck");
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	assert_int_equal(cw_look(&w, job)->store_tries, 2);
	assert_string_equal(w.eviction_error, "criu: out of luck");
	w.now += GQ_MSEC(500);
	cw_forget(&w);
	cw_failed(&w, EV_STORE_FAILED, job, "criu: again");
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	assert_string_equal(cw_look(&w, job)->error, "criu: again");
	assert_int_equal(cw_fx(&w, FX_SIGNAL, job)->signal, SIGTERM);
	cw_until(&w, due - GQ_MSEC(200));
	assert_non_null(cw_fx(&w, FX_KILL, job));
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_eviction(&w, job)->how, HOW_REQUEUE);
	assert_true(cw_eviction(&w, job)->late == 0);
	assert_true(cw_eviction(&w, job)->lost == GQ_SEC(140) - GQ_MSEC(200));
	assert_int_equal(cw_state(&w, job), JOB_STARTING);
	assert_string_equal(cw_look(&w, job)->error, "criu: again");
}

/* Too late for a second try; the image that is there is what it goes back to. */
static void test_dump_fails_with_image(void **state)
{
	uint32_t job = cw_run(&w, cw_job());

	(void)state;
	reserve_in(job, 0);
	cw_stored(&w, job, GQ_SEC(1), 10);
	cw_started(&w, job);
	reserve_in(job, 0);
	w.now += GQ_SEC(1);
	cw_failed(&w, EV_STORE_FAILED, job, "criu: no");
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	assert_non_null(cw_fx(&w, FX_KILL, job)); /* it is due */
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_state(&w, job), JOB_STORED);
	assert_int_equal(cw_look(&w, job)->image, 1);
	assert_true(cw_look(&w, job)->ran == GQ_SEC(99) && cw_look(&w, job)->lost == GQ_SEC(101));
	assert_int_equal(cw_eviction(&w, job)->how, HOW_REQUEUE);
}

static void test_no_store_here(void **state)
{
	uint32_t job;

	(void)state;
	w.conf.can_store = false;
	cw_conf(&w);
	job = cw_run(&w, cw_job());
	reserve_in(job, GQ_SEC(600));
	cw_until(&w, w.now + GQ_SEC(600) - GQ_MSEC(200));
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_look(&w, job)->requeues, 1);
}

/* offline first: the reservation waits for the job, and says how long. */
static void test_online_waits(void **state)
{
	uint32_t job, r;

	(void)state;
	w.conf.online_priority = false;
	cw_conf(&w);
	job = cw_run(&w, cw_job());
	r = reserve_in(job, GQ_SEC(20));
	cw_until(&w, w.now + GQ_SEC(100));
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_WAITING);
	cw_exited(&w, job, 0, 0);
	assert_int_equal(cw_reservation(&w, r)->state, RESERVATION_HONOURED);
	assert_true(cw_reservation(&w, r)->late == GQ_SEC(80));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_announced), CASE(test_learns), CASE(test_size), CASE(test_store_hangs), CASE(test_less_notice),
		CASE(test_no_notice), CASE(test_none), CASE(test_none_sudden), CASE(test_no_requeue),
		CASE(test_app), CASE(test_app_by_itself), CASE(test_exit_in_notice),
		CASE(test_signal_before), CASE(test_crowd), CASE(test_called_off), CASE(test_moved),
		CASE(test_dump_fails), CASE(test_dump_fails_with_image), CASE(test_no_store_here),
		CASE(test_online_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
