/* SPDX-License-Identifier: MIT
 * test_checkpoint_image.c - checksums, manifests, what is refused; the error line of criu's logs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "checkpoint/criu.h"
#include "checkpoint/image.h"
#include "checkpoint/raw.h"
#include "checkpoint/sum.h"
#include "checkpoint/unpack.h"

static char dir[64];

static void put(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(file_write_fast(path, text, strlen(text), 0600, NULL), 0);
}

static int setup(void **state)
{
	int64_t room;

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/gq-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(image_begin(dir, 7, 2, &room, NULL), 0);
	assert_true(room > 0);
	put("7/tmp.2/inventory.img", "inventory");
	put("7/tmp.2/pstree.img", "tree");
	put("7/tmp.2/core-1000.img", "core");
	put("7/tmp.2/pages-1.img", "some pages of memory, more than thirty-two bytes");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return dir_remove(dir);
}

static struct image_info info(void)
{
	return (struct image_info){.job = 7, .incarnation = 2, .root = 1000, .last_pid = 1234,
		.uid = 5, .created = GQ_SEC(1796000000), .criu = "4.2.1"};
}

static uint64_t sum_of(const char *data, size_t n)
{
	struct sum s;

	sum_init(&s);
	sum_add(&s, data, n);
	return sum_end(&s);
}

static void test_sum(void **state)
{
	static char data[1000];
	struct sum s;
	uint64_t whole;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 31);
	whole = sum_of(data, sizeof(data));
	for (size_t cut = 0; cut < sizeof(data); cut += 13) { /* in pieces, the same */
		sum_init(&s);
		sum_add(&s, data, cut);
		sum_add(&s, data + cut, sizeof(data) - cut);
		assert_true(sum_end(&s) == whole);
	}
	for (size_t bit = 0; bit < 8 * sizeof(data); bit++) { /* each bit counts */
		data[bit / 8] ^= (char)(1 << bit % 8);
		assert_true(sum_of(data, sizeof(data)) != whole);
		data[bit / 8] ^= (char)(1 << bit % 8);
	}
	assert_true(sum_of("", 0) != sum_of("\0", 1)); /* length counts */
}

/* Images are read by later versions: these values may never change. */
static void test_sum_golden(void **state)
{
	(void)state;
	assert_true(sum_of("", 0) == UINT64_C(0xe80fbcd24a5d3ba5));
	assert_true(sum_of("gq", 2) == UINT64_C(0xab244afdbadb4e3d));
}

static int pack(const char *manifest)
{
	static const char *const names[] = {"core-1000.img", "inventory.img", "pages-1.img", "pstree.img"};
	char path[128], file[160];
	struct gqi_write w = {.path = file};
	int fd, r;

	snprintf(path, sizeof(path), "%s/7/tmp.2", dir);
	snprintf(file, sizeof(file), "%s/" IMAGE_FILE, path);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	r = pack_files(&w, 1, 1, fd, names, 4, manifest, NULL);
	close(fd);
	return r;
}

static void test_publish(void **state)
{
	struct image_info i = info(), back;
	_cleanup_buf_ struct buf lines = BUF_INIT;

	(void)state;
	assert_false(image_exists(dir, 7, 2));
	image_lines(&i, &lines);
	buf_str(&lines, "something=of a later version\n");
	assert_int_equal(pack(buf_c(&lines)), 0);
	assert_int_equal(image_publish(dir, &i, true, NULL), 0);
	assert_true(image_exists(dir, 7, 2));
	assert_int_equal(image_read(dir, 7, 2, &back, NULL), 0);
	assert_true(back.streamed && !back.has_shm);
	assert_int_equal(back.root, 1000);
	assert_int_equal(back.last_pid, 1234);
	assert_int_equal(back.uid, 5);
	assert_int_equal(back.pages, 48);
	assert_true(i.bytes > 0);
	assert_int_equal(back.bytes, i.bytes);
	assert_true(back.created == i.created);
	assert_string_equal(back.criu, "4.2.1");
	assert_int_equal(image_read(dir, 7, 3, &back, NULL), -ENOENT);
}

static void test_incomplete(void **state)
{
	struct image_info i = info();
	struct gq_err err = {0};

	(void)state;
	assert_int_equal(image_publish(dir, &i, false, &err), -ENOENT);
	i.root = 1001;
	assert_int_equal(pack(""), 0);
	assert_int_equal(image_publish(dir, &i, false, &err), -EILSEQ);
	assert_string_equal(err.text, "criu wrote no core-1001.img");
	assert_false(image_exists(dir, 7, 2));
	image_abandon(dir, 7, 2);
}

/* The first format: a folder of criu's files with a manifest. */
static void publish_folder(void)
{
	struct image_info i = info();
	_cleanup_buf_ struct buf lines = BUF_INIT, text = BUF_INIT;
	char tmp[128], final[128];

	image_lines(&i, &lines);
	snprintf(tmp, sizeof(tmp), "%s/7/tmp.2", dir);
	snprintf(final, sizeof(final), "%s/7/2", dir);
	assert_int_equal(raw_manifest_make(tmp, buf_c(&lines), &text, NULL), 0);
	put("7/tmp.2/manifest", buf_c(&text));
	assert_int_equal(rename(tmp, final), 0);
}

static int folder_verify(struct gq_err *err)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/7/2", dir);
	return raw_verify(path, err);
}

static void test_folder(void **state)
{
	struct image_info back;

	(void)state;
	publish_folder();
	assert_int_equal(image_read(dir, 7, 2, &back, NULL), 0);
	assert_false(back.streamed);
	assert_int_equal(back.root, 1000);
	assert_int_equal(back.bytes, 9 + 4 + 4 + 48);
	assert_int_equal(folder_verify(NULL), 0);
}

static void damage(const char *name, off_t at)
{
	char path[128], c;
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "%s/7/2/%s", dir, name);
	fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 4;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
}

static void refused(const char *text)
{
	struct gq_err err = {0};

	assert_int_equal(folder_verify(&err), -EILSEQ);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

static void test_damage(void **state)
{
	char path[128];

	(void)state;
	publish_folder();
	damage("pages-1.img", 17);
	refused("pages-1.img is damaged");
	damage("pages-1.img", 17);
	assert_int_equal(folder_verify(NULL), 0);
	damage("manifest", 40);
	refused("manifest: damaged");
	damage("manifest", 40);
	snprintf(path, sizeof(path), "%s/7/2/pages-1.img", dir);
	assert_int_equal(truncate(path, 47), 0);
	refused("pages-1.img has 47 bytes instead of 48");
	unlink(path);
	assert_int_equal(folder_verify(NULL), -ENOENT);
	snprintf(path, sizeof(path), "%s/7/2/manifest", dir);
	assert_int_equal(truncate(path, 100), 0);
	refused("cut off");
	assert_int_equal(truncate(path, 0), 0);
	refused("does not begin with");
}

static void test_foreign(void **state)
{
	struct image_info back;
	struct gq_err err = {0};
	char from[128], to[128];

	(void)state;
	publish_folder();
	snprintf(from, sizeof(from), "%s/7/2", dir);
	snprintf(to, sizeof(to), "%s/7/3", dir);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(image_read(dir, 7, 3, &back, &err), -EILSEQ);
	assert_non_null(strstr(err.text, "is the image of job 7.2, not of 7.3"));
}

static void test_log(void **state)
{
	char path[128], text[256] = "";

	(void)state;
	snprintf(path, sizeof(path), "%s/log", dir);
	assert_false(criu_log_error(path, text, sizeof(text)));
	put("log", "(00.000001) Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self: "
		"Operation not permitted\n(00.1) Warn  (criu/x.c:1): Error of no weight\n");
	assert_false(criu_log_error(path, text, sizeof(text)));
	put("log", "(00.000001) Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self\n"
		"(00.2)   1000: Error (criu/files-ext.c:99): Can't dump file 3 of that type [600]\n"
		"(00.3) Error (criu/cr-dump.c:1975): Dumping FAILED.\n");
	assert_true(criu_log_error(path, text, sizeof(text)));
	assert_string_equal(text, "Can't dump file 3 of that type [600] (criu/files-ext.c:99)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_sum_golden),
		cmocka_unit_test_setup_teardown(test_publish, setup, teardown),
		cmocka_unit_test_setup_teardown(test_incomplete, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
		cmocka_unit_test_setup_teardown(test_log, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
