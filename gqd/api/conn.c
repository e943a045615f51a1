/* SPDX-License-Identifier: MIT
 * conn.c - one connection */
#include "conn.h"

#include <assert.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "gqd/loop.h"
#include "http.h"

#define READ_CHUNK   (64u << 10)
#define BIG_BODY     (64u << 10) /* larger ones are sent from where they were written */
#define SPARE_MAX    (4u << 20)
#define OUT_MAX      (256u << 10) /* unread output above this: nothing more is parsed */
#define REQS_MAX     256
#define USER_BYTES   (64u << 20) /* buffered for all connections of a user */
#define IDLE_WAIT    GQ_SEC(60)
#define REQUEST_WAIT GQ_SEC(10)
#define WRITE_WAIT   GQ_SEC(30)
#define DRAIN_WAIT   GQ_SEC(2)

static void conn_readable(void *ctx);
static void conn_writable(void *ctx);

struct conn *conn_new(
	struct api *api, int fd, const struct api_peer *peer, struct usage *usage)
{
	struct conn *c = xnew(struct conn);

	c->api = api;
	c->fd = fd;
	c->peer = *peer;
	c->usage = usage;
	c->last = &c->first;
	c->deadline = gq_monotonic() + IDLE_WAIT;
	c->reading = loop_watch_fd(api->loop, fd, conn_readable, c);
	return c;
}

struct conn *conn_free(struct conn *c)
{
	while (c->first) {
		struct req *q = c->first;

		c->first = q->next;
		req_free(q);
	}
	c->usage->bytes -= c->counted;
	loop_unwatch(c->reading);
	loop_unwatch(c->writing);
	close(c->fd);
	buf_clear(&c->in);
	buf_clear(&c->out);
	buf_clear(&c->big);
	free((void *)c->peer.groups);
	api_conn_gone(c->api, c);
	free(c);
	return NULL;
}

/* Empties; idle connections keep only a little memory. */
static void shrink(struct buf *b)
{
	if (b->cap > 4096)
		buf_clear(b);
	else
		buf_reset(b);
}

static size_t unsent(const struct conn *c)
{
	return c->out.len - c->out_at + c->big.len - c->big_at;
}

/* Replies that are written and not yet in the output. */
static size_t waiting(const struct conn *c)
{
	size_t n = 0;

	for (const struct req *q = c->first; q; q = q->next)
		n += q->reply.len;
	return n;
}

void conn_count(struct conn *c)
{
	size_t now = c->in.cap + c->out.cap + c->big.cap + waiting(c);

	c->usage->bytes += now - c->counted;
	c->counted = now;
}

bool conn_user_is_full(const struct conn *c)
{
	return c->usage->bytes > USER_BYTES;
}

/* --- replies ------------------------------------------------------------------------------- */

static void write_head(struct conn *c, const struct req *q)
{
	buf_fmt(&c->out,
		"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n",
		q->status, http_status_text(q->status), q->reply.len);
	if (q->allow[0])
		buf_fmt(&c->out, "Allow: %s\r\n", q->allow);
	if (q->version)
		buf_fmt(&c->out, "GQ-Version: %llu\r\n", (unsigned long long)q->version);
	buf_str(&c->out, q->keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
}

/* Moves ready replies, in order, to the output; a large body keeps its own buffer. */
static void take_ready(struct conn *c)
{
	while (c->first && c->first->state == REQ_READY && c->big.len == 0) {
		struct req *q = c->first;

		c->first = q->next;
		if (!c->first)
			c->last = &c->first;
		c->n_reqs--;
		write_head(c, q);
		if (q->reply.len >= BIG_BODY) {
			c->big = q->reply;
			q->reply = (struct buf)BUF_INIT;
		} else {
			buf_add(&c->out, buf_c(&q->reply), q->reply.len);
		}
		if (!q->keep_alive)
			c->closing = true;
		req_free(q);
	}
}

static void recycle(struct conn *c)
{
	if (c->big.cap > c->api->spare.cap && c->big.cap <= SPARE_MAX) {
		struct buf old = c->api->spare;

		c->api->spare = c->big;
		buf_reset(&c->api->spare);
		c->big = old;
	}
	buf_clear(&c->big);
	c->big_at = 0;
}

/* 1 = all is sent, 0 = the socket is full, < 0 = the peer is gone. */
static int send_out(struct conn *c)
{
	while (unsent(c)) {
		struct iovec parts[2] = {
			{c->out.data + c->out_at, c->out.len - c->out_at},
			{c->big.data + c->big_at, c->big.len - c->big_at},
		};
		bool skip = parts[0].iov_len == 0;
		ssize_t n = writev(c->fd, parts + skip,
			skip               ? 1
			: parts[1].iov_len ? 2
					   : 1);
		size_t from_out;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		c->deadline = gq_monotonic() + WRITE_WAIT;
		from_out = (size_t)n < parts[0].iov_len ? (size_t)n : parts[0].iov_len;
		c->out_at += from_out;
		c->big_at += (size_t)n - from_out;
	}
	shrink(&c->out);
	c->out_at = 0;
	if (c->big.len)
		recycle(c);
	return 1;
}

static void want_reading(struct conn *c, bool want)
{
	if (want && !c->reading)
		c->reading = loop_watch_fd(c->api->loop, c->fd, conn_readable, c);
	else if (!want && c->reading)
		c->reading = loop_unwatch(c->reading);
}

static void want_writing(struct conn *c, bool want)
{
	if (want && !c->writing)
		c->writing = loop_watch_write(c->api->loop, c->fd, conn_writable, c);
	else if (!want && c->writing)
		c->writing = loop_unwatch(c->writing);
}

/* All was said: what the peer still sends is thrown away for a moment, so that it can read the
 * last reply before it meets a closed socket. */
static bool start_drain(struct conn *c)
{
	if (shutdown(c->fd, SHUT_WR) < 0)
		return false;
	buf_clear(&c->in);
	c->deadline = gq_monotonic() + DRAIN_WAIT;
	c->request_since = 0;
	want_writing(c, false);
	want_reading(c, true);
	return true;
}

static bool is_draining(const struct conn *c)
{
	return c->closing && !c->first && !unsent(c);
}

static bool is_full(const struct conn *c)
{
	return c->n_reqs >= REQS_MAX || unsent(c) + waiting(c) > OUT_MAX;
}

void conn_pump(struct conn *c)
{
	int r;

	do {
		take_ready(c);
		r = send_out(c);
		if (r < 0) {
			conn_free(c);
			return;
		}
	} while (r > 0 && c->first && c->first->state == REQ_READY);
	conn_count(c);
	if (is_draining(c)) {
		if (!start_drain(c))
			conn_free(c);
		return;
	}
	want_writing(c, r == 0);
	want_reading(c, !c->closing && !is_full(c));
	if (c->backlog && !is_full(c))
		loop_timer_at(c->api->resume, 0);
}

static void conn_writable(void *ctx)
{
	conn_pump(ctx);
}

/* --- requests ------------------------------------------------------------------------------ */

static struct req *add_req(struct conn *c)
{
	struct req *q = xnew(struct req);

	q->api = c->api;
	q->conn = c;
	q->status = 200;
	*c->last = q;
	c->last = &q->next;
	c->n_reqs++;
	return q;
}

/* The bytes cannot be trusted to be requests any more: one last reply. */
static void refuse(struct conn *c, int status, const char *text)
{
	struct req *q = add_req(c);

	q->keep_alive = false;
	req_error(q, status,
		status == 408   ? "ETIMEDOUT"
		: status == 503 ? "EAGAIN"
				: "EBADMSG",
		text);
	c->closing = true;
	c->request_since = 0;
	buf_clear(&c->in);
	c->scanned = 0;
}

static void run_request(struct conn *c, const struct http_head *h, char *body)
{
	struct req *q = add_req(c);
	char behind = body[h->body_len];

	str_copy(q->method, sizeof(q->method), h->method);
	q->query = xstrdup(h->query);
	q->keep_alive = h->keep_alive;
	q->body = body;
	q->body_len = h->body_len;
	body[h->body_len] = '\0';
	route_dispatch(q, h->path);
	body[h->body_len] = behind;
	q->body = NULL;
	assert(q->state != REQ_OPEN);
	if (!q->keep_alive)
		c->closing = true;
}

/* One request of in + at: bytes used, 0 = more must come (or nothing more is read). */
static size_t parse_one(struct conn *c, size_t at)
{
	size_t left = c->in.len - at, head;
	const char *text;
	struct http_head h;
	_cleanup_free_ char *copy = NULL;
	int r;

	head = http_head_end(
		c->in.data + at, left < HTTP_HEAD_MAX ? left : HTTP_HEAD_MAX, c->scanned);
	if (head == 0) {
		c->scanned = left;
		if (left >= HTTP_HEAD_MAX)
			refuse(c, 431, "the head of the request is larger than 16 KiB");
		return 0;
	}
	/* Parsing changes the head, and it may be looked at again before its body is whole. */
	copy = xmalloc(head + 1);
	memcpy(copy, c->in.data + at, head);
	copy[head] = '\0';
	r = http_parse_head(copy, head, &h, &text);
	if (r) {
		refuse(c, r, text);
		return 0;
	}
	if (left - head < h.body_len) {
		c->scanned = head - 1;
		if (h.expect_continue && !c->continued && !c->first && !unsent(c)) {
			buf_str(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
			c->continued = true;
		}
		return 0;
	}
	run_request(c, &h, c->in.data + at + head);
	c->scanned = 0;
	c->continued = false;
	return head + h.body_len;
}

static void parse_requests(struct conn *c)
{
	size_t at = 0, used;

	c->backlog = false;
	while (at < c->in.len && !c->closing) {
		c->backlog = is_full(c);
		used = c->backlog ? 0 : parse_one(c, at);
		if (used == 0)
			break;
		at += used;
	}
	if (c->closing || at == c->in.len) {
		shrink(&c->in);
		c->request_since = 0;
		return;
	}
	if (at) {
		memmove(c->in.data, c->in.data + at, c->in.len - at + 1);
		c->in.len -= at;
		c->request_since = 0;
	}
	if (!c->request_since)
		c->request_since = gq_monotonic();
}

void conn_resume(struct conn *c)
{
	if (!c->backlog || c->closing || is_full(c))
		return;
	parse_requests(c);
	conn_pump(c);
}

/* The peer sends no more. Long polls have nobody to answer to; the other replies still go out. */
static void read_end(struct conn *c)
{
	for (struct req *q = c->first; q; q = q->next) {
		if (q->state == REQ_PARKED) {
			conn_free(c);
			return;
		}
	}
	if (!c->first && !unsent(c)) {
		conn_free(c);
		return;
	}
	c->closing = true; /* also a request that was not whole is never run */
	want_reading(c, false);
}

static void conn_readable(void *ctx)
{
	static char chunk[READ_CHUNK]; /* one for all: idle connections cost no buffer */
	struct conn *c = ctx;
	ssize_t n;

	n = read(c->fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		conn_free(c);
		return;
	}
	if (n == 0) {
		read_end(c);
		return;
	}
	if (is_draining(c))
		return;
	buf_add(&c->in, chunk, (size_t)n);
	c->deadline = gq_monotonic() + IDLE_WAIT;
	conn_count(c);
	if (conn_user_is_full(c))
		refuse(c, 503,
			"too much is buffered for your user: read your replies, then try again");
	else
		parse_requests(c);
	conn_pump(c);
}

void conn_sweep(struct conn *c, gq_time now)
{
	if (c->request_since && !c->closing && !c->backlog &&
		now > c->request_since + REQUEST_WAIT) {
		refuse(c, 408, "the request was not whole 10 s after its first byte");
		conn_pump(c);
		return;
	}
	if (c->first && !unsent(c))
		return; /* it is we who let it wait */
	if (now > c->deadline)
		conn_free(c);
}
