/* SPDX-License-Identifier: MIT
 * test_stream.c - gq-streamer against a criu that is played here: many pipes at once, any order,
 * nonsense, a fixed amount of memory */
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "checkpoint/gqi.h"
#include "checkpoint/wire.h"

#define FILES     24 /* more than there are slots */
#define PART      (200u << 10)
#define PARTS     11
#define BIG_BYTES (400u << 20)
#define RSS_MAX   (64 << 10) /* KiB */

static char dir[] = "/tmp/gq-test-stream.XXXXXX";
static const char image[] = "image.gqi"; /* tests run in dir, the streamer too */
static char program[PATH_MAX];

static uint64_t word(uint64_t i)
{
	i *= UINT64_C(0x9e3779b97f4a7c15);
	i ^= i >> 29;
	return i * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Byte-exact contents of any file from its number, so that nothing has to be kept. */
static void fill(unsigned char *p, size_t n, unsigned file, uint64_t at)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t k = (at + i) / 8, v = word(k ^ (uint64_t)file << 40);

		if (k / 40000 % 3 == 0)
			v = 0;
		else if (k / 40000 % 3 == 1)
			v &= 0x0f0f0f0f0f0f0f0f;
		memcpy(p + i, &v, 8);
	}
}

static pid_t streamer(const char *verb, const char *const *more)
{
	const char *argv[16] = {"gq-streamer", verb, "--dir", ".", "--workers", "2", image};
	int fds[2], n = 7;
	pid_t pid;

	while (more && *more)
		argv[n++] = *more++;
	unlink(WIRE_CAPTURE);
	unlink(WIRE_SERVE);
	if (!strcmp(verb, "capture"))
		unlink(image);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		int log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(log, 2);
		execv(program, (char *const *)argv);
		_exit(127);
	}
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static int client(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	str_copy(a.sun_path, sizeof(a.sun_path), name);
	for (int i = 0; connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0; i++) {
		assert_true(i < 2000);
		usleep(5000); /* it is starting */
	}
	return fd;
}

static int ended(pid_t pid, long *ret_rss)
{
	struct rusage u;
	int status;

	assert_int_equal(wait4(pid, &status, 0, &u), pid);
	if (ret_rss)
		*ret_rss = u.ru_maxrss;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *said(void)
{
	static char text[512];
	int fd = open("log", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static int put_file(int fd, const char *name)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(wire_send_name(fd, name), 0);
	assert_int_equal(wire_send_fd(fd, fds[0]), 0);
	close(fds[0]);
	return fds[1];
}

/* -1: it is not there. */
static int get_file(int fd, const char *name)
{
	int fds[2];
	bool exists;

	assert_int_equal(wire_send_name(fd, name), 0);
	assert_int_equal(wire_read_exists(fd, &exists), 0);
	if (!exists)
		return -1;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(wire_send_fd(fd, fds[1]), 0);
	close(fds[1]);
	return fds[0];
}

static size_t read_full(int fd, unsigned char *p, size_t n)
{
	size_t have = 0;
	ssize_t r;

	while (have < n && (r = read(fd, p + have, n - have)) > 0)
		have += (size_t)r;
	return have;
}

static const char *name_of(unsigned i)
{
	static char name[32];

	snprintf(name, sizeof(name), "pages-%u.img", i);
	return name;
}

static void test_many_pipes_at_once(void **state)
{
	unsigned char *part = xmalloc(PART);
	pid_t pid = streamer("capture", NULL);
	int c = client(WIRE_CAPTURE), fds[FILES];

	(void)state;
	for (unsigned i = 0; i < FILES; i++)
		fds[i] = put_file(c, name_of(i));
	close(put_file(c, "empty.img"));
	for (unsigned k = 0; k < PARTS; k++)
		for (unsigned i = 0; i < FILES; i++) {
			fill(part, PART, i, (uint64_t)k * PART);
			assert_int_equal(write_all(fds[i], part, i == 3 ? 8 : PART), 0);
		}
	for (unsigned i = 0; i < FILES; i++)
		close(fds[i]);
	close(c);
	assert_int_equal(ended(pid, NULL), 0);
	free(part);
}

static void test_any_order_any_time(void **state)
{
	unsigned char *part = xmalloc(PART), *want = xmalloc(PART);
	pid_t pid = streamer("serve", NULL);
	int c = client(WIRE_SERVE), fds[FILES], twice, empty;

	(void)state;
	assert_int_equal(get_file(c, "nothing.img"), -1);
	for (unsigned i = FILES; i-- > 0;)
		fds[i] = get_file(c, name_of(i));
	empty = get_file(c, "empty.img");
	assert_int_equal(read_full(empty, part, PART), 0);
	twice = get_file(c, name_of(5));
	close(get_file(c, name_of(6))); /* one that is not read */
	close(c);
	for (unsigned i = 0; i < FILES; i++)
		for (unsigned k = 0; k < PARTS && i != 3; k++) {
			fill(want, PART, i, (uint64_t)k * PART);
			assert_int_equal(read_full(fds[i], part, PART), PART);
			assert_memory_equal(part, want, PART);
			if (i == 5) {
				assert_int_equal(read_full(twice, part, PART), PART);
				assert_memory_equal(part, want, PART);
			}
		}
	assert_int_equal(read_full(fds[3], part, PART), 8 * PARTS);
	for (unsigned i = 0; i < FILES; i++) {
		assert_int_equal(read_full(fds[i], part, 1), 0);
		close(fds[i]);
	}
	close(twice);
	close(empty);
	assert_int_equal(ended(pid, NULL), 0);
	free(part);
	free(want);
}

static void test_memory_is_bounded(void **state)
{
	unsigned char *part = xmalloc(PART), *want = xmalloc(PART);
	pid_t pid = streamer("capture", NULL);
	int c = client(WIRE_CAPTURE), fd = put_file(c, "pages-1.img");
	long rss_in, rss_out;

	(void)state;
	for (uint64_t at = 0; at < BIG_BYTES; at += PART) {
		fill(part, PART, 1, at);
		assert_int_equal(write_all(fd, part, PART), 0);
	}
	close(fd);
	close(c);
	assert_int_equal(ended(pid, &rss_in), 0);
	pid = streamer("serve", NULL);
	c = client(WIRE_SERVE);
	fd = get_file(c, "pages-1.img");
	for (uint64_t at = 0; at < BIG_BYTES; at += PART) {
		fill(want, PART, 1, at);
		assert_int_equal(read_full(fd, part, PART), PART);
		if (memcmp(part, want, PART))
			fail_msg("wrong bytes at %llu", (unsigned long long)at);
	}
	close(fd);
	close(c);
	assert_int_equal(ended(pid, &rss_out), 0);
	print_message("# largest RSS: capture %ld MiB, serve %ld MiB\n", rss_in >> 10, rss_out >> 10);
#ifndef __SANITIZE_ADDRESS__
	assert_true(rss_in <= RSS_MAX);
	assert_true(rss_out <= RSS_MAX);
#endif
	free(part);
	free(want);
}

/* Reads all that comes of a file whose image is damaged: less than all, and never a wrong byte. */
static void test_damage_stops_the_stream(void **state)
{
	unsigned char *part = xmalloc(PART), *want = xmalloc(PART), b;
	_cleanup_gqi_ struct gqi g = GQI_EMPTY;
	const struct gqi_frame *f;
	char where[64];
	uint64_t got = 0;
	int fd, c;
	pid_t pid;

	(void)state;
	assert_int_equal(gqi_open(image, &g, NULL), 0);
	f = &gqi_find(&g, "pages-1.img")->frames[200];
	fd = open(image, O_RDWR);
	assert_int_equal(pread(fd, &b, 1, (off_t)f->offset + 60), 1);
	b ^= 4;
	assert_int_equal(pwrite(fd, &b, 1, (off_t)f->offset + 60), 1);
	close(fd);
	pid = streamer("serve", NULL);
	c = client(WIRE_SERVE);
	fd = get_file(c, "pages-1.img");
	for (size_t n = PART; n == PART; got += n) {
		n = read_full(fd, part, PART);
		fill(want, PART, 1, got);
		assert_memory_equal(part, want, n);
	}
	assert_true(got <= (uint64_t)200 * GQI_CHUNK && got >= (uint64_t)150 * GQI_CHUNK);
	assert_int_equal(ended(pid, NULL), 1);
	snprintf(where, sizeof(where), "damaged at offset %llu: the contents of frame 200 of pages-1.img",
		(unsigned long long)f->offset);
	assert_non_null(strstr(said(), where));
	close(fd);
	close(c);
	free(part);
	free(want);
}

static void nonsense(const void *data, size_t n)
{
	pid_t pid = streamer("capture", NULL);
	int c = client(WIRE_CAPTURE);

	assert_int_equal(send(c, data, n, MSG_NOSIGNAL), n);
	shutdown(c, SHUT_WR);
	assert_int_equal(ended(pid, NULL), 1);
	assert_non_null(strstr(said(), "stream from criu"));
	close(c);
}

static void test_nonsense_is_refused(void **state)
{
	(void)state;
	nonsense("\xff\xff\xff\x7f", 4);
	nonsense("\x02\0\0\0\x0a", 5);
	nonsense("\x05\0\0\0\x0a\x7f" "abc", 9);
	nonsense("\x04\0\0\0\x0a\x02..", 8);
	nonsense("\x05\0\0\0\x0a\x03/ab", 9);
	nonsense("\x03\0\0\0\x0a\x01" "ax", 8); /* a byte without a descriptor */
}

static void test_an_unfinished_image_is_none(void **state)
{
	pid_t pid = streamer("capture", NULL);
	int c = client(WIRE_CAPTURE), fd = put_file(c, "pages-1.img");
	_cleanup_gqi_ struct gqi g = GQI_EMPTY;
	unsigned char *part = xmalloc(PART);

	(void)state;
	fill(part, PART, 1, 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(write_all(fd, part, PART), 0);
	kill(pid, SIGKILL);
	assert_int_equal(ended(pid, NULL), -1);
	assert_int_equal(gqi_open(image, &g, NULL), -EILSEQ);
	close(fd);
	close(c);
	free(part);
}

static void test_messages(void **state)
{
	char name[GQI_NAME_MAX + 1];

	(void)state;
	assert_int_equal(wire_parse_name((const unsigned char *)"\x0a\x03""a.b", 5, name), 0);
	assert_string_equal(name, "a.b");
	/* fields of a newer criu around it */
	assert_int_equal(wire_parse_name((const unsigned char *)"\x10\x85\x01\x0a\x01z\x1a\x01q", 9, name), 0);
	assert_string_equal(name, "z");
	assert_int_equal(wire_parse_name((const unsigned char *)"\x10\x05", 2, name), -EBADMSG);
	assert_int_equal(wire_parse_name((const unsigned char *)"", 0, name), -EBADMSG);
	assert_int_equal(wire_parse_name((const unsigned char *)"\x0a\x03""a\0b", 5, name), -EBADMSG);
}

static int setup(void **state)
{
	const char *build = getenv("GQ_BUILD");

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	if (!realpath(build ? build : ".", program))
		return -1;
	snprintf(program + strlen(program), sizeof(program) - strlen(program), "/bin/gq-streamer");
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
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_many_pipes_at_once),
		cmocka_unit_test(test_any_order_any_time),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_damage_stops_the_stream),
		cmocka_unit_test(test_nonsense_is_refused),
		cmocka_unit_test(test_an_unfinished_image_is_none),
	};

	return cmocka_run_group_tests_name("stream", tests, setup, teardown);
}
