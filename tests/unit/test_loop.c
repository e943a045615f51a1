/* SPDX-License-Identifier: MIT
 * test_loop.c - turns, timers on both clocks, watches that remove themselves */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "gqd/loop.h"

struct fixture {
	struct loop *loop;
	struct loop_timer *timer;
	struct loop_watch *watch[2];
	int pipe[2][2];
	gq_time deadline, fired;
	int reads, turns, reads_at_turn, signals;
};

static void on_timer(void *ctx)
{
	struct fixture *f = ctx;

	f->fired = gq_now();
	loop_quit(f->loop);
}

static void test_timer(void **state)
{
	struct fixture f = {0};

	(void)state;
	assert_int_equal(loop_new(&f.loop, NULL), 0);
	f.timer = loop_timer_new(f.loop, LOOP_WALL, on_timer, &f);
	f.deadline = gq_now() + GQ_MSEC(20);
	loop_timer_at(f.timer, f.deadline);
	assert_int_equal(loop_run(f.loop, NULL), 0);
	assert_true(f.fired >= f.deadline);

	f.fired = 0; /* a second shot, in the past, fires at once; monotonic too */
	loop_timer_at(f.timer, 5);
	assert_int_equal(loop_run(f.loop, NULL), 0);
	assert_true(f.fired > 0);
	loop_timer_free(f.timer);
	f.timer = loop_timer_new(f.loop, LOOP_MONOTONIC, on_timer, &f);
	loop_timer_at(f.timer, gq_monotonic() + GQ_MSEC(1));
	assert_int_equal(loop_run(f.loop, NULL), 0);
	loop_free(f.loop);
}

static void on_pipe(void *ctx)
{
	struct fixture *f = ctx;

	f->reads++;
	for (int i = 0; i < 2; i++) {
		if (f->watch[i])
			f->watch[i] = loop_unwatch(f->watch[i]);
	}
}

static void on_turn(void *ctx)
{
	struct fixture *f = ctx;

	f->turns++;
	f->reads_at_turn = f->reads;
	loop_quit(f->loop);
}

static void test_unwatch_inside(void **state)
{
	struct fixture f = {0};

	(void)state;
	assert_int_equal(loop_new(&f.loop, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(f.pipe[i]), 0);
		assert_int_equal(write(f.pipe[i][1], "x", 1), 1);
		f.watch[i] = loop_watch_fd(f.loop, f.pipe[i][0], on_pipe, &f);
	}
	loop_after_turn(f.loop, on_turn, &f);
	assert_int_equal(loop_run(f.loop, NULL), 0);
	assert_int_equal(f.reads, 1); /* the first one removed both */
	assert_int_equal(f.turns, 1);
	loop_free(f.loop);
	for (int i = 0; i < 4; i++)
		close(f.pipe[i / 2][i % 2]);
}

static void on_read(void *ctx)
{
	struct fixture *f = ctx;

	f->reads++;
}

static void test_turn_sees_all(void **state)
{
	struct fixture f = {0};

	(void)state;
	assert_int_equal(loop_new(&f.loop, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(f.pipe[i]), 0);
		assert_int_equal(write(f.pipe[i][1], "x", 1), 1);
		loop_watch_fd(f.loop, f.pipe[i][0], on_read, &f);
	}
	loop_after_turn(f.loop, on_turn, &f);
	assert_int_equal(loop_run(f.loop, NULL), 0);
	assert_int_equal(f.reads_at_turn, 2); /* both were ready: one turn */
	loop_free(f.loop);
	for (int i = 0; i < 4; i++)
		close(f.pipe[i / 2][i % 2]);
}

static void on_signal(void *ctx)
{
	struct fixture *f = ctx;

	f->signals++;
	loop_quit(f->loop);
}

static void test_signal(void **state)
{
	struct fixture f = {0};

	(void)state;
	assert_int_equal(loop_new(&f.loop, NULL), 0);
	loop_signal(f.loop, SIGUSR1, on_signal, &f);
	raise(SIGUSR1);
	assert_int_equal(loop_run(f.loop, NULL), 0);
	assert_int_equal(f.signals, 1);
	loop_free(f.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timer),
		cmocka_unit_test(test_unwatch_inside),
		cmocka_unit_test(test_turn_sees_all),
		cmocka_unit_test(test_signal),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
