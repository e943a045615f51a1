/* SPDX-License-Identifier: MIT
 * test_gqi.c - the image container: what goes in comes out, and no damage goes unseen */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "checkpoint/frame.h"
#include "checkpoint/gqi_layout.h"
#include "checkpoint/squeeze.h"
#include "checkpoint/unpack.h"

static char dir[] = "/dev/shm/gq-test-gqi.XXXXXX"; /* the current directory of all tests */
static char golden[PATH_MAX];
static uint64_t seed = 1;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

enum kind { ZEROS, NOISE, TEXT };

static void fill(unsigned char *p, size_t n, enum kind kind)
{
	for (size_t i = 0; i < n; i++)
		p[i] = kind == ZEROS ? 0 : kind == NOISE ? (unsigned char)random64()
			: (unsigned char)"the quick brown fox "[(i + random64() % 2) % 20];
}

struct content {
	const char *name;
	enum kind kind;
	size_t n;
	unsigned char *data;
};

/* A folder src with those files, and image.gqi of it. */
static void image_make(struct content *c, size_t n, const char *manifest)
{
	const struct gqi_write w = {.path = "image.gqi", .job = 42, .incarnation = 7,
		.created = 1234, .direct = true};
	const char *names[16];
	struct gq_err err = {0};
	int fd;

	dir_remove("src");
	unlink("image.gqi");
	assert_int_equal(mkdir("src", 0700), 0);
	for (size_t i = 0; i < n; i++) {
		char name[64];

		c[i].data = xmalloc(c[i].n + 1);
		fill(c[i].data, c[i].n, c[i].kind);
		snprintf(name, sizeof(name), "src/%s", c[i].name);
		assert_int_equal(file_write_fast(name, c[i].data, c[i].n, 0600, &err), 0);
		names[i] = c[i].name;
	}
	fd = open("src", O_RDONLY | O_DIRECTORY);
	assert_int_equal(pack_files(&w, 1, 2, fd, names, n, manifest, &err), 0);
	close(fd);
}

static void contents_free(struct content *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(c[i].data);
}

/* The file as it is in the image; NULL and the error if it cannot be read. */
static unsigned char *unpacked(const struct gqi *g, const char *name, size_t *ret_n,
	struct gq_err *err)
{
	char *data = NULL;
	int fd = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int r = unpack_file(g, name, fd, err);

	close(fd);
	if (r < 0)
		return NULL;
	assert_int_equal(file_read("out", 64u << 20, &data, ret_n, NULL), 0);
	return (unsigned char *)data;
}

static void test_round_trip(void **state)
{
	struct content c[] = {{"pages-1.img", NOISE, 5000001, NULL}, {"pages-2.img", ZEROS, 3 << 20, NULL},
		{"empty.img", TEXT, 0, NULL}, {"core-1000.img", TEXT, 2500, NULL},
		{"mm.img", TEXT, 2 << 20, NULL}};
	_cleanup_gqi_ struct gqi g = GQI_EMPTY;
	struct gq_err err = {0};

	(void)state;
	image_make(c, 5, "job=42\nroot=1000\n");
	assert_int_equal(gqi_open("image.gqi", &g, &err), 0);
	assert_int_equal(g.job, 42);
	assert_int_equal(g.incarnation, 7);
	assert_int_equal(g.n_files, 5);
	assert_string_equal(g.manifest, "job=42\nroot=1000\n");
	for (size_t i = 0; i < 5; i++) {
		size_t n;
		_cleanup_free_ unsigned char *back = unpacked(&g, c[i].name, &n, &err);

		assert_non_null(back);
		assert_int_equal(n, c[i].n);
		assert_memory_equal(back, c[i].data, n);
	}
	assert_int_equal(gqi_find(&g, "pages-2.img")->stored, 0);
	assert_int_equal(gqi_find(&g, "pages-1.img")->frames[0].codec, GQI_RAW);
	assert_true(gqi_find(&g, "mm.img")->stored < (1 << 20));
	assert_null(gqi_find(&g, "pages-3.img"));
	assert_int_equal(unpack_file(&g, "pages-3.img", 1, &err), -ENOENT);
	assert_int_equal(gqi_verify(&g, &err), 0);
	assert_int_equal(unpack_check(&g, &err), 0);
	contents_free(c, 5);
}

/* Open, walk, decode: what any reader would notice. */
static int whole(struct gq_err *err)
{
	_cleanup_gqi_ struct gqi g = GQI_EMPTY;
	int r = gqi_open("image.gqi", &g, err);

	if (!r)
		r = gqi_verify(&g, err);
	return r;
}

static struct content small[] = {{"noise", NOISE, 3000, NULL}, {"text", TEXT, 20000, NULL},
	{"zeros", ZEROS, 9000, NULL}, {"tiny", TEXT, 3, NULL}};

static unsigned long long offset_in(const char *text)
{
	const char *at = strstr(text, "offset ");

	return at ? strtoull(at + 7, NULL, 10) : ULLONG_MAX;
}

/* Every single bit pattern of one byte would be too many; one flip in every byte of the file. */
static void test_every_flip_is_found(void **state)
{
	_cleanup_close_ int fd = -1;
	_cleanup_gqi_ struct gqi good = GQI_EMPTY;

	(void)state;
	image_make(small, 4, "job=42\n");
	assert_int_equal(gqi_open("image.gqi", &good, NULL), 0);
	fd = open("image.gqi", O_RDWR);
	for (uint64_t at = 0; at < good.bytes; at++) {
		struct gq_err err = {0};
		unsigned char was, is;

		assert_int_equal(pread(fd, &was, 1, (off_t)at), 1);
		is = was ^ (unsigned char)(1 << at % 8);
		assert_int_equal(pwrite(fd, &is, 1, (off_t)at), 1);
		assert_true(whole(&err) < 0);
		if (offset_in(err.text) == ULLONG_MAX)
			fail_msg("byte %llu: %s", (unsigned long long)at, err.text);
		for (uint32_t i = 0; i < good.n_frames; i++) {
			const struct gqi_frame *f = &good.frames[i];

			if (at >= f->offset && at < f->offset + GQI_RECORD_SIZE + f->stored_n)
				assert_int_equal(offset_in(err.text), f->offset);
		}
		assert_int_equal(pwrite(fd, &was, 1, (off_t)at), 1);
	}
	assert_int_equal(whole(NULL), 0);
	contents_free(small, 4);
}

static void test_every_length_is_found(void **state)
{
	_cleanup_free_ char *all = NULL;
	size_t n;

	(void)state;
	image_make(small, 4, "job=42\n");
	assert_int_equal(file_read("image.gqi", 1 << 20, &all, &n, NULL), 0);
	for (size_t len = n; len-- > 0;) {
		struct gq_err err = {0};

		assert_int_equal(truncate("image.gqi", (off_t)len), 0);
		assert_int_equal(whole(&err), -EILSEQ);
		assert_true(offset_in(err.text) <= len);
	}
	assert_int_equal(file_write_fast("image.gqi", all, n, 0600, NULL), 0);
	assert_int_equal(whole(NULL), 0);
	assert_int_equal(truncate("image.gqi", (off_t)n + 1), 0);
	assert_int_equal(whole(NULL), -EILSEQ);
	contents_free(small, 4);
}

/* What is read is what was written, or nothing: also where only the frame asked for is looked at. */
static void test_no_wrong_byte_comes_out(void **state)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	(void)state;
	image_make(small, 4, "job=42\n");
	fd = open("image.gqi", O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size; at += 3) {
		_cleanup_gqi_ struct gqi g = GQI_EMPTY;
		unsigned char was, is;

		assert_int_equal(pread(fd, &was, 1, at), 1);
		is = (unsigned char)~was;
		assert_int_equal(pwrite(fd, &is, 1, at), 1);
		for (size_t i = 0; gqi_open("image.gqi", &g, NULL) == 0 && i < 4; i++) {
			size_t n;
			_cleanup_free_ unsigned char *back = unpacked(&g, small[i].name, &n, NULL);

			if (back)
				assert_memory_equal(back, small[i].data, small[i].n);
			gqi_close(&g);
		}
		assert_int_equal(pwrite(fd, &was, 1, at), 1);
	}
	contents_free(small, 4);
}

static void test_unknown_sections_are_passed_over(void **state)
{
	const struct gqi_write w = {.path = "image.gqi", .direct = false};
	struct gqi_writer *writer = NULL;
	struct gqi_frame f = {.raw_n = 5, .stored_n = 5, .codec = GQI_RAW, .sum = gqi_sum("hello", 5)};
	unsigned char h[GQI_RECORD_SIZE];
	struct gqi_record rec = {0};
	_cleanup_gqi_ struct gqi g = GQI_EMPTY;
	_cleanup_close_ int fd = -1;

	(void)state;
	unlink("image.gqi");
	assert_int_equal(gqi_writer_new(&w, &writer, NULL), 0);
	gqi_writer_file(writer, "a");
	assert_int_equal(gqi_writer_frame(writer, &f, "hello", NULL), 0);
	gqi_writer_file(writer, "b");
	f.file = 1;
	assert_int_equal(gqi_writer_frame(writer, &f, "hello", NULL), 0);
	assert_int_equal(gqi_writer_end(writer, "", NULL), 0);
	gqi_writer_free(writer);
	/* A later version may write other records between the frames: none is an error. */
	fd = open("image.gqi", O_RDWR);
	assert_int_equal(gqi_open("image.gqi", &g, NULL), 0);
	g.n_frames = 1; /* as if the index did not name the second */
	assert_int_equal(pread(fd, h, sizeof(h), (off_t)g.frames[1].offset), sizeof(h));
	assert_true(gqi_record_get(h, &rec));
	rec.type = 77;
	gqi_record_put(h, &rec);
	assert_int_equal(pwrite(fd, h, sizeof(h), (off_t)g.frames[1].offset), sizeof(h));
	assert_int_equal(gqi_verify(&g, NULL), 0);
}

static void test_a_newer_version_is_refused(void **state)
{
	unsigned char h[GQI_HEADER_SIZE];
	_cleanup_close_ int fd = -1;
	struct gq_err err = {0};

	(void)state;
	image_make(small, 4, "");
	fd = open("image.gqi", O_RDWR);
	assert_int_equal(pread(fd, h, sizeof(h), 0), sizeof(h));
	gqi_put32(h + 8, 2);
	gqi_put64(h + 56, gqi_sum(h, 56));
	assert_int_equal(pwrite(fd, h, sizeof(h), 0), sizeof(h));
	assert_int_equal(whole(&err), -EPROTONOSUPPORT);
	assert_non_null(strstr(err.text, "format 2"));
	contents_free(small, 4);
}

static void test_golden(void **state)
{
	_cleanup_gqi_ struct gqi g = GQI_EMPTY;
	_cleanup_free_ unsigned char *text = NULL;
	struct gq_err err = {0};
	size_t n;

	(void)state;
	if (gqi_open(golden, &g, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(gqi_verify(&g, &err), 0);
	assert_int_equal(unpack_check(&g, &err), 0);
	assert_non_null(strstr(g.manifest, "root=1000\n"));
	text = unpacked(&g, "text.img", &n, &err);
	assert_non_null(text);
	assert_int_equal(n, 4000);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(text[i], "golden\n"[i % 7]);
	assert_int_equal(gqi_find(&g, "zero.img")->frames[0].codec, GQI_ZERO);
	assert_int_equal(gqi_find(&g, "noise.img")->frames[0].codec, GQI_RAW);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(gqi_name_ok("pages-1.img"));
	assert_false(gqi_name_ok(""));
	assert_false(gqi_name_ok(".."));
	assert_false(gqi_name_ok("a/b"));
	assert_false(gqi_name_ok("a\nb"));
	assert_false(gqi_name_ok("\xff"));
}

static int setup(void **state)
{
	const char *top = getenv("GQ_TOP");

	(void)state;
	if (!realpath(top ? top : "..", golden))
		return -1;
	snprintf(golden + strlen(golden), sizeof(golden) - strlen(golden),
		"/tests/fixtures/image/v1.gqi");
	return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return chdir("/") < 0 || dir_remove(dir) < 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_every_flip_is_found),
		cmocka_unit_test(test_every_length_is_found),
		cmocka_unit_test(test_no_wrong_byte_comes_out),
		cmocka_unit_test(test_unknown_sections_are_passed_over),
		cmocka_unit_test(test_a_newer_version_is_refused),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("gqi", tests, setup, teardown);
}
