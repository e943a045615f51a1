/* SPDX-License-Identifier: MIT
 * test_base.c - sizes, durations, times, maps, buffers, atomic files */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/parse.h"
#include "base/signame.h"

static void test_size(void **state)
{
	static const struct {
		const char *text;
		int64_t mib; /* -1 = refused */
	} rows[] = {{"80G", 81920}, {"80g", 81920}, {"80GiB", 81920}, {"512M", 512}, {"512", 512},
		{"1T", 1048576}, {"1.5G", 1536}, {"1024K", 1}, {"1K", 1}, {"0", 0}, {"", -1}, {"G", -1},
		{"-1G", -1}, {"1GG", -1}, {"1X", -1}, {"nan", -1}, {"0x10", -1}, {"1e300G", -1},
		{"9G ", -1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t v = -1;
		int r = parse_size_mib(rows[i].text, &v, NULL);

		assert_int_equal(r, rows[i].mib < 0 ? -EINVAL : 0);
		assert_int_equal(v, rows[i].mib);
	}
}

static void test_duration(void **state)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1 = refused */
	} rows[] = {{"30", 30000}, {"90s", 90000}, {"15min", 900000}, {"2h30m", 9000000},
		{"1d", 86400000}, {"500ms", 500}, {"1.5s", 1500}, {"01:30", 90000},
		{"01:00:00", 3600000}, {"1-0", 86400000}, {"1-02:03:04", 93784000}, {"0", 0}, {"", -1},
		{"-5", -1}, {"5x", -1}, {"1:2:3:4", -1}, {"::", -1}, {"h", -1}, {"1h junk", -1},
		{"999999999999d", -1}, {"1-", -1}};
	gq_time d;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		d = GQ_MSEC(-1);
		assert_int_equal(parse_duration(rows[i].text, &d, NULL), rows[i].ms < 0 ? -EINVAL : 0);
		assert_int_equal(d, GQ_MSEC(rows[i].ms));
	}
	assert_int_equal(parse_duration("UNLIMITED", &d, NULL), 0);
	assert_true(d == GQ_NEVER);
	assert_int_equal(parse_duration_minutes("10", &d, NULL), 0);
	assert_int_equal(d, GQ_SEC(600));
}

static void test_when(void **state)
{
	gq_time now = GQ_SEC(1796000000), t = 0; /* 2026-11-30T00:53:20Z */
	char text[40];

	(void)state;
	setenv("TZ", "UTC", 1);
	assert_int_equal(parse_when("now", now, &t, NULL), 0);
	assert_true(t == now);
	assert_int_equal(parse_when("now+1hour", now, &t, NULL), 0);
	assert_true(t == now + GQ_SEC(3600));
	assert_int_equal(parse_when("16:00", now, &t, NULL), 0);
	assert_string_equal(gq_time_iso(t, text), "2026-11-30T16:00:00.000Z");
	assert_int_equal(parse_when("00:30", now, &t, NULL), 0);
	assert_string_equal(gq_time_iso(t, text), "2026-12-01T00:30:00.000Z");
	assert_int_equal(parse_when("2026-12-01T08:00+01:00", now, &t, NULL), 0);
	assert_string_equal(gq_time_iso(t, text), "2026-12-01T07:00:00.000Z");
	assert_int_equal(parse_when("2026-12-01T08:00:01.250Z", now, &t, NULL), 0);
	assert_string_equal(gq_time_iso(t, text), "2026-12-01T08:00:01.250Z");
	assert_int_equal(parse_when("2026-02-31", now, &t, NULL), -EINVAL);
	assert_int_equal(parse_when("25:00", now, &t, NULL), -EINVAL);
	assert_int_equal(parse_when("soon", now, &t, NULL), -EINVAL);
	assert_int_equal(parse_when("", now, &t, NULL), -EINVAL);
}

static void test_map(void **state)
{
	struct map m = {0};
	int values[1000];

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		map_put(&m, i * 7, &values[i]);
	for (uint64_t i = 0; i < 1000; i += 2)
		assert_ptr_equal(map_del(&m, i * 7), &values[i]);
	for (uint64_t i = 0; i < 1000; i++)
		assert_ptr_equal(map_get(&m, i * 7), i % 2 ? &values[i] : NULL);
	assert_int_equal(m.len, 500);
	map_clear(&m);
}

static void test_buf(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_string_equal(buf_c(&b), "");
	buf_fmt(&b, "%d-%s", 42, "x");
	buf_chr(&b, '!');
	assert_string_equal(buf_c(&b), "42-x!");
	for (int i = 0; i < 1000; i++)
		buf_str(&b, "0123456789");
	assert_int_equal(b.len, 10005);
	buf_clear(&b);
}

static void test_file(void **state)
{
	char dir[] = "/tmp/gq-test-XXXXXX", path[64];
	char *text = NULL;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a/b", dir);
	assert_int_equal(dir_make(path, 0755, NULL), 0);
	snprintf(path, sizeof(path), "%s/a/b/f", dir);
	assert_int_equal(file_write_atomic(path, "one", 3, 0600, NULL), 0);
	assert_int_equal(file_write_fast(path, "two!", 4, 0600, NULL), 0);
	assert_int_equal(file_read(path, 100, &text, NULL, NULL), 0);
	assert_string_equal(text, "two!");
	free(text);
	assert_int_equal(file_read(path, 3, &text, NULL, NULL), -EFBIG);
	assert_int_equal(dir_remove(dir), 0);
	assert_int_equal(file_read(path, 3, &text, NULL, NULL), -ENOENT);
}

static void test_err(void **state)
{
	struct gq_err err = {0};

	(void)state;
	assert_int_equal(gq_err_set(&err, -EINVAL, "vram: asked for %d", 9), -EINVAL);
	assert_int_equal(gq_err_prefix(&err, -EINVAL, "line %d", 4), -EINVAL);
	assert_string_equal(err.text, "line 4: vram: asked for 9");
	assert_int_equal(gq_err_set(NULL, -EIO, "x"), -EIO);
	gq_err_set(&err, -EINVAL, "'%.3s' \n\xff ü", "aüü");
	assert_string_equal(err.text, "'aü' ?? ü");
	gq_err_prefix(&err, -EINVAL, "%.2s\t", "aü");
	assert_string_equal(err.text, "a??: 'aü' ?? ü");
}

static void test_words(void **state)
{
	int sig = 0;

	(void)state;
	assert_int_equal(signal_parse("SIGUSR1", &sig, NULL), 0);
	assert_int_equal(sig, 10);
	assert_int_equal(signal_parse("term", &sig, NULL), 0);
	assert_int_equal(sig, 15);
	assert_int_equal(signal_parse("0", &sig, NULL), -EINVAL);
	assert_int_equal(signal_parse("SIGNOPE", &sig, NULL), -EINVAL);
	assert_true(str_is_clean("train ü"));
	assert_false(str_is_clean("a\nb"));
	assert_false(str_is_clean("\xff"));
	assert_false(str_is_clean("\xed\xa0\x80"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_size),
		cmocka_unit_test(test_duration), cmocka_unit_test(test_when), cmocka_unit_test(test_map),
		cmocka_unit_test(test_buf), cmocka_unit_test(test_file), cmocka_unit_test(test_err),
		cmocka_unit_test(test_words)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
