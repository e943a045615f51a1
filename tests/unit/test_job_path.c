/* SPDX-License-Identifier: MIT
 * test_job_path.c - output patterns */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "job/job_spec.h"

static int expand(const char *pattern, const char *cwd, char **ret, struct gq_err *err)
{
	return job_path_expand(pattern, cwd, 42, 3, "ann", "a/b", "box", ret, err);
}

static void test_patterns(void **state)
{
	static const struct {
		const char *pattern, *path;
	} rows[] = {{NULL, "/w/gq-42.out"}, {"%j", "/w/42"}, {"%J.%A.%a", "/w/42.42.0"},
		{"/abs/%4j", "/abs/0042"}, {"%u/%x-%N", "/w/ann/a_b-box"}, {"%%j", "/w/%j"},
		{"r%r", "/w/r2"}, {"%03a", "/w/000"}, {"%10j", "/w/0000000042"}, {"plain", "/w/plain"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *path = NULL;

		assert_int_equal(expand(rows[i].pattern, "/w", &path, NULL), 0);
		assert_string_equal(path, rows[i].path);
	}
}

static void test_root(void **state)
{
	_cleanup_free_ char *path = NULL;

	(void)state;
	assert_int_equal(expand("x", "/", &path, NULL), 0);
	assert_string_equal(path, "/x");
}

static void test_refused(void **state)
{
	static const char *const bad[] = {"%z", "%", "a%4", "%11j", "%999999999999999999j", "%s"};
	_cleanup_free_ char *path = NULL, *longest = xcalloc(1, 5000);
	struct gq_err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(expand(bad[i], "/w", &path, &err), -EINVAL);
	memset(longest, 'x', 4999);
	assert_int_equal(expand(longest, "/w", &path, &err), -EINVAL);
	assert_null(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns), cmocka_unit_test(test_root),
		cmocka_unit_test(test_refused)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
