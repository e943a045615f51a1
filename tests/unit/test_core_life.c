/* SPDX-License-Identifier: MIT
 * test_core_life.c - a job's life: cancelled, held, out of time, gone, restored in vain, resumed after a
 * restart of gqd, and facts that come too late */
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
	cw_init(&w, 1, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cw_clear(&w);
	return 0;
}

/* A job in the state asked for, which has computed 60 s where it computes at all. */
static uint32_t job_in(enum job_state s, enum checkpoint_mode mode, bool requeue)
{
	struct event ev = cw_job();
	uint32_t job;

	ev.submit.checkpoint = mode;
	ev.submit.requeue = requeue;
	ev.submit.hold = s == JOB_HELD;
	if (s == JOB_PENDING)
		ev.submit.begin_at = w.now + GQ_SEC(3600);
	job = cw_submit(&w, ev);
	if (s == JOB_PENDING || s == JOB_HELD || s == JOB_STARTING)
		return job;
	cw_started(&w, job);
	cw_until(&w, w.now + GQ_SEC(60));
	switch (s) {
	case JOB_NOTICE: cw_evict(&w, job, EVICT_DEFAULT, GQ_NEVER); break;
	case JOB_ENDING: cw_wish(&w, EV_CANCEL, job, CW_ALICE); break;
	case JOB_STORING:
	case JOB_STORED:
	case JOB_STORED_HELD:
	case JOB_RESTORING: cw_evict(&w, job, EVICT_DEFAULT, 0); break;
	default: break;
	}
	if (s == JOB_STORED || s == JOB_STORED_HELD || s == JOB_RESTORING)
		cw_stored(&w, job, GQ_SEC(1), 5);
	if (s == JOB_STORED)
		cw_reserve(&w, 0, w.now, GQ_NEVER, 0);
	if (s == JOB_STORED || s == JOB_RESTORING)
		cw_wish(&w, EV_RELEASE, job, CW_ALICE);
	assert_int_equal(cw_state(&w, job), s);
	cw_forget(&w);
	return job;
}

static uint32_t restored_job(void)
{
	uint32_t job = job_in(JOB_RESTORING, CHECKPOINT_AUTO, true);

	cw_started(&w, job);
	cw_until(&w, w.now + GQ_SEC(10));
	return job;
}

static void reset(void)
{
	cw_clear(&w);
	cw_init(&w, 1, NULL);
}

static void test_cancel_everywhere(void **state)
{
	(void)state;
	for (int s = 0; s < JOB_COMPLETED; s++) {
		uint32_t job = job_in(s, CHECKPOINT_AUTO, true);
		bool computes = s == JOB_RUNNING || s == JOB_NOTICE;

		assert_int_equal(cw_wish(&w, EV_CANCEL, job, CW_BOB), -EPERM);
		assert_int_equal(cw_wish(&w, EV_CANCEL, job, CW_ALICE), 0);
		if (job_state_has_cards(s)) {
			assert_int_equal(cw_state(&w, job), JOB_ENDING);
			if (computes) {
				assert_int_equal(cw_fx(&w, FX_SIGNAL, job)->signal, SIGTERM);
				assert_null(cw_fx(&w, FX_KILL, job));
				cw_until(&w, w.now + GQ_SEC(30));
			}
			assert_non_null(cw_fx(&w, FX_KILL, job));
			cw_exited(&w, job, 0, SIGKILL);
		}
		assert_int_equal(cw_state(&w, job), JOB_CANCELLED);
		assert_non_null(cw_fx(&w, FX_FORGET_JOB, job));
		assert_int_equal(cw_look(&w, job)->image, 0);
		assert_int_equal(cw_wish(&w, EV_CANCEL, job, CW_ALICE), -EPROTO);
		assert_string_equal(w.err.text, "job 1: has ended already (CANCELLED)");
		reset();
	}
	assert_int_equal(cw_wish(&w, EV_CANCEL, 1, CW_ALICE), -ENOENT);
}

/* It has not left before its processes are gone: the eviction row says so. */
static void test_cancel_in_notice(void **state)
{
	uint32_t job = job_in(JOB_NOTICE, CHECKPOINT_AUTO, true);

	(void)state;
	cw_wish(&w, EV_CANCEL, job, CW_ALICE);
	assert_int_equal(cw_eviction(&w, job)->how, HOW_PENDING);
	w.now += GQ_SEC(7);
	cw_exited(&w, job, 0, SIGTERM);
	assert_int_equal(cw_state(&w, job), JOB_CANCELLED);
	assert_int_equal(cw_eviction(&w, job)->how, HOW_EXIT);
	assert_true(cw_eviction(&w, job)->free_at == w.now);
}

/* Cancelled with 30 s to think it over, but the card is promised in 10. */
static void test_cancel_before_reservation(void **state)
{
	uint32_t job = job_in(JOB_RUNNING, CHECKPOINT_AUTO, true);
	gq_time t = w.now;

	(void)state;
	cw_wish(&w, EV_CANCEL, job, CW_ALICE);
	cw_reserve(&w, 0, t + GQ_SEC(10), GQ_NEVER, 0);
	cw_until(&w, t + GQ_SEC(10) - GQ_MSEC(201));
	assert_null(cw_fx(&w, FX_KILL, job));
	cw_until(&w, t + GQ_SEC(10) - GQ_MSEC(200));
	assert_non_null(cw_fx(&w, FX_KILL, job));
}

static void test_hold_everywhere(void **state)
{
	(void)state;
	for (int s = 0; s < JOB_COMPLETED; s++) {
		uint32_t job = job_in(s, CHECKPOINT_AUTO, true);
		int want = s == JOB_PENDING || s == JOB_STORED ? 0 : -EPROTO;

		assert_int_equal(cw_wish(&w, EV_HOLD, job, CW_ALICE), want);
		if (want == 0) {
			assert_int_equal(cw_reason(&w, job), REASON_HELD_USER);
			assert_int_equal(cw_wish(&w, EV_HOLD, job, CW_ALICE), -EPROTO);
			assert_string_equal(w.err.text, "job 1: is held already");
			assert_int_equal(cw_wish(&w, EV_RELEASE, job, CW_ALICE), 0);
			assert_int_equal(cw_state(&w, job), s);
		} else if (s != JOB_HELD && s != JOB_STORED_HELD) {
			assert_non_null(strstr(w.err.text, "only a waiting job can be held"));
			assert_int_equal(cw_wish(&w, EV_RELEASE, job, CW_ALICE), -EPROTO);
		}
		reset();
	}
}

static void test_held_by_operator(void **state)
{
	uint32_t job = job_in(JOB_PENDING, CHECKPOINT_AUTO, true);

	(void)state;
	assert_int_equal(cw_wish(&w, EV_HOLD, job, CW_ROOT), 0);
	assert_int_equal(cw_reason(&w, job), REASON_HELD_ADMIN);
	assert_int_equal(cw_wish(&w, EV_RELEASE, job, CW_ALICE), -EPERM);
	assert_string_equal(w.err.text, "job 1: held by an operator");
	assert_int_equal(cw_wish(&w, EV_RELEASE, job, CW_ROOT), 0);
	assert_int_equal(cw_reason(&w, job), REASON_BEGIN_TIME);
}

static void test_time_limit(void **state)
{
	struct event ev = cw_job();
	uint32_t job;

	(void)state;
	ev.submit.time_limit = GQ_SEC(600);
	ev.submit.signal = SIGUSR2;
	ev.submit.signal_before = GQ_SEC(60);
	job = cw_run(&w, ev);
	cw_until(&w, w.now + GQ_SEC(540));
	assert_int_equal(cw_fx(&w, FX_SIGNAL, job)->signal, SIGUSR2);
	cw_until(&w, w.now + GQ_SEC(60));
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	assert_int_equal(cw_fx(&w, FX_SIGNAL, job)->signal, SIGTERM);
	cw_until(&w, w.now + GQ_SEC(30));
	assert_non_null(cw_fx(&w, FX_KILL, job));
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_state(&w, job), JOB_TIMEOUT);
	assert_int_equal(cw_look(&w, job)->reason, REASON_TIME_LIMIT);
}

/* What it computed before its eviction counts, the time on disk does not. */
static void test_time_limit_over_eviction(void **state)
{
	struct event ev = cw_job();
	uint32_t job, r;

	(void)state;
	ev.submit.time_limit = GQ_SEC(600);
	job = cw_run(&w, ev);
	cw_until(&w, w.now + GQ_SEC(100));
	r = cw_reserve(&w, 0, w.now, w.now + GQ_SEC(5000), 0);
	cw_stored(&w, job, GQ_SEC(1), 5);
	cw_until(&w, w.now + GQ_SEC(1000));
	cw_unreserve(&w, r);
	cw_started(&w, job);
	cw_until(&w, w.now + GQ_SEC(501) - 1); /* 99 s are behind it */
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	cw_until(&w, w.now + 1);
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
}

static void test_gone(void **state)
{
	static const struct {
		enum job_state in;
		bool requeue;
		enum job_state to;
	} rows[] = {{JOB_STARTING, true, JOB_STARTING}, {JOB_RUNNING, true, JOB_STARTING},
		{JOB_NOTICE, true, JOB_HELD}, {JOB_STORING, true, JOB_HELD},
		{JOB_ENDING, true, JOB_CANCELLED}, {JOB_STARTING, false, JOB_FAILED},
		{JOB_RUNNING, false, JOB_FAILED}, {JOB_NOTICE, false, JOB_FAILED},
		{JOB_STORING, false, JOB_FAILED}, {JOB_RESTORING, false, JOB_STORED}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t job = job_in(rows[i].in, CHECKPOINT_AUTO, rows[i].requeue);
		uint32_t incarnation = cw_look(&w, job)->incarnation;

		cw_gone(&w, job);
		assert_int_equal(cw_state(&w, job), rows[i].to);
		if (rows[i].to == JOB_FAILED)
			assert_int_equal(cw_look(&w, job)->reason, REASON_LOST);
		if (rows[i].to == JOB_STARTING)
			assert_int_equal(cw_look(&w, job)->incarnation, incarnation + 1);
		if (cw_eviction(&w, job))
			assert_int_not_equal(cw_eviction(&w, job)->how, HOW_PENDING);
		reset();
	}
}

/* With an image it goes back to the image, also where it may not be requeued. */
static void test_gone_with_image(void **state)
{
	uint32_t job = restored_job();

	(void)state;
	cw_gone(&w, job);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING);
	assert_int_equal(cw_fx(&w, FX_RESTORE, job)->image, 1);
	assert_int_equal(cw_fx(&w, FX_RESTORE, job)->incarnation, 3);
	assert_true(cw_look(&w, job)->ran == GQ_SEC(59) && cw_look(&w, job)->lost == GQ_SEC(10));
	assert_int_equal(cw_look(&w, job)->requeues, 0);
}

static void test_gone_again_and_again(void **state)
{
	uint32_t job = job_in(JOB_STARTING, CHECKPOINT_AUTO, true);

	(void)state;
	for (int i = 0; i < 5; i++) {
		cw_gone(&w, job);
		assert_int_equal(cw_state(&w, job), JOB_STARTING);
	}
	cw_gone(&w, job);
	assert_int_equal(cw_state(&w, job), JOB_HELD);
	assert_int_equal(cw_reason(&w, job), REASON_HOLD_MAX_REQUEUE);
	cw_wish(&w, EV_RELEASE, job, CW_ALICE);
	cw_gone(&w, job);
	assert_int_equal(cw_state(&w, job), JOB_STARTING);
}

static void test_start_fails(void **state)
{
	uint32_t job = job_in(JOB_STARTING, CHECKPOINT_AUTO, true);

	(void)state;
	cw_failed(&w, EV_START_FAILED, job, "cwd: no such directory");
	assert_int_equal(cw_state(&w, job), JOB_FAILED);
	assert_int_equal(cw_look(&w, job)->reason, REASON_START_FAILED);
	assert_string_equal(cw_look(&w, job)->error, "cwd: no such directory");
}

/* It ended while no gqd looked: only what it computed counts. */
static void test_ended_unseen(void **state)
{
	uint32_t job = job_in(JOB_RUNNING, CHECKPOINT_AUTO, true);
	struct event ev = cw_fact(&w, EV_EXITED, job);
	gq_time ran = cw_look(&w, job)->ran, since = cw_look(&w, job)->run_since;

	(void)state;
	ev.at = since + GQ_SEC(10);
	cw_until(&w, since + GQ_SEC(100));
	cw_do(&w, &ev);
	assert_int_equal(cw_state(&w, job), JOB_COMPLETED);
	assert_true(cw_look(&w, job)->ran == ran + GQ_SEC(10));
	assert_true(cw_look(&w, job)->ended_at == ev.at);
}

/* A full disk is not the job's fault: it waits, and is started again, however often. */
static void test_start_fails_for_now(void **state)
{
	uint32_t job = job_in(JOB_STARTING, CHECKPOINT_AUTO, false);

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct event ev = cw_fact(&w, EV_START_FAILED, job);

		ev.again = true;
		ev.text = "no space";
		cw_do(&w, &ev);
		assert_int_equal(cw_state(&w, job), JOB_PENDING);
		assert_int_equal(cw_reason(&w, job), REASON_RETRY);
		cw_until(&w, w.now + GQ_SEC(30));
		assert_int_equal(cw_state(&w, job), JOB_STARTING);
	}
}

/* Three tries, 2 s and 4 s apart; then it is held and its image stays. */
static void test_restore_fails(void **state)
{
	uint32_t job = job_in(JOB_RESTORING, CHECKPOINT_AUTO, true);

	(void)state;
	for (int i = 0; i < 2; i++) {
		if (i)
			cw_gone(&w, job); /* counts the same */
		else
			cw_failed(&w, EV_RESTORE_FAILED, job, "criu: mount");
		assert_int_equal(cw_state(&w, job), JOB_STORED);
		assert_int_equal(cw_reason(&w, job), REASON_RETRY);
		assert_true(core_next_deadline(w.core) == w.now + GQ_SEC(2 << i));
		cw_until(&w, w.now + GQ_SEC(2 << i));
		assert_int_equal(cw_state(&w, job), JOB_RESTORING);
	}
	cw_failed(&w, EV_RESTORE_FAILED, job, "criu: mount");
	assert_int_equal(cw_state(&w, job), JOB_STORED_HELD);
	assert_int_equal(cw_reason(&w, job), REASON_RESTORE_FAILED);
	assert_string_equal(cw_look(&w, job)->error, "criu: mount");
	assert_int_equal(cw_look(&w, job)->image, 1);
	assert_null(cw_fx(&w, FX_DROP_IMAGE, job));
	cw_wish(&w, EV_RELEASE, job, CW_ALICE);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING);
	cw_failed(&w, EV_RESTORE_FAILED, job, "criu: mount");
	assert_int_equal(cw_reason(&w, job), REASON_RETRY); /* counted anew */
}

/* The second image replaces the first, which is removed only then. */
static void test_images(void **state)
{
	uint32_t job = restored_job();

	(void)state;
	cw_evict(&w, job, EVICT_DEFAULT, 0);
	assert_null(cw_fx(&w, FX_DROP_IMAGE, job));
	cw_stored(&w, job, GQ_SEC(1), 5);
	assert_int_equal(cw_look(&w, job)->image, 2);
	assert_int_equal(cw_fx(&w, FX_DROP_IMAGE, job)->image, 1);
	assert_non_null(cw_fx(&w, FX_FORGET, job));
}

/* Evicted before it computed: nothing to keep, it is taken off at once. */
static void test_evicted_while_starting(void **state)
{
	uint32_t job = job_in(JOB_STARTING, CHECKPOINT_AUTO, true), r;

	(void)state;
	r = cw_reserve(&w, 0, w.now, w.now + GQ_SEC(50), 0);
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	assert_non_null(cw_fx(&w, FX_KILL, job));
	cw_started(&w, job); /* it was faster */
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	w.now += GQ_MSEC(50);
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_state(&w, job), JOB_PENDING);
	assert_true(cw_reservation(&w, r)->late == GQ_MSEC(50));
}

static void test_evicted_while_restoring(void **state)
{
	uint32_t job = job_in(JOB_RESTORING, CHECKPOINT_AUTO, true);

	(void)state;
	cw_reserve(&w, 0, w.now, w.now + GQ_SEC(50), 0);
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	cw_failed(&w, EV_RESTORE_FAILED, job, "killed");
	assert_int_equal(cw_state(&w, job), JOB_STORED);
	assert_int_equal(cw_look(&w, job)->restore_tries, 0);
	assert_true(cw_look(&w, job)->lost == 0);
}

/* Every fact about an earlier incarnation, and every fact once more, changes nothing. */
static void test_stale(void **state)
{
	uint32_t job = restored_job();
	struct job before = *cw_look(&w, job);
	static const enum event_type facts[] = {EV_STARTED, EV_START_FAILED, EV_EXITED, EV_STORED,
		EV_STORE_FAILED, EV_RESTORE_FAILED, EV_GONE, EV_JOB_SIZE};

	(void)state;
	cw_forget(&w);
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		struct event ev = {.type = facts[i], .job = job, .incarnation = 1, .text = "old",
			.rss_mib = 5000, .took = GQ_SEC(1)};

		cw_do(&w, &ev);
		ev.incarnation = 3;
		cw_do(&w, &ev);
		ev.job = 99;
		cw_do(&w, &ev);
	}
	cw_started(&w, job); /* said again */
	cw_failed(&w, EV_START_FAILED, job, "no");
	cw_failed(&w, EV_RESTORE_FAILED, job, "no");
	cw_failed(&w, EV_STORE_FAILED, job, "no");
	cw_stored(&w, job, 1, 1); /* nobody asked for it */
	assert_memory_equal(&before, cw_look(&w, job), sizeof(before));
	assert_int_equal(w.fx.len, 0);
	cw_exited(&w, job, 0, 0);
	before = *cw_look(&w, job);
	cw_gone(&w, job);
	cw_exited(&w, job, 1, 0);
	assert_memory_equal(&before, cw_look(&w, job), sizeof(before));
}

/* After a restart each state lists again what it needs, for the same incarnation. */
static void test_resume(void **state)
{
	static const struct {
		enum job_state in;
		int effect; /* FX_N = none */
	} rows[] = {{JOB_PENDING, FX_N}, {JOB_HELD, FX_N}, {JOB_STARTING, FX_START},
		{JOB_RUNNING, FX_NOTICE_OFF}, {JOB_NOTICE, FX_NOTICE}, {JOB_STORING, FX_STORE},
		{JOB_STORED, FX_N}, {JOB_STORED_HELD, FX_N}, {JOB_RESTORING, FX_RESTORE},
		{JOB_ENDING, FX_SIGNAL}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t job = job_in(rows[i].in, CHECKPOINT_AUTO, true), inc = cw_look(&w, job)->incarnation;

		cw_restart(&w);
		assert_int_equal(cw_state(&w, job), rows[i].in);
		if (rows[i].effect != FX_N) {
			assert_int_equal(w.fx.len, 1);
			assert_int_equal(w.fx.list[0].type, rows[i].effect);
			assert_int_equal(w.fx.list[0].incarnation, inc);
		} else {
			assert_int_equal(w.fx.len, 0);
		}
		reset();
	}
}

/* The KILL that fell due while gqd was down, or was decided and never sent. */
static void test_resume_kill(void **state)
{
	uint32_t job = job_in(JOB_ENDING, CHECKPOINT_AUTO, true);

	(void)state;
	w.now += GQ_SEC(31);
	cw_restart(&w);
	assert_non_null(cw_fx(&w, FX_KILL, job));
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_state(&w, job), JOB_CANCELLED);
}

static void test_resume_goes_on(void **state)
{
	uint32_t job = job_in(JOB_NOTICE, CHECKPOINT_AUTO, true), second;

	(void)state;
	cw_restart(&w);
	cw_until(&w, w.now + GQ_SEC(30));
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	cw_stored(&w, job, GQ_SEC(1), 5);
	assert_int_equal(cw_eviction(&w, job)->how, HOW_STORE);
	second = cw_submit_one(&w); /* ids go on */
	assert_int_equal(second, job + 1);
}

/* Ended jobs leave memory some time after, and their rows are the store's then. */
static void test_forgotten(void **state)
{
	uint32_t job = job_in(JOB_RUNNING, CHECKPOINT_AUTO, true);

	(void)state;
	cw_exited(&w, job, 3, 0);
	assert_int_equal(cw_look(&w, job)->reason, REASON_NON_ZERO_EXIT);
	cw_until(&w, w.now + GQ_SEC(299));
	assert_non_null(core_job(w.core, job));
	cw_until(&w, w.now + GQ_SEC(31));
	assert_null(core_job(w.core, job));
	assert_true(core_next_deadline(w.core) == GQ_NEVER);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_cancel_everywhere), CASE(test_cancel_in_notice),
		CASE(test_cancel_before_reservation), CASE(test_hold_everywhere),
		CASE(test_held_by_operator), CASE(test_time_limit), CASE(test_time_limit_over_eviction),
		CASE(test_gone), CASE(test_gone_with_image), CASE(test_gone_again_and_again),
		CASE(test_start_fails), CASE(test_start_fails_for_now), CASE(test_ended_unseen),
		CASE(test_restore_fails), CASE(test_images),
		CASE(test_evicted_while_starting), CASE(test_evicted_while_restoring), CASE(test_stale),
		CASE(test_resume), CASE(test_resume_kill), CASE(test_resume_goes_on), CASE(test_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
