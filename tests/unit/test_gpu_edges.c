/* SPDX-License-Identifier: MIT
 * test_gpu_edges.c - what becomes an edge, and what must be seen twice first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/cleanup.h"
#include "gpu/edge.h"

static const struct gpu_conf conf = {.busy_percent = 10, .hits = 2};

static struct gpu_sample idle(void)
{
	struct gpu_sample s = {.present = true, .uuid = "GPU-1", .mem_total_mib = 81920,
		.mem_free_mib = 81920, .temperature_c = 30};

	return s;
}

static void add(struct gpu_sample *s, int pid, int64_t mib, int util, bool ours)
{
	struct gpu_record r = {.type = GPU_PROC};

	r.proc.pid = pid;
	r.proc.mib = mib;
	r.proc.util = util;
	memcpy(r.proc.name, "p", 2);
	gpu_sample_proc(s, &r, ours);
}

static void test_busy(void **state)
{
	/* utilisation of each sample, and whether the card counts as busy after it */
	static const struct {
		int util;
		bool edge, busy;
	} rows[] = {{0, true, false}, {50, false, false}, {0, false, false}, {50, false, false},
		{50, true, true}, {9, false, true}, {10, false, true}, {0, false, true}, {0, true, false},
		{100, false, false}, {100, true, true}};
	struct gpu_edge e = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct gpu_sample s = idle();

		s.util_percent = rows[i].util;
		assert_int_equal(gpu_edge_step(&conf, &e, &s), rows[i].edge);
		assert_int_equal(e.card.busy, rows[i].busy);
		assert_int_equal(e.card.util_percent, rows[i].util);
	}
}

static void test_load(void **state)
{
	struct gpu_sample s = idle();

	(void)state;
	s.util_percent = 95;
	assert_int_equal(gpu_sample_load(&s), 95); /* nobody to be seen: somebody's */
	add(&s, 100, 1000, 95, true);
	assert_int_equal(gpu_sample_load(&s), 0); /* our job alone */
	add(&s, 200, 1000, 7, false);
	assert_int_equal(gpu_sample_load(&s), 7);
	add(&s, 300, 1000, GPU_UTIL_UNKNOWN, false);
	assert_int_equal(gpu_sample_load(&s), 95); /* cannot be told apart */
	s.util_percent = GPU_UTIL_UNKNOWN;
	assert_int_equal(gpu_sample_load(&s), 0);
}

static void test_foreign(void **state)
{
	struct gpu_edge e = {0};
	struct gpu_sample s = idle();

	(void)state;
	assert_true(gpu_edge_step(&conf, &e, &s));
	assert_int_equal(e.card.foreign_pid, 0);
	add(&s, 100, 500, 0, true);
	assert_false(gpu_edge_step(&conf, &e, &s)); /* ours */
	add(&s, 200, 1000, 0, false);
	add(&s, 300, 4000, 0, false);
	assert_true(gpu_edge_step(&conf, &e, &s)); /* at once */
	assert_int_equal(e.card.foreign_pid, 300);
	assert_int_equal(e.card.foreign_mib, 5000);
	assert_int_equal(e.card.n_processes, 3);
	s.foreign_mib += 1000; /* a cache breathes */
	assert_false(gpu_edge_step(&conf, &e, &s));
	s.foreign_mib += 1000; /* against what was told, not against the last sample */
	assert_true(gpu_edge_step(&conf, &e, &s));
	assert_int_equal(e.card.foreign_mib, 7000);
	s = idle();
	assert_true(gpu_edge_step(&conf, &e, &s));
	assert_int_equal(e.card.foreign_pid, 0);
	assert_int_equal(e.card.foreign_mib, 0);
	assert_false(gpu_edge_step(&conf, &e, &s));
}

static void test_foreign_min(void **state)
{
	struct gpu_conf c = conf;
	struct gpu_edge e = {0};
	struct gpu_sample s = idle();

	(void)state;
	c.foreign_min_mib = 4000;
	gpu_edge_step(&c, &e, &s);
	add(&s, 200, 3999, 0, false);
	assert_false(gpu_edge_step(&c, &e, &s));
	assert_false(gpu_edge_step(&c, &e, &s));
	add(&s, 300, 1, 0, false);
	assert_true(gpu_edge_step(&c, &e, &s));
	assert_int_equal(e.card.foreign_pid, 200);
}

static void test_xid(void **state)
{
	struct gpu_edge e = {0};
	struct gpu_sample s = idle(), gone = {0};

	(void)state;
	gpu_edge_step(&conf, &e, &s);
	assert_false(gpu_edge_xid(&e, 31)); /* a program's mistake */
	assert_false(gpu_edge_xid(&e, 9999));
	assert_int_equal(e.card.xid, 9999);
	assert_false(e.card.fault);
	assert_true(gpu_edge_xid(&e, 48));
	assert_true(e.card.fault);
	assert_false(gpu_edge_xid(&e, 79)); /* is faulty already */
	assert_false(gpu_edge_step(&conf, &e, &s));
	assert_true(e.card.fault); /* does not heal by itself */
	assert_true(gpu_edge_lost(&e)); /* nor because we did not look */
	assert_true(gpu_edge_step(&conf, &e, &s));
	assert_true(e.card.fault);
	assert_true(gpu_edge_step(&conf, &e, &gone));
	assert_false(e.card.present);
	assert_int_equal(e.card.mem_total_mib, 81920);
	assert_true(gpu_edge_step(&conf, &e, &s)); /* but by a reset */
	assert_false(e.card.fault);
	assert_int_equal(e.card.xid, 0);
}

static void test_xid_table(void **state)
{
	static const int hardware[] = {48, 63, 64, 74, 79, 92, 94, 95}, others[] = {13, 31, 43, 45, 1};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hardware); i++)
		assert_true(xid_is_hardware(hardware[i]));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_false(xid_is_hardware(others[i]));
	assert_int_equal(xid_class(79), XID_BUS);
	assert_int_equal(xid_class(31), XID_APP);
	assert_string_equal(xid_text(79), "the card has fallen off the bus");
}

static void test_lost(void **state)
{
	struct gpu_edge e = {0};
	struct gpu_sample s = idle();

	(void)state;
	assert_false(gpu_edge_lost(&e)); /* nobody knew of it */
	gpu_edge_step(&conf, &e, &s);
	assert_true(gpu_edge_lost(&e));
	assert_false(gpu_edge_lost(&e));
	assert_true(gpu_edge_step(&conf, &e, &s));
	assert_true(e.card.present);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_busy), cmocka_unit_test(test_load),
		cmocka_unit_test(test_foreign), cmocka_unit_test(test_foreign_min),
		cmocka_unit_test(test_xid), cmocka_unit_test(test_xid_table),
		cmocka_unit_test(test_lost)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
