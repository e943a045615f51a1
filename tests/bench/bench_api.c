/* SPDX-License-Identifier: MIT
 * bench_api.c - submissions over one connection: one by one, in arrays, or several under way
 * Speaks HTTP by hand: lib/client waits for each answer, and pipelining is what is measured here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench_queue.h"
#include "client/field.h"

struct conn {
	int fd;
	struct buf in;
	size_t used; /* bytes of in that were answers already taken */
};

static int connect_gqd(void)
{
	const char *path = getenv("GQ_SOCKET");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!path || str_copy(a.sun_path, sizeof(a.sun_path), path) >= sizeof(a.sun_path))
		die("GQ_SOCKET is not set, or too long");
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("%s: %s", path, strerror(errno));
	return fd;
}

static void fill(struct conn *c)
{
	ssize_t n;

	buf_reserve(&c->in, 65536);
	n = read(c->fd, c->in.data + c->in.len, 65535);
	if (n <= 0)
		die("gqd closed the connection: %s", n ? strerror(errno) : "end of file");
	c->in.len += (size_t)n;
	c->in.data[c->in.len] = '\0';
}

/* Takes one answer; it must be a good one. */
static void take_answer(struct conn *c)
{
	const char *head, *end, *length;
	size_t total;

	while (!(end = strstr(buf_c(&c->in) + c->used, "\r\n\r\n")))
		fill(c);
	head = c->in.data + c->used;
	if (strncmp(head, "HTTP/1.1 20", 11) != 0)
		die("not accepted: %.300s", head);
	length = strcasestr(head, "\r\nContent-Length:");
	if (!length || length > end)
		die("an answer without a length: %.200s", head);
	total = (size_t)(end + 4 - head) + strtoul(length + 17, NULL, 10);
	while (c->in.len - c->used < total)
		fill(c);
	if (strstr(c->in.data + c->used, "\"error\""))
		die("not accepted: %.300s", c->in.data + c->used);
	c->used += total;
	if (c->used == c->in.len) {
		buf_reset(&c->in);
		c->used = 0;
	}
}

/* The request that submits @size jobs at once. */
static void make_request(const char *body, size_t len, int size, struct buf *out)
{
	_cleanup_buf_ struct buf json = BUF_INIT;

	if (size > 1) {
		for (int i = 0; i < size; i++) {
			buf_chr(&json, i ? ',' : '[');
			buf_add(&json, body, len);
		}
		buf_chr(&json, ']');
	} else {
		buf_add(&json, body, len);
	}
	buf_fmt(out, "POST /v1/jobs HTTP/1.1\r\nHost: gqd\r\nContent-Type: application/json\r\n"
		     "Content-Length: %zu\r\n\r\n", json.len);
	buf_add(out, json.data, json.len);
}

int cmd_submit(int argc, char **argv)
{
	bool batch = !strcmp(argv[0], "batch"), pipe = !strcmp(argv[0], "pipe");
	int n = number(argv[1]), size = number(argv[2]), under_way = 0;
	int per_request = batch ? size : 1, depth = pipe ? size : 1;
	_cleanup_buf_ struct buf request = BUF_INIT;
	_cleanup_free_ char *body = NULL;
	struct conn c = {.fd = connect_gqd(), .in = BUF_INIT};
	struct gq_err err;
	gq_time begin;
	size_t len;

	(void)argc;
	if (file_read(argv[3], 16u << 20, &body, &len, &err))
		die("%s", err.text);
	make_request(body, len, per_request, &request);
	begin = gq_monotonic();
	for (int sent = 0; sent < n || under_way;) {
		if (sent < n && under_way < depth) {
			if (write_all(c.fd, request.data, request.len))
				die("write: %s", strerror(errno));
			under_way++;
			sent += per_request;
			continue;
		}
		take_answer(&c);
		under_way--;
	}
	printf("%.1f\n", n / ((double)(gq_monotonic() - begin) / GQ_NS_PER_S));
	close(c.fd);
	buf_clear(&c.in);
	return 0;
}

/* A job that failed at once is no fast job. */
static void none_failed(struct client *c)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *list;

	api_get(c, "/v1/jobs?state=F&ended=1&limit=1", &b);
	list = field_find(buf_c(&b), "jobs", NULL);
	if (field_first(list ? list : buf_c(&b)))
		die("a job failed: %.300s", buf_c(&b));
}

int cmd_drain(int argc, char **argv)
{
	gq_time begin = gq_monotonic(), give_up = begin + GQ_SEC(number(argv[0]));
	struct client *c = api_open();

	(void)argc;
	while (api_number(c, "/v1/ping", "jobs_waiting") + api_number(c, "/v1/ping", "jobs_running")) {
		if (gq_monotonic() > give_up)
			die("jobs still wait or run after %s s", argv[0]);
		nap(10);
	}
	printf("%.1f\n", (double)(gq_monotonic() - begin) / GQ_NS_PER_MS);
	none_failed(c);
	client_close(c);
	return 0;
}

int cmd_up(int argc, char **argv)
{
	gq_time begin = gq_monotonic(), give_up = begin + GQ_SEC(number(argv[0]));
	struct client *c = NULL;
	struct gq_err err;

	(void)argc;
	while (client_open(NULL, &c, &err)) {
		if (gq_monotonic() > give_up)
			die("%s", err.text);
		usleep(500);
	}
	printf("%.1f ", (double)(gq_monotonic() - begin) / GQ_NS_PER_MS);
	printf("%lld\n", (long long)api_number(c, "/v1/ping", "jobs_waiting"));
	client_close(c);
	return 0;
}
