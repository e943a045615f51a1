/* SPDX-License-Identifier: MIT
 * test_core_sudden.c - leaving without notice: busy services, lost leases, foreign processes, lost
 * cards, and operators who evict */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>

#include "tests/lib/core_world.h"

#define GIB(n) ((int64_t)(n) * 1024)

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

static uint32_t run_for(gq_time t)
{
	uint32_t job = cw_run(&w, cw_job());

	cw_until(&w, w.now + t);
	return job;
}

static void test_service_busy(void **state)
{
	uint32_t job;

	(void)state;
	cw_service(&w, "chat", 0, GIB(30));
	job = run_for(GQ_SEC(60));
	cw_service_say(&w, "chat", SERVICE_BUSY);
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	assert_int_equal(cw_look(&w, job)->cause, CAUSE_SERVICE);
	assert_string_equal(cw_fx(&w, FX_NOTICE, job)->text, "service chat needs its cards");
	assert_true(cw_eviction(&w, job)->sudden);
	assert_true(cw_eviction(&w, job)->due_at == w.now);
	w.now += GQ_SEC(1);
	cw_stored(&w, job, GQ_SEC(1), 5);
	assert_true(cw_eviction(&w, job)->late == GQ_SEC(1));
	assert_int_equal(cw_state(&w, job), JOB_STORED);
	assert_int_equal(cw_reason(&w, job), REASON_RESOURCES);
	cw_service_say(&w, "chat", SERVICE_IDLE);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING);
}

static void test_service_idle_again(void **state)
{
	struct event ev = cw_job();
	uint32_t job;

	(void)state;
	ev.submit.checkpoint = CHECKPOINT_APP;
	cw_service(&w, "chat", 0, GIB(30));
	job = cw_run(&w, ev);
	cw_service_say(&w, "chat", SERVICE_BUSY);
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	assert_true(cw_look(&w, job)->store_at == w.now + GQ_SEC(2));
	w.now += GQ_SEC(1);
	cw_service_say(&w, "chat", SERVICE_IDLE);
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	assert_int_equal(cw_eviction(&w, job)->how, HOW_CALLED_OFF);
}

static void test_lease(void **state)
{
	struct event service = cw_service_event("chat", 0, GIB(30));
	uint32_t job;

	(void)state;
	service.service.lease = GQ_SEC(30);
	cw_do(&w, &service);
	job = run_for(GQ_SEC(20));
	cw_service_say(&w, "chat", SERVICE_IDLE); /* renewed */
	cw_until(&w, w.now + GQ_SEC(29));
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	cw_until(&w, w.now + GQ_SEC(1));
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	assert_int_equal(cw_look(&w, job)->cause, CAUSE_LEASE);
	assert_string_equal(cw_fx(&w, FX_NOTICE, job)->text,
		"service chat lost its lease, which counts as in use");
	cw_stored(&w, job, GQ_SEC(1), 5);
	cw_until(&w, w.now + GQ_SEC(100));
	assert_int_equal(cw_state(&w, job), JOB_STORED);
	cw_service_say(&w, "chat", SERVICE_IDLE);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING);
}

/* Silence before a restart is not held against a service: it gets one more lease. */
static void test_lease_after_restart(void **state)
{
	struct event service = cw_service_event("chat", 0, GIB(30));
	uint32_t job;

	(void)state;
	service.service.lease = GQ_SEC(30);
	cw_do(&w, &service);
	job = run_for(GQ_SEC(20));
	w.now += GQ_SEC(500); /* gqd was down */
	cw_restart(&w);
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	cw_until(&w, w.now + GQ_SEC(30));
	assert_int_equal(cw_state(&w, job), JOB_STORING);
}

static void test_service_deleted(void **state)
{
	struct event ev = {.type = EV_SERVICE_DELETE, .privileged = true};
	uint32_t job;

	(void)state;
	cw_service(&w, "chat", 0, GIB(30));
	cw_service_say(&w, "chat", SERVICE_BUSY);
	job = cw_submit_one(&w);
	assert_int_equal(cw_state(&w, job), JOB_PENDING);
	memcpy(ev.service.name, "chat", 5);
	cw_do(&w, &ev);
	assert_int_equal(cw_state(&w, job), JOB_STARTING);
	assert_int_equal(cw_step(&w, &ev), -ENOENT);
	assert_string_equal(w.err.text, "service chat: no such service");
}

static void card_says(bool present, bool fault, int foreign_pid, int64_t foreign_mib)
{
	struct event ev = cw_card(0);

	ev.card.present = present;
	ev.card.fault = fault;
	ev.card.foreign_pid = foreign_pid;
	ev.card.foreign_mib = foreign_mib;
	cw_do(&w, &ev);
}

static void test_card(void **state)
{
	static const struct {
		bool present, fault;
		int pid;
		enum cause cause;
		const char *text;
	} rows[] = {{true, false, 77, CAUSE_FOREIGN, "a process outside gq took VRAM on the card"},
		{true, true, 0, CAUSE_CARD, "the card is lost or faulty"},
		{false, false, 0, CAUSE_CARD, "the card is lost or faulty"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t job = run_for(GQ_SEC(60));

		card_says(rows[i].present, rows[i].fault, rows[i].pid, GIB(1));
		assert_int_equal(cw_state(&w, job), JOB_STORING);
		assert_int_equal(cw_look(&w, job)->cause, rows[i].cause);
		assert_string_equal(cw_fx(&w, FX_NOTICE, job)->text, rows[i].text);
		cw_stored(&w, job, GQ_SEC(1), 5);
		assert_int_equal(cw_state(&w, job), JOB_STORED);
		card_says(true, false, 0, 0);
		if (!rows[i].fault) { /* it has to be quiet for the hold time */
			assert_int_equal(cw_state(&w, job), JOB_STORED);
			cw_until(&w, w.now + GQ_SEC(10));
		}
		assert_int_equal(cw_state(&w, job), JOB_RESTORING);
		cw_started(&w, job);
		cw_exited(&w, job, 0, 0);
	}
}

/* The service on the card takes more than it had kept: the job that asked for more has to go. */
static void test_squeeze(void **state)
{
	struct event ev = cw_job();
	uint32_t job;

	(void)state;
	cw_service(&w, "chat", 0, GIB(30));
	ev.submit.vram_mib = GIB(20);
	job = cw_run(&w, ev);
	card_says(true, false, 9, GIB(60)); /* 20 are left: enough */
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	card_says(true, false, 9, GIB(60) + 1);
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	assert_int_equal(cw_look(&w, job)->cause, CAUSE_SERVICE);
}

static void test_operator(void **state)
{
	uint32_t job = run_for(GQ_SEC(60));

	(void)state;
	assert_int_equal(cw_evict(&w, job, EVICT_DEFAULT, GQ_SEC(5)), 0);
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	assert_true(cw_look(&w, job)->store_at == w.now + GQ_SEC(5));
	assert_true(cw_look(&w, job)->due_at == w.now + GQ_SEC(6)); /* 5 + 0.8 + 0.2 */
	assert_string_equal(cw_fx(&w, FX_NOTICE, job)->text, "an operator asked for it");
	cw_until(&w, w.now + GQ_SEC(5));
	cw_stored(&w, job, GQ_MSEC(900), 5);
	assert_int_equal(cw_state(&w, job), JOB_STORED_HELD);
	assert_int_equal(cw_reason(&w, job), REASON_HELD_USER);
	assert_int_equal(cw_eviction(&w, job)->cause, CAUSE_OPERATOR);
	assert_int_equal(cw_wish(&w, EV_RELEASE, job, CW_ALICE), 0);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING);
	assert_int_equal(cw_fx(&w, FX_RESTORE, job)->image, 1);
	assert_int_equal(cw_fx(&w, FX_RESTORE, job)->incarnation, 2);
}

static void test_operator_refused(void **state)
{
	struct event none = cw_job();
	uint32_t job;

	(void)state;
	none.submit.checkpoint = CHECKPOINT_NONE;
	job = cw_submit(&w, none);
	assert_int_equal(cw_evict(&w, job, EVICT_DEFAULT, GQ_NEVER), -EPROTO);
	assert_string_equal(w.err.text, "job 1: is CONFIGURING; only a running job can be evicted");
	cw_started(&w, job);
	assert_int_equal(cw_evict(&w, job, EVICT_STORE, GQ_NEVER), -EPROTO);
	assert_string_equal(w.err.text, "job 1: cannot be stored (--checkpoint=none); use --requeue");
	assert_int_equal(cw_evict(&w, 7, EVICT_STORE, GQ_NEVER), -ENOENT);
	assert_string_equal(w.err.text, "job 7: no such job, or it ended long ago");
	assert_int_equal(cw_wish(&w, EV_EVICT, job, CW_BOB), -EPERM);
	assert_string_equal(w.err.text, "job 1: belongs to another user");
}

static void test_operator_requeue(void **state)
{
	uint32_t job = run_for(GQ_SEC(60));

	(void)state;
	assert_int_equal(cw_evict(&w, job, EVICT_REQUEUE, GQ_SEC(3)), 0);
	assert_int_equal(cw_state(&w, job), JOB_ENDING);
	assert_int_equal(cw_fx(&w, FX_SIGNAL, job)->signal, SIGTERM);
	cw_until(&w, w.now + GQ_SEC(3));
	assert_non_null(cw_fx(&w, FX_KILL, job));
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_state(&w, job), JOB_HELD);
	assert_int_equal(cw_reason(&w, job), REASON_HELD_USER);
	assert_true(cw_look(&w, job)->lost == GQ_SEC(63));
}

/* A job that came from an image goes back to it, not to a state that knows no image. */
static void test_operator_requeue_restored(void **state)
{
	uint32_t job = run_for(GQ_SEC(60));

	(void)state;
	cw_evict(&w, job, EVICT_DEFAULT, 0);
	cw_stored(&w, job, GQ_SEC(1), 5);
	cw_wish(&w, EV_RELEASE, job, CW_ALICE);
	cw_started(&w, job);
	cw_until(&w, w.now + GQ_SEC(10));
	assert_int_equal(cw_evict(&w, job, EVICT_REQUEUE, 0), 0);
	cw_exited(&w, job, 0, SIGKILL);
	assert_int_equal(cw_state(&w, job), JOB_STORED_HELD);
	cw_wish(&w, EV_RELEASE, job, CW_ALICE);
	assert_int_equal(cw_state(&w, job), JOB_RESTORING);
	cw_gone(&w, job);
	assert_int_equal(cw_state(&w, job), JOB_STORED);
}

/* A dump that fails is no reason to kill what only an operator wanted away. */
static void test_operator_dump_fails(void **state)
{
	uint32_t job = run_for(GQ_SEC(60));

	(void)state;
	cw_evict(&w, job, EVICT_DEFAULT, 0);
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	cw_failed(&w, EV_STORE_FAILED, job, "criu: tty");
	assert_int_equal(cw_state(&w, job), JOB_RUNNING);
	assert_non_null(cw_fx(&w, FX_NOTICE_OFF, job));
	assert_int_equal(cw_eviction(&w, job)->how, HOW_CALLED_OFF);
	assert_string_equal(cw_look(&w, job)->error, "criu: tty");
	cw_exited(&w, job, 0, 0);
	assert_int_equal(cw_state(&w, job), JOB_COMPLETED);
}

/* Online first: an operator's leisurely eviction does not shelter a job from a busy service. */
static void test_operator_is_overtaken(void **state)
{
	uint32_t job;

	(void)state;
	cw_service(&w, "chat", 0, GIB(30));
	job = run_for(GQ_SEC(60));
	cw_evict(&w, job, EVICT_DEFAULT, GQ_NEVER);
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	assert_true(cw_look(&w, job)->store_at == w.now + GQ_SEC(30));
	cw_service_say(&w, "chat", SERVICE_BUSY);
	assert_int_equal(cw_state(&w, job), JOB_STORING);
	assert_int_equal(cw_eviction(&w, job)->cause, CAUSE_SERVICE);
	cw_stored(&w, job, GQ_SEC(1), 5);
	assert_int_equal(cw_state(&w, job), JOB_STORED_HELD); /* the operator's wish stands */
}

/* ...and when the service is idle again, the operator still wants it away. */
static void test_operator_stands(void **state)
{
	struct event ev = cw_job();
	uint32_t job;

	(void)state;
	ev.submit.checkpoint = CHECKPOINT_APP;
	cw_service(&w, "chat", 0, GIB(30));
	job = cw_run(&w, ev);
	cw_evict(&w, job, EVICT_DEFAULT, GQ_SEC(20));
	cw_service_say(&w, "chat", SERVICE_BUSY);
	assert_true(cw_look(&w, job)->store_at == w.now + GQ_SEC(2));
	w.now += GQ_SEC(1);
	cw_service_say(&w, "chat", SERVICE_IDLE);
	assert_int_equal(cw_state(&w, job), JOB_NOTICE);
	cw_exited(&w, job, 85, 0);
	assert_int_equal(cw_state(&w, job), JOB_HELD);
}

/* Pressed twice: the second claim gives no more time than the first had left. */
static void test_second_claim_is_no_respite(void **state)
{
	struct event ev = cw_job();
	gq_time t;
	uint32_t job;

	(void)state;
	ev.submit.checkpoint = CHECKPOINT_NONE;
	job = cw_run(&w, ev);
	cw_until(&w, w.now + GQ_SEC(60));
	t = w.now + GQ_SEC(100);
	cw_reserve(&w, 0, t, GQ_NEVER, 0);
	cw_until(&w, t - GQ_SEC(1));
	card_says(true, false, 9, GIB(1)); /* sudden grace would be 2 s */
	assert_int_equal(cw_look(&w, job)->cause, CAUSE_FOREIGN);
	assert_true(cw_look(&w, job)->store_at == t - GQ_MSEC(200));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_service_busy), CASE(test_service_idle_again), CASE(test_lease),
		CASE(test_lease_after_restart), CASE(test_service_deleted), CASE(test_card),
		CASE(test_squeeze), CASE(test_operator), CASE(test_operator_refused),
		CASE(test_operator_requeue), CASE(test_operator_requeue_restored),
		CASE(test_operator_dump_fails), CASE(test_operator_is_overtaken),
		CASE(test_operator_stands), CASE(test_second_claim_is_no_respite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
