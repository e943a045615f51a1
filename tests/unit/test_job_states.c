/* SPDX-License-Identifier: MIT
 * test_job_states.c - the table of states and moves, walked pair by pair; names, codes, reachability */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/core.h"

/* job_state.def once more, as a list instead of a matrix. */
static const struct {
	enum job_state from;
	enum job_move move;
	enum job_state to;
} listed[] = {
#define JOB_MOVE(from, move, to) {JOB_##from, MOVE_##move, JOB_##to},
#include "core/job_state.def"
#undef JOB_MOVE
};

/* Slurm's codes and names, written out by hand: scripts of other people match them. */
static const struct {
	enum job_state state;
	const char *code, *name;
	bool cards, ended;
} words[] = {
	{JOB_PENDING, "PD", "PENDING", false, false},
	{JOB_HELD, "PD", "PENDING", false, false},
	{JOB_STARTING, "CF", "CONFIGURING", true, false},
	{JOB_RUNNING, "R", "RUNNING", true, false},
	{JOB_NOTICE, "R", "RUNNING", true, false},
	{JOB_STORING, "CK", "SNAPSHOT", true, false},
	{JOB_STORED, "S", "SUSPENDED", false, false},
	{JOB_STORED_HELD, "S", "SUSPENDED", false, false},
	{JOB_RESTORING, "RE", "RESTORING", true, false},
	{JOB_ENDING, "CG", "COMPLETING", true, false},
	{JOB_COMPLETED, "CD", "COMPLETED", false, true},
	{JOB_FAILED, "F", "FAILED", false, true},
	{JOB_CANCELLED, "CA", "CANCELLED", false, true},
	{JOB_TIMEOUT, "TO", "TIMEOUT", false, true},
	{JOB_PREEMPTED, "PR", "PREEMPTED", false, true},
};

static enum job_state listed_target(enum job_state from, enum job_move move)
{
	for (size_t i = 0; i < ARRAY_LEN(listed); i++)
		if (listed[i].from == from && listed[i].move == move)
			return listed[i].to;
	return JOB_STATE_N;
}

static void test_every_pair(void **state)
{
	size_t allowed = 0;

	(void)state;
	for (int from = 0; from < JOB_STATE_N; from++) {
		for (int move = 0; move < MOVE_N; move++) {
			enum job_state to = job_move_target(from, move);

			assert_int_equal(to, listed_target(from, move));
			allowed += to != JOB_STATE_N;
		}
	}
	assert_int_equal(allowed, ARRAY_LEN(listed)); /* no pair stands there twice */
	assert_int_equal(job_move_target(JOB_STATE_N, MOVE_END), JOB_STATE_N);
	assert_int_equal(job_move_target(JOB_RUNNING, MOVE_N), JOB_STATE_N);
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_LEN(words), JOB_STATE_N);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		enum job_state s = words[i].state;

		assert_int_equal(s, i);
		assert_string_equal(job_state_code(s), words[i].code);
		assert_string_equal(job_state_name(s), words[i].name);
		assert_true(strlen(job_state_help(s)) > 5);
		assert_int_equal(job_state_has_cards(s), words[i].cards);
		assert_int_equal(job_state_is_ended(s), words[i].ended);
	}
	assert_string_equal(job_state_code(JOB_STATE_N), "?");
	assert_string_equal(job_state_name(99), "?");
	assert_false(job_state_is_ended(JOB_STATE_N));
}

/* An ended job stays ended; any other can still end, whatever it is in. */
static void test_ends(void **state)
{
	bool ends[JOB_STATE_N] = {false}, grew = true;

	(void)state;
	for (int s = 0; s < JOB_STATE_N; s++)
		ends[s] = job_state_is_ended(s);
	for (size_t i = 0; i < ARRAY_LEN(listed); i++)
		assert_false(job_state_is_ended(listed[i].from));
	while (grew) {
		grew = false;
		for (size_t i = 0; i < ARRAY_LEN(listed); i++) {
			grew |= ends[listed[i].to] && !ends[listed[i].from];
			ends[listed[i].from] |= ends[listed[i].to];
		}
	}
	for (int s = 0; s < JOB_STATE_N; s++)
		assert_true(ends[s]);
}

/* Every state can be reached from a new job. */
static void test_reachable(void **state)
{
	bool seen[JOB_STATE_N] = {[JOB_PENDING] = true}, grew = true;

	(void)state;
	while (grew) {
		grew = false;
		for (size_t i = 0; i < ARRAY_LEN(listed); i++) {
			grew |= seen[listed[i].from] && !seen[listed[i].to];
			seen[listed[i].to] |= seen[listed[i].from];
		}
	}
	for (int s = 0; s < JOB_STATE_N; s++)
		assert_true(seen[s]);
}

/* A state with cards is entered from a waiting one by ADMIT alone, and every such state has an
 * answer to what exec can report at any time: that the job exited, and that it vanished. */
static void test_cards(void **state)
{
	static const enum job_move exits[] = {MOVE_EXIT_OK, MOVE_EXIT_BAD, MOVE_EXIT_SAVED};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(listed); i++)
		if (!job_state_has_cards(listed[i].from) && job_state_has_cards(listed[i].to))
			assert_int_equal(listed[i].move, MOVE_ADMIT);
	for (int s = 0; s < JOB_STATE_N; s++) {
		if (!job_state_has_cards(s))
			continue;
		for (size_t i = 0; i < ARRAY_LEN(exits); i++)
			assert_int_not_equal(job_move_target(s, exits[i]), JOB_STATE_N);
		if (s != JOB_RESTORING) /* vanished: a restore that failed */
			assert_int_not_equal(job_move_target(s, MOVE_LOST), JOB_STATE_N);
		if (s != JOB_ENDING)
			assert_int_equal(job_move_target(s, MOVE_END), JOB_ENDING);
	}
	/* the exit of a job that leaves can be any of the eviction's ends */
	for (int m = MOVE_EXIT_OK; m <= MOVE_EXIT_RESTORE; m++)
		assert_int_not_equal(job_move_target(JOB_ENDING, m), JOB_STATE_N);
}

static void test_other_names(void **state)
{
	(void)state;
	for (int i = 0; i < REASON_N; i++) {
		assert_true(strlen(reason_name(i)) > 3);
		assert_true(strlen(reason_help(i)) > 10);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(reason_name(i), reason_name(k));
	}
	assert_string_equal(reason_name(REASON_HELD_USER), "JobHeldUser");
	assert_string_equal(reason_name(REASON_WINDOW), "WindowTooShort");
	assert_string_equal(cause_name(CAUSE_RESERVATION), "reservation");
	assert_string_equal(how_name(HOW_CALLED_OFF), "called-off");
	for (int i = 0; i < CAUSE_N; i++)
		assert_string_not_equal(cause_name(i), "?");
	for (int i = 0; i < HOW_N; i++)
		assert_string_not_equal(how_name(i), "?");
	for (int i = 0; i < CARD_STATE_N; i++)
		assert_string_not_equal(card_state_name(i), "?");
	for (int i = 0; i < RESERVATION_STATE_N; i++)
		assert_string_not_equal(reservation_state_name(i), "?");
	for (int i = 0; i < AUDIT_N; i++)
		assert_string_not_equal(audit_kind_name(i), "?");
	assert_string_equal(cause_name(CAUSE_N), "?");
	assert_string_equal(how_name(HOW_N), "?");
	assert_string_equal(reason_name(REASON_N), "?");
	assert_string_equal(card_state_name(CARD_STATE_N), "?");
	assert_string_equal(service_state_name(SERVICE_STATE_N), "?");
	assert_string_equal(repeat_name(REPEAT_N), "?");
	assert_string_equal(checkpoint_mode_name(CHECKPOINT_N), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_pair), cmocka_unit_test(test_words),
		cmocka_unit_test(test_ends), cmocka_unit_test(test_reachable),
		cmocka_unit_test(test_cards), cmocka_unit_test(test_other_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
