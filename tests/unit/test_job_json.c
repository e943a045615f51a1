/* SPDX-License-Identifier: MIT
 * test_job_json.c - the body of POST /v1/jobs: there and back, and every kind of bad input */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "job/field.h"

#define NOW GQ_SEC(1796068800)

static int decode(const char *json, size_t len, struct job_spec *ret, struct gq_err *err)
{
	return job_spec_from_json(json, len, NOW, ret, err);
}

/* json → spec → json gives what went in, when it was written in the table's order. */
static void assert_same(const char *json)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct job_spec s;
	struct gq_err err = {0};

	if (decode(json, strlen(json), &s, &err) < 0)
		fail_msg("%s", err.text);
	job_spec_to_json(&s, &out);
	assert_string_equal(buf_c(&out), json);
	job_spec_clear(&s);
}

static void test_round_trip(void **state)
{
	(void)state;
	assert_same("{}");
	assert_same("{\"name\":\"a \\\"b\\\" \\\\ \\n \\u0001 \xe2\x82\xac\",\"gpus\":2,\"gpu_type\":\"a100\"}");
	assert_same("{\"account\":\"ml\",\"comment\":\"c\",\"vram\":24576,\"cwd\":\"/w\",\"input\":\"i\","
		    "\"output\":\"o\",\"error\":\"e\",\"open_mode\":\"truncate\","
		    "\"script\":\"#!/bin/sh\\n\",\"args\":[\"a\",\"\"],\"env\":[\"A=1\",\"B=x=y\"],"
		    "\"time_limit\":3600,\"time_min\":90.500,\"grace\":0.250,\"begin\":1796072400.001,"
		    "\"signal\":\"USR1\",\"signal_before\":30,\"checkpoint\":\"none\","
		    "\"checkpoint_exit_code\":86,\"priority\":4294967295,\"qos\":\"low\","
		    "\"requeue\":false,\"hold\":true,\"umask\":\"077\"}");
	assert_same("{\"signal\":40}");
	assert_same("{\"time_min\":3153600000}");
}

static void test_rlimits(void **state)
{
	static const char json[] = "{\"rlimits\":{\"NOFILE\":[1024,null],\"CORE\":[0,0]}}";
	struct job_spec s, again;
	_cleanup_buf_ struct buf out = BUF_INIT;

	(void)state;
	assert_int_equal(decode(json, strlen(json), &s, NULL), 0);
	assert_true(s.has_rlimits);
	assert_true(s.rlimits[RLIMIT_NOFILE].rlim_cur == 1024);
	assert_true(s.rlimits[RLIMIT_NOFILE].rlim_max == RLIM_INFINITY);
	assert_true(s.rlimits[RLIMIT_CORE].rlim_max == 0);
	assert_true(s.rlimits[RLIMIT_AS].rlim_cur == RLIM_INFINITY);
	job_spec_to_json(&s, &out);
	assert_int_equal(decode(buf_c(&out), out.len, &again, NULL), 0);
	assert_memory_equal(s.rlimits, again.rlimits, sizeof(s.rlimits));
	job_spec_clear(&s);
	job_spec_clear(&again);
}

static void test_forms(void **state)
{
	static const char json[] = "{\"vram\":\"24G\",\"time_limit\":\"2h\",\"time_min\":\"90\",\"grace\":null,"
				   "\"begin\":\"now+60\",\"signal\":10,\"args\":[]}";
	struct job_spec s;

	(void)state;
	assert_int_equal(decode(json, strlen(json), &s, NULL), 0);
	assert_int_equal(s.vram_mib, 24576);
	assert_true(s.time_limit == GQ_SEC(7200));
	assert_true(s.time_min == GQ_SEC(90)); /* seconds here, minutes in gqsub's --time-min */
	assert_true(s.grace == GQ_NEVER);
	assert_true(s.begin_at == NOW + GQ_SEC(60));
	assert_int_equal(s.signal, 10);
	assert_true(s.signal_before == GQ_SEC(60));
	assert_null(s.argv);
	job_spec_clear(&s);
}

static void test_refused(void **state)
{
	static const struct {
		const char *json, *text; /* text: how the line begins */
	} rows[] = {
		{"", "JSON, line 1"}, {"{", "JSON, line 1"}, {"{\"name\":\"x", "JSON, line 1"},
		{"{\"name\":\"x\"}}", "JSON, line 1"}, {"{\"gpus\":1,}", "JSON, line 1"},
		{"{\"gpus\":1,\"gpus\":2}", "JSON, line 1, column 16: duplicate object key"},
		{"{\"gpus\":99999999999999999999}", "JSON, line 1"}, {"{\"gpus\":NaN}", "JSON, line 1"},
		{"{\"vram\":1e999}", "JSON, line 1"},
		{"{\"name\":\"\xff\"}", "JSON, line 1"}, {"{\"name\":\"\xc0\x80\"}", "JSON, line 1"},
		{"{\"name\":\"\\ud800\"}", "JSON, line 1"},
		{"[]", "a job is a JSON object"},
		{"{\"frob\":1}", "unknown field 'frob'"}, {"{\"Name\":\"x\"}", "unknown field 'Name'"},
		{"{\"name\":\"a\\u0000b\"}", "name: has a NUL character"},
		{"{\"args\":[\"a\",\"\\u0000\"]}", "args: entry 1: has a NUL character"},
		{"{\"name\":5}", "name: is a number, expected text"}, {"{\"name\":\"\"}", "name: is empty"},
		{"{\"name\":[\"x\"]}", "name: is an array, expected text"},
		{"{\"gpus\":\"x\"}", "gpus: 'x' is not a whole number from 1 to 16"},
		{"{\"gpus\":1.5}", "gpus: 1.5 is not a whole number from 1 to 16"},
		{"{\"gpus\":17}", "gpus: 17 is not a whole number from 1 to 16"},
		{"{\"gpus\":true}", "gpus: is true, expected a number of cards"},
		{"{\"vram\":-1}", "vram: -1 is not"}, {"{\"vram\":\"x\"}", "vram: 'x' is not a size"},
		{"{\"vram\":{}}", "vram: is an object, expected a size"},
		{"{\"time_limit\":-5}", "time_limit: -5 is not a number of seconds"},
		{"{\"time_limit\":\"x\"}", "time_limit: 'x' is not a duration"},
		{"{\"begin\":1e300}", "begin: 1e+300 is not"},
		{"{\"signal\":0}", "signal: 0 is not"}, {"{\"signal\":\"NOPE\"}", "signal: "},
		{"{\"requeue\":1}", "requeue: is a number, expected true or false"},
		{"{\"requeue\":\"yes\"}", "requeue: is a text, expected true or false"},
		{"{\"checkpoint\":\"x\"}", "checkpoint: 'x' is not auto, app or none"},
		{"{\"qos\":1}", "qos: is a number, expected low, normal or high"},
		{"{\"script\":[]}", "script: is an array, expected text"},
		{"{\"args\":\"x\"}", "args: is a text, expected an array"},
		{"{\"args\":[1]}", "args: entry 0 is not a text"},
		{"{\"env\":{\"A\":\"1\"}}", "env: is an object, expected an array"},
		{"{\"umask\":18}", "umask: is a number"}, {"{\"umask\":\"9\"}", "umask: '9' is not"},
		{"{\"rlimits\":[]}", "rlimits: is an array"},
		{"{\"rlimits\":{\"FOO\":[1,2]}}", "rlimits: 'FOO' is not a limit"},
		{"{\"rlimits\":{\"AS\":1}}", "rlimits: AS is not [soft, hard]"},
		{"{\"rlimits\":{\"AS\":[2,1]}}", "rlimits: AS is not [soft, hard]"},
		{"{\"rlimits\":{\"AS\":[-1,1]}}", "rlimits: AS is not [soft, hard]"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_spec s = {.gpus = -7};
		struct gq_err err = {0};

		assert_int_equal(decode(rows[i].json, strlen(rows[i].json), &s, &err), -EINVAL);
		if (strncmp(err.text, rows[i].text, strlen(rows[i].text)))
			fail_msg("%s: '%s' does not begin with '%s'", rows[i].json, err.text,
				rows[i].text);
		assert_null(strchr(err.text, '\n'));
		assert_int_equal(s.gpus, -7); /* nothing is touched */
	}
	assert_int_equal(decode("{\"name\":\"\0\"}", 12, &(struct job_spec){0}, NULL), -EINVAL);
}

static void test_deep_and_huge(void **state)
{
	_cleanup_free_ char *deep = xcalloc(1, 1 << 20);
	_cleanup_buf_ struct buf huge = BUF_INIT;
	struct gq_err err;
	struct job_spec s;

	(void)state;
	memset(deep, '[', (1 << 20) - 1);
	assert_int_equal(decode(deep, (1 << 20) - 1, &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "depth"));
	buf_str(&huge, "{\"cwd\":\"/\",\"script\":\"#!/bin/sh\\n");
	for (size_t i = 0; i < JOB_SCRIPT_MAX / 16; i++)
		buf_str(&huge, "0123456789abcdef");
	buf_str(&huge, "\"}");
	assert_int_equal(decode(buf_c(&huge), huge.len, &s, &err), 0);
	assert_int_equal(job_spec_check(&s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "script: is larger than 4 MiB"));
	job_spec_clear(&s);
}

/* Cut off anywhere and with any byte changed it is refused or understood, never more. */
static void test_damage(void **state)
{
	static const char json[] = "{\"name\":\"n\",\"env\":[\"A=1\"],\"rlimits\":{\"AS\":[1,2]},\"gpus\":2}";

	(void)state;
	for (size_t i = 0; i < sizeof(json); i++) {
		struct job_spec s;

		if (i + 1 < sizeof(json))
			assert_int_equal(decode(json, i, &s, NULL), -EINVAL);
		for (int c = 0; c < 256; c++) {
			char copy[sizeof(json)];

			memcpy(copy, json, sizeof(json));
			copy[i % (sizeof(json) - 1)] = (char)c;
			if (decode(copy, sizeof(json) - 1, &s, NULL) == 0)
				job_spec_clear(&s);
		}
	}
}

/* A figure for the log, never a failure: gqd decodes on its one thread. */
static void test_speed(void **state)
{
	enum { N = 2000 };
	_cleanup_buf_ struct buf json = BUF_INIT;
	gq_time start;

	(void)state;
	buf_str(&json, "{\"name\":\"n\",\"cwd\":\"/home/ann/work\",\"vram\":24576,\"script\":\"#!/bin/sh\\n");
	for (int i = 0; i < 20; i++)
		buf_str(&json, "echo a line of the script \\\"quoted\\\"\\n");
	buf_str(&json, "\",\"env\":[\"A=1\"");
	for (int i = 0; i < 50; i++)
		buf_fmt(&json, ",\"VARIABLE_%d=some value of a usual length, as in PATH\"", i);
	buf_str(&json, "]}");
	start = gq_monotonic();
	for (int i = 0; i < N; i++) {
		struct job_spec s;

		assert_int_equal(decode(buf_c(&json), json.len, &s, NULL), 0);
		assert_int_equal(job_spec_check(&s, &(struct gq_err){0}), 0);
		job_spec_clear(&s);
	}
	print_message("# %zu bytes: %.0f specifications/s decoded and checked\n", json.len,
		(double)N * 1e9 / (double)(gq_monotonic() - start));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_rlimits), cmocka_unit_test(test_forms),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_deep_and_huge),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_speed)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
