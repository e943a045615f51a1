/* SPDX-License-Identifier: MIT
 * test_client.c - the client against a small server that plays one answer per request */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/field.h"

/* What the server does with the n-th request it reads; the list ends with a NULL answer. */
struct step {
	const char *answer;
	enum { KEEP, CLOSE, CLOSE_UNREAD, SILENT, ONE_BY_ONE } then;
};

struct server {
	char dir[64], path[96];
	pid_t pid;
	struct client *client;
};

static bool read_request(int fd)
{
	char head[8192];
	size_t n = 0, body = 0;
	const char *end, *length;

	do {
		ssize_t r = read(fd, head + n, sizeof(head) - 1 - n);

		if (r <= 0)
			return false;
		n += (size_t)r;
		head[n] = '\0';
		end = strstr(head, "\r\n\r\n");
	} while (!end);
	length = strstr(head, "Content-Length: ");
	if (length)
		body = strtoul(length + 16, NULL, 10);
	n -= (size_t)(end + 4 - head);
	while (n < body) {
		ssize_t r = read(fd, head, sizeof(head));

		if (r <= 0)
			return false;
		n += (size_t)r;
	}
	return true;
}

static _Noreturn void serve(int listener, const struct step *steps)
{
	int fd = -1;

	signal(SIGPIPE, SIG_IGN);
	for (const struct step *s = steps; s->answer; s++) {
		size_t len = strlen(s->answer);

		if (fd < 0)
			fd = accept(listener, NULL, NULL);
		if (s->then != CLOSE_UNREAD && !read_request(fd)) {
			close(fd);
			fd = accept(listener, NULL, NULL);
			if (!read_request(fd))
				_exit(1);
		}
		for (size_t i = 0; s->then == ONE_BY_ONE && i < len; i++)
			write_all(fd, s->answer + i, 1);
		if (s->then != ONE_BY_ONE)
			write_all(fd, s->answer, len);
		if (s->then == SILENT)
			pause();
		if (s->then == CLOSE || s->then == CLOSE_UNREAD) {
			close(fd);
			fd = -1;
		}
	}
	_exit(0);
}

static void server_start(struct server *s, const struct step *steps)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	*s = (struct server){.dir = "/tmp/gq-client.XXXXXX"};
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/s", s->dir);
	str_copy(sa.sun_path, sizeof(sa.sun_path), s->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 8), 0);
	s->pid = fork();
	if (s->pid == 0)
		serve(fd, steps);
	close(fd);
	assert_int_equal(client_open(s->path, &s->client, NULL), 0);
}

static void server_stop(struct server *s)
{
	client_close(s->client);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	dir_remove(s->dir);
}

static void test_answers(void **state)
{
	static const struct step steps[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"job_id\":7}", KEEP},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length:2\r\n\r\n{}", KEEP},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n", ONE_BY_ONE},
		{"HTTP/1.1 204 No Content\r\n\r\n", KEEP},
		{"HTTP/1.0 200 OK\r\n\r\nto the end", CLOSE},
		{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", CLOSE},
		{NULL}};
	static const char *const bodies[] = {"{\"job_id\":7}", "{}", "hello world", "",
		"to the end", "abc"};
	static const int codes[] = {200, 201, 200, 204, 200, 200};
	_cleanup_buf_ struct buf body = BUF_INIT;
	struct server s;
	int status;

	(void)state;
	server_start(&s, steps);
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		assert_int_equal(client_call(s.client, i % 2 ? "POST" : "GET", "/v1/x", "{\"a\":1}",
			7, &status, &body, NULL), 0);
		assert_int_equal(status, codes[i]);
		assert_string_equal(buf_c(&body), bodies[i]);
	}
	server_stop(&s);
}

static void test_refusals(void **state)
{
	static const struct step steps[] = {
		{"HTTP/1.1 400 Bad Request\r\nContent-Length: 74\r\n\r\n"
		 "{\"error\": {\"code\": \"EINVAL\", \"message\": \"--vram: \\u00fc 90G > 80G \\\"x\\\"\"}}",
		 KEEP},
		{"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nwhat", KEEP},
		{NULL}};
	_cleanup_buf_ struct buf body = BUF_INIT;
	struct gq_err err = {0};
	struct server s;
	int status = 0;

	(void)state;
	server_start(&s, steps);
	assert_int_equal(client_call(s.client, "POST", "/", NULL, 0, &status, &body, &err), -EREMOTEIO);
	assert_int_equal(status, 400);
	assert_string_equal(err.text, "--vram: ü 90G > 80G \"x\"");
	assert_int_equal(client_call(s.client, "POST", "/", NULL, 0, &status, &body, &err), -EREMOTEIO);
	assert_string_equal(err.text, "gqd answered with HTTP status 503");
	server_stop(&s);
}

/* A kept connection that the server closed meanwhile is opened again, unseen. */
static void test_reconnect(void **state)
{
	static const struct step steps[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", CLOSE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2", CLOSE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3", CLOSE}, {NULL}};
	_cleanup_buf_ struct buf body = BUF_INIT;
	struct server s;
	int status;

	(void)state;
	server_start(&s, steps);
	for (int i = 1; i <= 3; i++) {
		char want[2] = {(char)('0' + i), 0};

		assert_int_equal(client_call(s.client, "GET", "/", NULL, 0, &status, &body, NULL), 0);
		assert_string_equal(buf_c(&body), want);
	}
	server_stop(&s);
}

static void test_broken(void **state)
{
	static const struct step steps[] = {
		{"SSH-2.0-OpenSSH_9.2 what do you want\r\n\r\n", CLOSE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", CLOSE},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", CLOSE},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", CLOSE},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", CLOSE},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", CLOSE},
		{"", CLOSE}, {NULL}};
	static const int want[] = {-EPROTO, -ECONNRESET, -EMSGSIZE, -EPROTO, -EPROTO, -EMSGSIZE,
		-ECONNRESET};
	_cleanup_buf_ struct buf body = BUF_INIT;
	struct gq_err err = {0};
	struct server s;
	int status = -1;

	(void)state;
	server_start(&s, steps);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(client_call(s.client, "POST", "/", NULL, 0, &status, &body, &err),
			want[i]);
		assert_null(strchr(err.text, '\n'));
	}
	assert_int_equal(status, -1);
	server_stop(&s);
}

static void test_timeout(void **state)
{
	static const struct step steps[] = {{"HTTP/1.1 200 OK\r\nContent-Le", SILENT}, {NULL}};
	_cleanup_buf_ struct buf body = BUF_INIT;
	struct gq_err err = {0};
	struct server s;
	int status;

	(void)state;
	server_start(&s, steps);
	client_set_timeout(s.client, GQ_MSEC(50));
	assert_int_equal(client_call(s.client, "GET", "/", NULL, 0, &status, &body, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "did not answer"));
	server_stop(&s);
}

/* The answer to a refused upload arrives although the rest of the upload could not be sent. */
static void test_refused_upload(void **state)
{
	static const struct step steps[] = {
		{"HTTP/1.1 413 Too Large\r\nContent-Length: 37\r\n\r\n"
		 "{\"error\": {\"message\": \"body too large\"}}", CLOSE_UNREAD}, {NULL}};
	_cleanup_buf_ struct buf body = BUF_INIT;
	_cleanup_free_ char *big = xcalloc(1, 4 << 20);
	struct server s;
	int status = 0, r;

	(void)state;
	server_start(&s, steps);
	r = client_call(s.client, "POST", "/", big, 4 << 20, &status, &body, NULL);
	assert_true(r == -EREMOTEIO || r == -ECONNRESET || r == -EPIPE);
	if (r == -EREMOTEIO)
		assert_int_equal(status, 413);
	server_stop(&s);
}

static void test_no_daemon(void **state)
{
	struct gq_err err = {0};
	struct client *c = NULL;

	(void)state;
	assert_int_equal(client_open("/nonexistent/gqd.sock", &c, &err), -ENOENT);
	assert_string_equal(err.text,
		"no gqd at /nonexistent/gqd.sock (No such file or directory): start it with "
		"`systemctl start gqd` or `gqd -c FILE`, or set GQ_SOCKET");
	setenv("GQ_SOCKET", "/nonexistent/other", 1);
	assert_int_equal(client_open(NULL, &c, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/other"));
	unsetenv("GQ_SOCKET");
	assert_null(c);
}

static void test_field(void **state)
{
	static const char json[] = "{\"a\": {\"b\": [1, {\"x\": \"]\\\"}\"}, -3], \"c\": null}, "
				   "\"t\": \"\\u20ac\\ud83d\\ude00\\n\", \"ok\": true}";
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *v;
	int64_t n = 0;
	bool ok = false;

	(void)state;
	v = field_first(field_find(json, "a", "b", NULL));
	assert_int_equal(field_int(v, &n), 0);
	assert_int_equal(n, 1);
	v = field_next(v);
	assert_int_equal(field_text(field_find(v, "x", NULL), &text), 0);
	assert_string_equal(buf_c(&text), "]\"}");
	v = field_next(v);
	assert_int_equal(field_int(v, &n), 0);
	assert_int_equal(n, -3);
	assert_null(field_next(v));
	assert_int_equal(field_int(field_find(json, "a", "c", NULL), &n), -EINVAL);
	buf_reset(&text);
	assert_int_equal(field_text(field_find(json, "t", NULL), &text), 0);
	assert_string_equal(buf_c(&text), "€😀\n");
	assert_int_equal(field_bool(field_find(json, "ok", NULL), &ok), 0);
	assert_true(ok);
	assert_null(field_find(json, "nope", NULL));
	assert_null(field_find("[1,2", "a", NULL));
	assert_null(field_find("{\"a\" 1}", "a", NULL));
	assert_null(field_find("{\"b\":{\"c\",", "a", NULL));
	for (size_t i = 0; i < sizeof(json); i++) { /* cut off anywhere: never past the end */
		_cleanup_free_ char *cut = xstrndup(json, i);

		field_find(cut, "ok", "deeper", NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_reconnect),
		cmocka_unit_test(test_broken), cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_refused_upload), cmocka_unit_test(test_no_daemon),
		cmocka_unit_test(test_field)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
