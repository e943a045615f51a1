/* SPDX-License-Identifier: MIT
 * test_kv.c - key=value lists, and launch descriptions made of them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/kv.h"
#include "gqd/shim/launch.h"

static void test_list(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	size_t pos = 0, n;
	const char *k, *v;
	int seen = 0;

	(void)state;
	buf_add(&b, "head=1", 7);
	kv_add(&b, "env", "A=b\nc");
	kv_add(&b, "env", "");
	kv_add(&b, "none", NULL);
	kv_add_int(&b, "n", -5);
	assert_true(kv_check(b.data, b.len, "head=1"));
	assert_false(kv_check(b.data, b.len, "head=2"));
	assert_false(kv_check(b.data, b.len - 1, "head=1"));
	assert_false(kv_check("", 0, "head=1"));
	assert_string_equal(kv_get(b.data, b.len, "env"), "A=b\nc");
	assert_null(kv_get(b.data, b.len, "none"));
	assert_null(kv_get(b.data, b.len, "en"));
	assert_int_equal(kv_int(b.data, b.len, "n", 1), -5);
	assert_int_equal(kv_int(b.data, b.len, "env", 1), 1);
	assert_int_equal(kv_int(b.data, b.len, "m", 2), 2);
	while (kv_next(b.data, b.len, &pos, &k, &n, &v))
		seen += n == 3 && !memcmp(k, "env", 3);
	assert_int_equal(seen, 2);
}

static int described(const struct buf *b, struct launch *ret, struct gq_err *err)
{
	_cleanup_close_ int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(write(fd, b->data, b->len), (ssize_t)b->len);
	return launch_read(fd, ret, err);
}

static const char *const must[] = {"job=4", "incarnation=2", "socket=/s", "record=/r", "notice=/n",
	"work-dir=/w", "image-dir=/i", "criu=criu", "dump-timeout=1", "restore-timeout=2", "uid=1000",
	"gid=100", "umask=18", "cwd=/", "script=/script"};

static void describe(struct buf *b, size_t without)
{
	buf_add(b, LAUNCH_HEAD, sizeof(LAUNCH_HEAD));
	for (size_t i = 0; i < ARRAY_LEN(must); i++)
		if (i != without)
			buf_add(b, must[i], strlen(must[i]) + 1);
}

static void test_launch(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct launch l = {0};

	(void)state;
	describe(&b, SIZE_MAX);
	kv_add(&b, "from-the-future", "x");
	kv_add(&b, "env", "A=1");
	kv_add(&b, "env", "B=2");
	kv_add(&b, "arg", "one");
	kv_add(&b, "group", "7");
	kv_add(&b, "limit", "7 1024 4096");
	kv_add(&b, "limit", "nonsense");
	kv_add(&b, "truncate", "1");
	assert_int_equal(described(&b, &l, NULL), 0);
	assert_int_equal(l.job, 4);
	assert_int_equal(l.uid, 1000);
	assert_true(l.truncate);
	assert_false(l.capsule);
	assert_string_equal(l.env[1], "B=2");
	assert_null(l.env[2]);
	assert_string_equal(l.argv[0], "/script");
	assert_string_equal(l.argv[1], "one");
	assert_null(l.argv[2]);
	assert_int_equal(l.n_groups, 1);
	assert_int_equal(l.n_limits, 1);
	assert_int_equal(l.limits[0].limit.rlim_max, 4096);
	/* A shim keeps these for its life; a test does not. */
	free(l.env);
	free(l.argv);
	free(l.groups);
	free(l.limits);
}

static void test_launch_bad(void **state)
{
	struct gq_err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(must); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT;
		struct launch l = {0};

		describe(&b, i);
		assert_int_equal(described(&b, &l, &err), -EPROTO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_launch),
		cmocka_unit_test(test_launch_bad)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
