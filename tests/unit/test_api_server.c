/* SPDX-License-Identifier: MIT
 * test_api_server.c - the server over a real socket, with the real core behind a small host
 * A child process serves two sockets: on the second nobody is an operator. A job named "disk-full"
 * makes the commit of its turn fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "client/client.h"
#include "gqd/api/api.h"
#include "gqd/core/core.h"
#include "gqd/loop.h"
#include "job/job_spec.h"

#define JOB "{\"name\":\"%s\",\"script\":\"#!/bin/sh\\ntrue\\n\",\"cwd\":\"/\"}"

static char dir[] = "/tmp/gq-api-XXXXXX";
static char sock[64], sock_plain[64];
static pid_t server;

/* --- the host, in the child ----------------------------------------------------------------- */

struct host {
	struct core *core;
	struct api *api, *plain;
	struct loop *loop;
	struct effects fx;
	bool fail;
	unsigned commits;
};

static const struct core *host_core(void *ctx)
{
	return ((struct host *)ctx)->core;
}

static int host_step(void *ctx, struct event *ev, struct gq_err *err)
{
	struct host *h = ctx;

	return core_step(h->core, gq_now(), ev, &h->fx, err);
}

static int host_submit(void *ctx, const struct job_spec *s, const struct api_peer *peer,
	bool test_only, uint32_t *ret_job, struct gq_err *err)
{
	struct host *h = ctx;
	struct event ev = {.type = EV_SUBMIT, .uid = peer->uid};
	int r;

	ev.submit = (struct event_submit){.name = s->name,
		.uid = peer->uid,
		.gid = peer->gid,
		.gpus = (uint16_t)s->gpus,
		.vram_mib = s->vram_mib,
		.time_limit = s->time_limit,
		.time_min = s->time_min,
		.grace = s->grace,
		.checkpoint = (uint8_t)s->checkpoint,
		.hold = true,
		.requeue = s->requeue,
		.test_only = test_only,
		.priority = s->priority};
	r = host_step(ctx, &ev, err);
	if (r == 0 && s->name && strcmp(s->name, "disk-full") == 0)
		h->fail = true;
	if (r == 0)
		*ret_job = ev.ret_id;
	return r;
}

static int host_stored_job(void *ctx, uint32_t id, struct job *ret, struct gq_err *err)
{
	(void)ctx;
	(void)ret;
	return gq_err_set(err, -ENOENT, "job %u", id);
}

static int host_spec(
	void *ctx, uint32_t id, char **ret, size_t *ret_len, struct gq_err *err)
{
	(void)ctx;
	(void)id;
	(void)err;
	*ret = xstrdup("{\"script\":\"x\"}");
	*ret_len = strlen(*ret);
	return 0;
}

/* A job that ended long ago: only the store has it. */
static int host_each_job(void *ctx, const struct api_filter *f,
	void (*fn)(void *fn_ctx, const struct job *row), void *fn_ctx, struct gq_err *err)
{
	struct job old = {.id = 4000000,
		.state = JOB_COMPLETED,
		.name = (char *)"old",
		.started_at = 5,
		.time_limit = GQ_NEVER,
		.grace = GQ_NEVER};

	(void)ctx;
	(void)f;
	(void)err;
	fn(fn_ctx, &old);
	return 0;
}

static int host_each_eviction(void *ctx, const struct api_filter *f,
	void (*fn)(void *fn_ctx, const struct eviction *row), void *fn_ctx,
	struct gq_err *err)
{
	struct eviction e = {.id = 1,
		.job = f->job,
		.how = HOW_STORE,
		.cause = CAUSE_RESERVATION,
		.notice_at = GQ_SEC(1796076000),
		.late = GQ_MSEC(5),
		.lost = GQ_MSEC(1500)};

	(void)ctx;
	(void)err;
	fn(fn_ctx, &e);
	fn(fn_ctx, &e);
	return 0;
}

static int host_each_audit(void *ctx, const struct api_filter *f,
	void (*fn)(void *fn_ctx, const struct audit *row), void *fn_ctx,
	struct gq_err *err)
{
	struct audit a = {.at = GQ_SEC(1796076000),
		.kind = AUDIT_JOB,
		.id = f->id,
		.uid = (uid_t)-1,
		.text = "started"};

	(void)ctx;
	(void)err;
	fn(fn_ctx, &a);
	return 0;
}

static void host_doctor(void *ctx, api_finding_fn fn, void *fn_ctx)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", ((struct host *)ctx)->commits);
	fn(fn_ctx, "commits", true, false, text, NULL);
}

static void host_shutdown(void *ctx)
{
	loop_quit(((struct host *)ctx)->loop);
}

static bool host_everybody(void *ctx, const struct api_peer *peer)
{
	(void)ctx;
	return peer->pid > 0;
}

static bool host_nobody(void *ctx, const struct api_peer *peer)
{
	(void)ctx;
	(void)peer;
	return false;
}

static gq_time host_now(void *ctx)
{
	(void)ctx;
	return gq_now();
}

static void host_turn(void *ctx)
{
	struct host *h = ctx;
	struct dirty d;

	core_dirty(h->core, &d);
	effects_clear(&h->fx);
	if (h->fail) {
		h->fail = false;
		api_fail(h->api, -ENOSPC, "store: the disk is full");
		api_fail(h->plain, -ENOSPC, "store: the disk is full");
		return;
	}
	h->commits += d.n_jobs || d.n_services || d.n_reservations;
	core_dirty_done(h->core);
	api_flush(h->api);
	api_flush(h->plain);
	api_wake(h->api);
	api_wake(h->plain);
}

static void add_cards(struct host *h)
{
	for (uint16_t i = 0; i < 2; i++) {
		struct event ev = {.type = EV_CARD, .uid = (uid_t)-1};

		ev.card = (struct event_card){.index = i,
			.present = true,
			.mem_total_mib = 81920,
			.uuid = i ? "GPU-bbbb" : "GPU-aaaa",
			.model = "A100",
			.labels = i ? "big,a100" : "a100"};
		host_step(h, &ev, NULL);
	}
}

static void add_service(struct host *h)
{
	struct event ev = {.type = EV_SERVICE_PUT, .uid = (uid_t)-1, .privileged = true};

	ev.service = (struct service){
		.name = "other", .uid = 12345, .from_config = true, .n_cards = 1};
	host_step(h, &ev, NULL);
}

static void serve(int ready)
{
	struct host h = {0};
	struct api_host host = {.ctx = &h,
		.core = host_core,
		.step = host_step,
		.submit = host_submit,
		.stored_job = host_stored_job,
		.spec_json = host_spec,
		.each_job = host_each_job,
		.each_eviction = host_each_eviction,
		.each_audit = host_each_audit,
		.doctor = host_doctor,
		.shutdown = host_shutdown,
		.is_operator = host_everybody,
		.now = host_now};
	struct api_host plain;
	struct core_conf conf;
	struct rlimit few = {200, 200};

	setrlimit(RLIMIT_NOFILE, &few); /* 100 connections per socket */
	core_conf_default(&conf);
	h.core = core_new(&conf);
	add_cards(&h);
	add_service(&h);
	plain = host;
	plain.is_operator = host_nobody;
	if (loop_new(&h.loop, NULL) < 0 ||
		api_new(&host, h.loop, sock, &h.api, NULL) < 0 ||
		api_new(&plain, h.loop, sock_plain, &h.plain, NULL) < 0)
		_exit(1);
	loop_after_turn(h.loop, host_turn, &h);
	if (write(ready, "r", 1) != 1)
		_exit(1);
	loop_run(h.loop, NULL);
	api_free(h.api);
	api_free(h.plain);
	loop_free(h.loop);
	core_free(h.core);
	effects_clear(&h.fx);
	exit(0); /* the sanitizer looks for leaks here */
}

/* --- the client ----------------------------------------------------------------------------- */

static int dial(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	str_copy(at.sun_path, sizeof(at.sun_path), path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void send_all(int fd, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t k = send(fd, text, n, MSG_NOSIGNAL);

		if (k <= 0)
			return; /* refused before all was read; the reply says why */
		text += k;
		n -= (size_t)k;
	}
}

/* Reads until the peer closes. */
static void read_all(int fd, struct buf *out)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(out, chunk, (size_t)n);
}

static int raw_n(const char *request, size_t n, struct buf *out)
{
	int fd = dial(sock);

	buf_reset(out);
	send_all(fd, request, n);
	shutdown(fd, SHUT_WR);
	read_all(fd, out);
	close(fd);
	return out->len > 12 ? (int)strtol(out->data + 9, NULL, 10) : 0;
}

static int raw(const char *request, struct buf *out)
{
	return raw_n(request, strlen(request), out);
}

static int call_at(const char *path_of_socket, const char *method, const char *path,
	const char *body, struct buf *out)
{
	struct client *c;
	struct gq_err err = {0};
	int status = 0;

	assert_int_equal(client_open(path_of_socket, &c, &err), 0);
	client_call(c, method, path, body, body ? strlen(body) : 0, &status, out, &err);
	client_close(c);
	return status;
}

static int call(const char *method, const char *path, const char *body, struct buf *out)
{
	return call_at(sock, method, path, body, out);
}

static unsigned submit(const char *name)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	char body[256];

	snprintf(body, sizeof(body), JOB, name);
	assert_int_equal(call("POST", "/v1/jobs", body, &out), 200);
	return (unsigned)strtoul(out.data + strlen("{\"job_id\":"), NULL, 10);
}

/* --- tests ---------------------------------------------------------------------------------- */

static void test_routes(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	(void)state;
	assert_int_equal(call("GET", "/v1/ping", NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"cards\":2"));
	assert_int_equal(call("GET", "/v1/nothing", NULL, &out), 404);
	assert_non_null(strstr(out.data, "{\"error\":{\"code\":\"ENOENT\",\"message\":"));
	assert_int_equal(raw("PATCH /v1/jobs HTTP/1.1\r\n\r\n", &out), 405);
	assert_non_null(strstr(out.data, "\r\nAllow: POST, GET\r\n"));
	assert_int_equal(call("GET", "/v1/ping?x=1", NULL, &out), 400);
	assert_int_equal(call("GET", "/v1/jobs/%zz", NULL, &out), 400);
	assert_int_equal(call("GET", "/v1/jobs/77777", NULL, &out), 404);
	assert_int_equal(call("GET", "/v1/jobs/x", NULL, &out), 400);
	assert_int_equal(call("GET", "/v1/conf", NULL, &out), 200);
	assert_int_equal(call("GET", "/v1/gpus", NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"uuid\":\"GPU-bbbb\""));
	assert_int_equal(call("GET", "/v1/windows", NULL, &out), 200);
	assert_int_equal(call("GET", "/v1/openapi.json", NULL, &out), 200);
	assert_int_equal(call("GET", "/v1/evictions?job=3", NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"how\":\"store\""));
	assert_non_null(strstr(out.data, "\"late_ms\":5,"));
	assert_non_null(strstr(out.data, "\"lost_s\":1.500"));
	assert_int_equal(call("GET", "/v1/history?job=3", NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"kind\":\"job\",\"id\":3,\"user\":null"));
}

static void test_jobs(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	char path[64], want[64];
	unsigned id = submit("first");

	(void)state;
	snprintf(path, sizeof(path), "/v1/jobs/%u", id);
	assert_int_equal(call("GET", path, NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"name\":\"first\""));
	assert_non_null(strstr(out.data, "\"state\":\"PD\""));
	assert_non_null(strstr(out.data, "\"spec\":null"));
	snprintf(path, sizeof(path), "/v1/jobs/%u?spec=1", id);
	assert_int_equal(call("GET", path, NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"spec\":{\"script\":\"x\"}"));
	assert_int_equal(
		call("GET", "/v1/jobs?fields=job_id,name&limit=1", NULL, &out), 200);
	snprintf(want, sizeof(want), "[{\"job_id\":%u,\"name\":\"first\"}]\n", id);
	assert_string_equal(out.data, want);
	assert_int_equal(call("GET", "/v1/jobs?state=R,CD", NULL, &out), 200);
	assert_string_equal(out.data, "[]\n");
	assert_int_equal(call("GET", "/v1/jobs?state=XX", NULL, &out), 400);
	assert_int_equal(call("GET", "/v1/jobs?user=4242", NULL, &out), 200);
	assert_string_equal(out.data, "[]\n");
	assert_int_equal(
		call("GET", "/v1/jobs?ended=1&state=CD&fields=job_id,name", NULL, &out),
		200);
	assert_string_equal(out.data, "[{\"job_id\":4000000,\"name\":\"old\"}]\n");
	snprintf(path, sizeof(path), "/v1/jobs/%u/cancel", id);
	assert_int_equal(call("POST", path, "{\"a\":1}", &out), 400);
	assert_int_equal(call("POST", path, NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"state\":\"CA\""));
	snprintf(path, sizeof(path), "/v1/jobs/%u/hold", id);
	assert_int_equal(call("POST", path, NULL, &out), 409);
	assert_int_equal(call("POST", "/v1/jobs/99999/hold", NULL, &out), 404);
}

static void test_batch(void **state)
{
	_cleanup_buf_ struct buf body = BUF_INIT, out = BUF_INIT;

	(void)state;
	buf_str(&body, "[");
	buf_fmt(&body, JOB, "a]}\\\"");
	buf_str(&body, ",{\"nonsense\":1} , ");
	buf_fmt(&body, JOB, "c");
	buf_str(&body, "]");
	assert_int_equal(call("POST", "/v1/jobs", body.data, &out), 200);
	assert_non_null(strstr(out.data, "[{\"job_id\":"));
	assert_non_null(strstr(out.data, "},{\"error\":{\"code\":\"EINVAL\","));
	assert_non_null(strstr(out.data, "}},{\"job_id\":"));
	buf_reset(&body);
	for (int i = 0; i < 1001; i++)
		buf_str(&body, i ? ",{}" : "[{}");
	buf_str(&body, "]");
	assert_int_equal(call("POST", "/v1/jobs", body.data, &out), 422);
	assert_int_equal(call("POST", "/v1/jobs", "[]", &out), 400);
	assert_int_equal(call("POST", "/v1/jobs", "[{}", &out), 400);
	assert_int_equal(call("POST", "/v1/jobs", "[{}]x", &out), 400);
	assert_int_equal(call("POST", "/v1/jobs", "[{},[]]", &out), 400);
	buf_reset(&body);
	buf_fmt(&body, JOB, "only-tested");
	assert_int_equal(call("POST", "/v1/jobs?test_only=1", body.data, &out), 200);
	assert_int_equal(call("GET", "/v1/jobs?name=only-tested", NULL, &out), 200);
	assert_string_equal(out.data, "[]\n");
}

static void test_bad_json(void **state)
{
	static const char *const bad[] = {"{", "[1", "nonsense",
		"{\"in\":\"1s\",\"in\":\"2s\"}", "{\"in\":1}", "{\"unknown\":1}",
		"{\"cards\":\"0\"}", "{\"cards\":[0]}", "{\"count\":\"2\"}",
		"{\"count\":1.5}", "{\"in\":\"a\\u0000b\"}", "{\"in\":\"\xff\"}",
		"{\"in\":\"1s\"} x", "[]", "1", "{\"in\":\"1s\",\"start\":\"now\"}",
		"{\"in\":\"soon\"}", "{\"count\":99}", "{\"repeat\":\"yearly\"}",
		"{\"cards\":[\"7\"]}", "{\"cards\":[\"nolabel\"]}", "{\"label\":\"big\"}",
		"{\"vram\":\"much\"}", "{\"notice\":\"5s\"}",
		"{\"count\":99999999999999999999}"};
	static const char with_nul[] =
		"POST /v1/jobs HTTP/1.1\r\nContent-Length: 3\r\n\r\n{\0}";
	_cleanup_buf_ struct buf out = BUF_INIT, deep = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(call("POST", "/v1/reservations", bad[i], &out), 400);
		assert_int_equal(call("POST", "/v1/jobs", bad[i], &out), 400);
	}
	for (int i = 0; i < 100000; i++)
		buf_str(&deep, "{\"a\":");
	assert_int_equal(call("POST", "/v1/reservations", deep.data, &out), 400);
	assert_int_equal(call("POST", "/v1/jobs", deep.data, &out), 400);
	assert_int_equal(raw_n(with_nul, sizeof(with_nul) - 1, &out), 400);
	assert_int_equal(call("GET", "/v1/ping", NULL, &out), 200);
}

static void test_bad_http(void **state)
{
	static const struct {
		const char *text;
		int status;
	} rows[] = {{"nonsense\r\n\r\n", 400}, {"GET / HTTP/2.0\r\n\r\n", 505},
		{"GET nothing HTTP/1.1\r\n\r\n", 400}, {"GET /v1/ping\r\n\r\n", 400},
		{"GET /v1/ping FTP/1.1\r\n\r\n", 400}, {"\r\n\r\n", 400},
		{"GET /v1/ping HTTP/1.1\r\nNoColon\r\n\r\n", 400},
		{"GET /v1/ping HTTP/1.1\r\n folded: x\r\n\r\n", 400},
		{"GET /v1/ping HTTP/1.1\r\nA : x\r\n\r\n", 400},
		{"GET /v1/ping HTTP/1.1\nA: x\r\n\r\n", 400},
		{"POST /v1/jobs HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
		{"POST /v1/jobs HTTP/1.1\r\nContent-Length: 1x\r\n\r\n", 400},
		{"POST /v1/jobs HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
		{"POST /v1/jobs HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
			400},
		{"POST /v1/jobs HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n", 413},
		{"POST /v1/jobs HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
			413},
		{"POST /v1/jobs HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			411},
		{"POST /v1/jobs HTTP/1.1\r\nExpect: miracles\r\n\r\n", 417},
		{"GET /v1/ping HTTP/1.0\r\n\r\n", 200},
		{"GET /v1/ping HTTP/1.1\r\nconnection: CLOSE\r\n\r\n", 200}};
	static const char head_nul[] = "GET /v1/\0 HTTP/1.1\r\n\r\n";
	_cleanup_buf_ struct buf out = BUF_INIT, big = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(raw(rows[i].text, &out), rows[i].status);
	buf_str(&big, "GET /v1/ping HTTP/1.1\r\n");
	for (int i = 0; i < 20000; i++)
		buf_str(&big, "X: y\r\n");
	assert_int_equal(raw(big.data, &out), 431);
	assert_int_equal(raw_n(head_nul, sizeof(head_nul) - 1, &out), 400);
	/* cut off in the middle: never run, no answer */
	assert_int_equal(
		raw("POST /v1/jobs HTTP/1.1\r\nContent-Length: 50\r\n\r\n{", &out), 0);
	assert_int_equal(raw("GET /v1/pi", &out), 0);
	assert_int_equal(call("GET", "/v1/ping", NULL, &out), 200);
}

static unsigned commits(void)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	assert_int_equal(call("GET", "/v1/doctor", NULL, &out), 200);
	return (unsigned)strtoul(strstr(out.data, "\"text\":\"") + 8, NULL, 10);
}

/* 1000 submissions in one stream: answered in order, and many of them share a commit. */
static void test_pipelined(void **state)
{
	_cleanup_buf_ struct buf in = BUF_INIT, out = BUF_INIT;
	unsigned before = commits(), last = 0, n = 0;
	char body[256];
	pid_t writer;
	int fd = dial(sock);

	(void)state;
	snprintf(body, sizeof(body), JOB, "piped");
	for (int i = 0; i < 1000; i++)
		buf_fmt(&in, "POST /v1/jobs HTTP/1.1\r\nContent-Length: %zu\r\n%s\r\n%s",
			strlen(body), i == 999 ? "Connection: close\r\n" : "", body);
	writer = fork();
	if (writer == 0) {
		send_all(fd, in.data, in.len);
		_exit(0);
	}
	read_all(fd, &out);
	waitpid(writer, NULL, 0);
	close(fd);
	for (const char *p = out.data; (p = strstr(p, "{\"job_id\":")); n++) {
		unsigned id = (unsigned)strtoul(p += 10, NULL, 10);

		assert_true(id > last);
		last = id;
	}
	assert_int_equal(n, 1000);
	assert_true(commits() - before < 500);
	print_message(
		"# 1000 pipelined submissions shared %u commits\n", commits() - before);
}

static void test_byte_by_byte(void **state)
{
	static const char text[] =
		"GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n"
		"POST /v1/services/bytes HTTP/1.1\r\nContent-Length: 15\r\n"
		"Connection: close\r\n\r\n{\"cards\":[\"1\"]}";
	_cleanup_buf_ struct buf out = BUF_INIT;
	int fd = dial(sock);

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		send_all(fd, text + i, 1);
	read_all(fd, &out);
	close(fd);
	assert_non_null(strstr(out.data, "\"cards\":2"));
	assert_non_null(strstr(out.data, "\"name\":\"bytes\""));
}

static void test_continue(void **state)
{
	static const char head[] =
		"POST /v1/services/cont HTTP/1.1\r\nContent-Length: 15\r\n"
		"Expect: 100-continue\r\nConnection: close\r\n\r\n";
	_cleanup_buf_ struct buf out = BUF_INIT;
	char first[64];
	int fd = dial(sock);
	ssize_t n;

	(void)state;
	send_all(fd, head, sizeof(head) - 1);
	n = read(fd, first, sizeof(first) - 1);
	assert_true(n > 0);
	first[n] = '\0';
	assert_string_equal(first, "HTTP/1.1 100 Continue\r\n\r\n");
	send_all(fd, "{\"cards\":[\"1\"]}", 15);
	read_all(fd, &out);
	close(fd);
	assert_non_null(strstr(out.data, " 200 OK"));
}

static long server_kib(void)
{
	char path[64];
	long pages = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)server);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*s %ld", &pages), 1);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Requests are cheap to send and replies are not: they are made as they are read. */
static void test_pipelined_replies_are_bounded(void **state)
{
	_cleanup_buf_ struct buf in = BUF_INIT, out = BUF_INIT, one = BUF_INIT;
	int fd = dial(sock), n = 0;
	long before;

	(void)state;
	assert_int_equal(call("GET", "/v1/openapi.json", NULL, &one), 200);
	assert_true(one.len > 20000);
	before = server_kib();
	for (int i = 0; i < 1000; i++)
		buf_fmt(&in, "GET /v1/openapi.json HTTP/1.1\r\n%s\r\n",
			i == 999 ? "Connection: close\r\n" : "");
	send_all(fd, in.data, in.len);
	assert_int_equal(call("GET", "/v1/ping", NULL, &one), 200);
	assert_true(server_kib() - before < 4096);
	read_all(fd, &out);
	close(fd);
	for (const char *p = out.data; (p = strstr(p, "HTTP/1.1 200")); p++)
		n++;
	assert_int_equal(n, 1000);
}

static void test_long_poll(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT, list = BUF_INIT;
	unsigned id = submit("polled");
	int one = dial(sock), all = dial(sock), gone = dial(sock);
	char text[160], path[64];

	(void)state;
	assert_int_equal(call("GET", "/v1/ping", NULL, &out), 200);
	snprintf(text, sizeof(text),
		"GET /v1/jobs/%u?wait_version=%s&timeout=60 HTTP/1.1\r\nConnection: close\r\n\r\n",
		id, "9000000000000000000");
	send_all(gone, text, strlen(text));
	close(gone);
	snprintf(path, sizeof(path), "/v1/jobs/%u", id);
	call("GET", path, NULL, &out);
	snprintf(text, sizeof(text),
		"GET %s?wait_version=%lu&timeout=60 HTTP/1.1\r\nConnection: close\r\n\r\n",
		path, strtoul(strstr(out.data, "\"version\":") + 10, NULL, 10));
	send_all(one, text, strlen(text));
	snprintf(text, sizeof(text),
		"GET /v1/jobs?fields=state&limit=1&wait_version=%lu HTTP/1.1\r\nConnection: close\r\n\r\n",
		strtoul(strstr(out.data, "\"version\":") + 10, NULL, 10));
	send_all(all, text, strlen(text));
	snprintf(path, sizeof(path), "/v1/jobs/%u/cancel", id);
	assert_int_equal(call("POST", path, NULL, &list), 200);
	buf_reset(&out);
	read_all(one, &out);
	assert_non_null(strstr(out.data, "\"state\":\"CA\""));
	buf_reset(&out);
	read_all(all, &out);
	assert_non_null(strstr(out.data, "[{\"state\":\"CA\"}]"));
	close(one);
	close(all);
	snprintf(path, sizeof(path),
		"/v1/jobs?wait_version=9000000000000000000&timeout=0&limit=1");
	assert_int_equal(call("GET", path, NULL, &out), 200);
}

static void test_disk_full(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	char body[256];

	(void)state;
	snprintf(body, sizeof(body), JOB, "disk-full");
	assert_int_equal(call("POST", "/v1/jobs", body, &out), 507);
	assert_string_equal(out.data,
		"{\"error\":{\"code\":\"ENOSPC\",\"message\":\"store: the disk is full\"}}");
	submit("after-that");
}

static void test_services(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	char path[64];
	unsigned id;

	(void)state;
	assert_int_equal(
		call("PUT", "/v1/services/chat", "{}", &out), 400); /* no cards */
	assert_int_equal(
		call("PUT", "/v1/services/chat",
			"{\"cards\":[\"GPU-aa\",\"1\"],\"reserve_vram\":\"30G\",\"lease\":\"30s\",\"state\":\"idle\"}",
			&out),
		200);
	assert_non_null(strstr(
		out.data, "\"cards\":[0,1],\"reserve_vram_mib\":30720,\"lease_s\":30,"));
	assert_int_equal(
		call("PUT", "/v1/services/chat", "{\"state\":\"busy\"}", &out), 200);
	assert_non_null(strstr(out.data, "\"reserve_vram_mib\":30720"));
	assert_int_equal(call("POST", "/v1/services/chat/renew", NULL, &out), 200);
	assert_int_equal(
		call("POST", "/v1/services/chat/renew", "{\"state\":\"idle\"}", &out),
		200);
	assert_non_null(strstr(out.data, "\"state\":\"idle\""));
	assert_int_equal(call("POST", "/v1/services/nochat/renew", NULL, &out), 404);
	assert_int_equal(
		call("PUT", "/v1/services/-x", "{\"cards\":[\"0\"]}", &out), 400);
	assert_int_equal(
		call("POST", "/v1/reservations",
			"{\"service\":\"chat\",\"in\":\"10s\",\"duration\":\"1h\",\"cards\":[\"a100\"],\"notice\":\"20s\"}",
			&out),
		200);
	id = (unsigned)strtoul(strstr(out.data, "\"reservation_id\":") + 17, NULL, 10);
	assert_int_equal(call("GET", "/v1/services/chat", NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"notice_s\":20,"));
	snprintf(path, sizeof(path), "/v1/reservations/%u", id);
	assert_int_equal(
		call("PUT", path, "{\"duration\":\"2h\",\"repeat\":\"daily\"}", &out),
		200);
	assert_non_null(strstr(out.data, "\"repeat\":\"daily\""));
	assert_int_equal(call("GET", "/v1/reservations", NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"service\":\"chat\""));
	assert_int_equal(call("DELETE", path, NULL, &out), 200);
	assert_int_equal(call("DELETE", path, NULL, &out), 404);
	assert_int_equal(call("DELETE", "/v1/services/chat", NULL, &out), 200);
	assert_int_equal(call("GET", "/v1/services/chat", NULL, &out), 404);
	assert_int_equal(call("DELETE", "/v1/services/other", NULL, &out),
		409); /* from the config */
}

static void test_not_an_operator(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	(void)state;
	assert_int_equal(call_at(sock_plain, "PUT", "/v1/services/mine",
				 "{\"cards\":[\"0\"]}", &out),
		403);
	assert_int_equal(call_at(sock_plain, "PUT", "/v1/services/other",
				 "{\"state\":\"busy\"}", &out),
		403);
	assert_int_equal(
		call_at(sock_plain, "POST", "/v1/services/other/renew", NULL, &out), 403);
	assert_int_equal(call_at(sock_plain, "POST", "/v1/reservations",
				 "{\"service\":\"other\",\"in\":\"1h\"}", &out),
		403);
	assert_int_equal(call_at(sock_plain, "POST", "/v1/reservations",
				 "{\"count\":1,\"in\":\"1h\"}", &out),
		403);
	assert_int_equal(call_at(sock_plain, "POST", "/v1/shutdown", NULL, &out), 403);
	assert_int_equal(call_at(sock_plain, "GET", "/v1/ping", NULL, &out), 200);
	assert_non_null(strstr(out.data, "\"is_operator\":false"));
}

/* More connections than the server may have: the rest waits its turn, nobody is dropped. */
static void test_many_connections(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	int fds[150];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = dial(sock);
		send_all(
			fds[i], "GET /v1/ping HTTP/1.1\r\nConnection: close\r\n\r\n", 44);
	}
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		buf_reset(&out);
		read_all(fds[i], &out);
		assert_non_null(strstr(out.data, " 200 OK"));
		close(fds[i]);
	}
}

static void test_reader_that_does_not_read(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	int fd = dial(sock);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		static const char text[] = "GET /v1/openapi.json HTTP/1.1\r\n\r\n";

		if (send(fd, text, sizeof(text) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
	}
	assert_int_equal(
		call("GET", "/v1/ping", NULL, &out), 200); /* others are served */
	close(fd);
}

static void test_shutdown(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	int status;

	(void)state;
	assert_int_equal(call("POST", "/v1/shutdown", NULL, &out), 200);
	assert_int_equal(waitpid(server, &status, 0), server);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(access(sock, F_OK), -1);
	server = 0;
}

static int group_setup(void **state)
{
	int ready[2];
	char c;

	(void)state;
	if (!mkdtemp(dir) || pipe(ready) < 0)
		return -1;
	snprintf(sock, sizeof(sock), "%s/s", dir);
	snprintf(sock_plain, sizeof(sock_plain), "%s/p", dir);
	server = fork();
	if (server == 0) {
		close(ready[0]);
		serve(ready[1]);
	}
	close(ready[1]);
	return read(ready[0], &c, 1) == 1 ? 0 : -1;
}

static int group_teardown(void **state)
{
	(void)state;
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
		unlink(sock);
		unlink(sock_plain);
	}
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_bad_json),
		cmocka_unit_test(test_bad_http),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_continue),
		cmocka_unit_test(test_pipelined),
		cmocka_unit_test(test_pipelined_replies_are_bounded),
		cmocka_unit_test(test_long_poll),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_services),
		cmocka_unit_test(test_not_an_operator),
		cmocka_unit_test(test_many_connections),
		cmocka_unit_test(test_reader_that_does_not_read),
		cmocka_unit_test(test_shutdown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
