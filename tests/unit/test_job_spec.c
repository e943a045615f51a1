/* SPDX-License-Identifier: MIT
 * test_job_spec.c - options by name, every limit of a specification, and the option table itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "job/job_spec.h"
#include "job/option.h"

#define NOW GQ_SEC(1796068800) /* 2026-11-30T20:00:00Z */

static int set(struct job_spec *s, const char *option, const char *value)
{
	return job_spec_set(s, option, value, NOW, NULL);
}

static void test_set(void **state)
{
	struct job_spec s;

	(void)state;
	job_spec_init(&s);
	assert_int_equal(set(&s, "job-name", "a"), 0);
	assert_int_equal(set(&s, "job-name", "train"), 0);
	assert_string_equal(s.name, "train");
	assert_int_equal(set(&s, "vram", "24G"), 0);
	assert_int_equal(s.vram_mib, 24576);
	assert_int_equal(set(&s, "time", "10"), 0);
	assert_true(s.time_limit == GQ_SEC(600));
	assert_int_equal(set(&s, "time", "0"), 0);
	assert_true(s.time_limit == GQ_NEVER);
	assert_int_equal(set(&s, "window-min", "15min"), 0);
	assert_true(s.time_min == GQ_SEC(900));
	assert_int_equal(set(&s, "grace", "90"), 0);
	assert_true(s.grace == GQ_SEC(90));
	assert_int_equal(set(&s, "begin", "now+1hour"), 0);
	assert_true(s.begin_at == NOW + GQ_SEC(3600));
	assert_int_equal(set(&s, "checkpoint", "app"), 0);
	assert_int_equal(s.checkpoint, JOB_CHECKPOINT_APP);
	assert_int_equal(set(&s, "checkpoint-exit-code", "86"), 0);
	assert_int_equal(s.checkpoint_exit_code, 86);
	assert_int_equal(set(&s, "qos", "low"), 0);
	assert_int_equal(s.level, -1);
	assert_int_equal(set(&s, "priority", "4294967295"), 0);
	assert_true(s.priority == UINT32_MAX);
	assert_int_equal(set(&s, "no-requeue", NULL), 0);
	assert_false(s.requeue);
	assert_int_equal(set(&s, "requeue", NULL), 0);
	assert_true(s.requeue);
	assert_int_equal(set(&s, "hold", NULL), 0);
	assert_true(s.hold);
	assert_int_equal(set(&s, "open-mode", "truncate"), 0);
	assert_true(s.truncate);
	assert_int_equal(set(&s, "nodes", "1"), 0);
	assert_int_equal(set(&s, "mem", "4G"), 0);
	job_spec_clear(&s);
	assert_null(s.name);
}

static void test_gpus(void **state)
{
	static const struct {
		const char *option, *value, *type;
		int gpus; /* 0 = refused */
	} rows[] = {{"gpus", "2", NULL, 2}, {"gpus", "a100:2", "a100", 2}, {"gres", "gpu", NULL, 1},
		{"gres", "gpu:4", NULL, 4}, {"gres", "gpu:h100", "h100", 1},
		{"gres", "gpu:h100:8", "h100", 8}, {"gres", "gres/gpu:1", NULL, 1},
		{"gpus-per-node", "16", NULL, 16}, {"gpus", "0", NULL, 0}, {"gpus", "17", NULL, 0},
		{"gpus", "-1", NULL, 0}, {"gpus", "", NULL, 0}, {"gpus", ":2", NULL, 0},
		{"gpus", "a:", NULL, 0}, {"gpus", "a:1,b:1", NULL, 0}, {"gres", "mps:10", NULL, 0},
		{"gres", "gpu:", NULL, 0}, {"gres", "gpux", NULL, 0}, {"gres", "gpu::2", NULL, 0},
		{"gres", "gpu:1,shard:2", NULL, 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_spec s;
		struct gq_err err = {0};
		int r;

		job_spec_init(&s);
		r = job_spec_set(&s, rows[i].option, rows[i].value, NOW, &err);
		assert_int_equal(r, rows[i].gpus ? 0 : -EINVAL);
		assert_int_equal(s.gpus, rows[i].gpus ? rows[i].gpus : 1);
		if (rows[i].type)
			assert_string_equal(s.gpu_type, rows[i].type);
		else
			assert_null(s.gpu_type);
		if (r < 0)
			assert_int_equal(strncmp(err.text, "--g", 3), 0);
		job_spec_clear(&s);
	}
}

static void test_signal(void **state)
{
	static const struct {
		const char *value;
		int sig, before;
	} rows[] = {{"USR1", SIGUSR1, 60}, {"SIGTERM@30", SIGTERM, 30}, {"B:USR2@2min", SIGUSR2, 120},
		{"R:10", SIGUSR1, 60}, {"RB:TERM@0", SIGTERM, 0}, {"X:TERM", 0, 0}, {"TERM@", 0, 0},
		{"@30", 0, 0}, {"", 0, 0}, {"NOPE", 0, 0}, {"0", 0, 0}, {"65", 0, 0}, {"TERM@x", 0, 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_spec s;

		job_spec_init(&s);
		assert_int_equal(set(&s, "signal", rows[i].value), rows[i].sig ? 0 : -EINVAL);
		assert_int_equal(s.signal, rows[i].sig);
		if (rows[i].sig)
			assert_true(s.signal_before == GQ_SEC(rows[i].before));
		job_spec_clear(&s);
	}
}

static void test_set_refuses(void **state)
{
	static const struct {
		const char *option, *value, *text;
	} rows[] = {{"vram", "90x", "--vram: '90x' is not a size; write 24G, 512M or a number of MiB"},
		{"qos", "urgent", "--qos: 'urgent' is not low, normal or high"},
		{"checkpoint", "yes", "--checkpoint: 'yes' is not auto, app or none"},
		{"open-mode", "w", "--open-mode: 'w' is not append or truncate"},
		{"job-name", "", "--job-name: is empty"}, {"vram", NULL, "--vram: needs a value"},
		{"priority", "-1", "--priority: '-1' is not a whole number from 0 to 4294967295"},
		{"nodes", "2", "--nodes: asked for 2, gq runs on one machine"},
		{"nodes", "1-4", "--nodes: asked for 4, gq runs on one machine"}};
	struct job_spec s;
	struct gq_err err;

	(void)state;
	job_spec_init(&s);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(job_spec_set(&s, rows[i].option, rows[i].value, NOW, &err), -EINVAL);
		assert_string_equal(err.text, rows[i].text);
	}
	assert_int_equal(job_spec_set(&s, "array", "0-3", NOW, &err), -ENOENT);
	assert_string_equal(err.text, "unknown option --array");
	assert_int_equal(set(&s, "wait", NULL), -ENOENT); /* of gqsub alone */
	job_spec_clear(&s);
}

static void fill(struct job_spec *s)
{
	job_spec_init(s);
	s->script = xstrdup("#!/bin/sh\ntrue\n");
	s->script_len = strlen(s->script);
	s->cwd = xstrdup("/tmp");
}

/* Each changes one thing of a good specification; the refusal names the field first. */
static void test_check(void **state)
{
	static char *no_name[] = {(char *)"=x", NULL}, *no_equals[] = {(char *)"x", NULL},
		    *latin[] = {(char *)"A=\xe9", NULL};
	struct job_spec s;
	struct gq_err err;

	(void)state;
#define REFUSED(change, field)                                                                     \
	do {                                                                                       \
		fill(&s);                                                                          \
		assert_int_equal(job_spec_check(&s, &err), 0);                                     \
		change;                                                                            \
		assert_int_equal(job_spec_check(&s, &err), -EINVAL);                               \
		assert_int_equal(strncmp(err.text, field, strlen(field)), 0);                      \
		assert_null(strchr(err.text, '\n'));                                               \
		s.env = s.argv = NULL;                                                             \
		job_spec_clear(&s);                                                                \
	} while (0)
	REFUSED(s.gpus = 0, "gpus: ");
	REFUSED(s.gpus = 17, "gpus: ");
	REFUSED(s.vram_mib = -1, "vram: ");
	REFUSED(s.signal = 65, "signal: ");
	REFUSED(s.signal_before = GQ_SEC(70000), "signal: ");
	REFUSED(s.checkpoint_exit_code = 0, "checkpoint_exit_code: ");
	REFUSED(s.priority = -2, "priority: ");
	REFUSED(s.level = 2, "qos: ");
	REFUSED(s.time_limit = GQ_MSEC(10), "time_limit: ");
	REFUSED(s.time_min = GQ_NEVER, "time_min: ");
	REFUSED((s.time_limit = GQ_SEC(60), s.time_min = GQ_SEC(61)), "time_min: ");
	REFUSED(s.grace = -1, "grace: ");
	REFUSED(s.cwd[0] = 'x', "cwd: ");
	REFUSED((free(s.cwd), s.cwd = NULL), "cwd: ");
	REFUSED(s.name = xstrdup("a\nb"), "name: ");
	REFUSED(s.name = xcalloc(1, 1), "name: ");
	REFUSED((s.name = xcalloc(1, 200), memset(s.name, 'x', 129)), "name: ");
	REFUSED(s.comment = xstrdup("\xff"), "comment: ");
	REFUSED(s.output = xstrdup("%z"), "output: ");
	REFUSED(s.error = xstrdup("100%"), "error: ");
	REFUSED(s.env = no_name, "env[0]: ");
	REFUSED(s.env = no_equals, "env[0]: ");
	REFUSED(s.env = latin, "env[0]: ");
	REFUSED(s.argv = latin, "args[0]: ");
	REFUSED((free(s.script), s.script = NULL), "script: ");
	REFUSED(s.script_len = 0, "script: ");
	REFUSED(s.script[0] = ' ', "script: ");
#undef REFUSED
}

static void test_script(void **state)
{
	static const struct {
		const char *text;
		size_t len; /* 0 = strlen */
		const char *says; /* NULL = fine */
	} rows[] = {{"#!/bin/sh\n", 0, NULL}, {"#! /usr/bin/env python3", 0, NULL},
		{"#!/bin/sh\n# caf\xc3\xa9\n", 0, NULL}, {"", 0, "is empty"},
		{"echo hi\n", 0, "begin with #!"}, {"#!sh\n", 0, "absolute path"}, {"#!", 0, "absolute"},
		{"#!/bin/sh\r\necho\r\n", 0, "line 1 ends in CR LF"},
		{"#!/bin/sh\n\necho\r\n", 0, "line 3 ends in CR LF"},
		{"\177ELF\0\0", 6, "is a binary"}, {"#!/bin/sh\n\0", 11, "is a binary (NUL byte at 10)"},
		{"#!/bin/sh\n# \xe9t\xe9\n", 0, "line 2 is not UTF-8 (byte 0xe9)"}};
	_cleanup_free_ char *long_line = xcalloc(1, 2 << 20), *huge = xcalloc(1, JOB_SCRIPT_MAX + 2);
	struct gq_err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t len = rows[i].len ? rows[i].len : strlen(rows[i].text);
		int r = job_script_check(rows[i].text, len, &err);

		assert_int_equal(r, rows[i].says ? -EINVAL : 0);
		if (rows[i].says)
			assert_non_null(strstr(err.text, rows[i].says));
	}
	memset(long_line, 'x', 1 << 20);
	memcpy(long_line, "#!/", 3);
	assert_int_equal(job_script_check(long_line, 1 << 20, &err), -EINVAL);
	assert_non_null(strstr(err.text, "line 1: #! line of 1048576 bytes"));
	memcpy(long_line, "#!/bin/sh\n", 10);
	assert_int_equal(job_script_check(long_line, 1 << 20, &err), 0);
	assert_int_equal(job_script_check(huge, JOB_SCRIPT_MAX + 1, &err), -EINVAL);
	assert_non_null(strstr(err.text, "larger than 4 MiB"));
}

/* No letter and no name stands for two options; every shown option has a help that fits. */
static void test_table(void **state)
{
	(void)state;
	for (int i = 0; i < JOB_OPTION_N; i++) {
		for (int k = i + 1; k < JOB_OPTION_N; k++) {
			assert_string_not_equal(job_options[i].long_name, job_options[k].long_name);
			assert_false(job_options[i].short_name &&
				job_options[i].short_name == job_options[k].short_name);
		}
		assert_true(!job_options[i].help || strlen(job_options[i].help) < 66);
	}
	assert_int_equal(job_option_group(OPTION_GRES), OPTION_GPUS);
	assert_int_equal(job_option_group(OPTION_NO_REQUEUE), OPTION_REQUEUE);
}

static void test_usage(void **state)
{
	static const struct usage_option options[] = {{"json", 'j', NULL, "print JSON", NULL},
		{"jobs", 0, "[N]", "how many", NULL}, {"user", 'u', "USER", "whose", NULL}};
	char *argv[] = {(char *)"x", (char *)"--js", (char *)"w1", (char *)"-ju", (char *)"me",
		(char *)"--user=you", (char *)"--jobs", (char *)"--jobs=3", (char *)"-uus", (char *)"--us",
		(char *)"them", (char *)"-", (char *)"--", (char *)"--json", NULL};
	static const struct {
		int option;
		const char *value;
	} want[] = {{0, NULL}, {USAGE_WORD, "w1"}, {0, NULL}, {2, "me"}, {2, "you"}, {1, NULL}, {1, "3"},
		{2, "us"}, {2, "them"}, {USAGE_WORD, "-"}, {USAGE_WORD, "--json"}, {USAGE_END, NULL}};
	struct usage_scan scan = USAGE_SCAN(14, argv);
	static const char *const bad[] = {"--nope", "--jo=", "--j", "-x", "--json=1", "--user", "-u"};
	struct gq_err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const char *value = NULL;

		assert_int_equal(usage_next(&scan, options, 3, &value, NULL), want[i].option);
		if (want[i].value)
			assert_string_equal(value, want[i].value);
		else
			assert_null(value);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char *one[] = {(char *)"x", (char *)(uintptr_t)bad[i], NULL};
		struct usage_scan again = USAGE_SCAN(2, one);
		const char *value = NULL;
		int r = usage_next(&again, options, 3, &value, &err);

		assert_int_equal(r, i == 1 ? 1 : -EINVAL); /* --jo= is --jobs with an empty value */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_set), cmocka_unit_test(test_gpus),
		cmocka_unit_test(test_signal), cmocka_unit_test(test_set_refuses),
		cmocka_unit_test(test_check), cmocka_unit_test(test_script),
		cmocka_unit_test(test_table), cmocka_unit_test(test_usage)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
