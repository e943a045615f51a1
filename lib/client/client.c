/* SPDX-License-Identifier: MIT
 * client.c - connect, send one request, take one answer */
#include "client/client.h"

#include <ctype.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "client/field.h"

#define HEAD_MAX  (64u << 10)
#define BODY_MAX  (64u << 20)
#define READ_STEP (16u << 10)

struct client {
	int fd;           /* -1 = not connected */
	char *path;       /* owned */
	gq_time timeout;
	gq_time deadline; /* of the present call, monotonic */
	struct buf in;    /* bytes of the answer as they came */
	size_t used;      /* bytes of @in that were understood */
};

/* What the head of an answer says about its body. */
struct head {
	int status;
	bool chunked, closes, has_length;
	size_t length;
};

/* ---- the connection ---- */

static void client_drop(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	buf_reset(&c->in);
	c->used = 0;
}

/* connect() waits while the backlog is full; not for ever. */
static int connect_within(int fd, const struct sockaddr_un *sa, gq_time timeout)
{
	struct timeval tv = {.tv_sec = (time_t)(timeout / GQ_NS_PER_S),
		.tv_usec = (suseconds_t)(timeout % GQ_NS_PER_S / 1000)};

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return 0;
}

static int try_connect(const char *path, gq_time timeout, int *ret_fd)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;
	int r;

	if (str_copy(sa.sun_path, sizeof(sa.sun_path), path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = connect_within(fd, &sa, timeout);
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

static int say_no_daemon(const char *path, int code, struct gq_err *err)
{
	if (code == -ETIMEDOUT)
		return gq_err_set(err, code, "gqd at %.100s does not accept connections", path);
	return gq_err_set(err, code,
		"no gqd at %.100s (%s): start it with `systemctl start gqd` or `gqd -c FILE`, "
		"or set GQ_SOCKET", path, strerror(-code));
}

static int client_connect(struct client *c, struct gq_err *err)
{
	int r;

	client_drop(c);
	r = try_connect(c->path, c->timeout, &c->fd);
	return r < 0 ? say_no_daemon(c->path, r, err) : 0;
}

/* The user's own gqd is asked where the machine has none. */
static int client_find(struct client *c, struct gq_err *err)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	_cleanup_free_ char *own = NULL;
	int r = client_connect(c, err);

	if ((r != -ENOENT && r != -ECONNREFUSED) || !dir || dir[0] != '/')
		return r;
	own = xasprintf("%s/gq/gqd.sock", dir);
	if (try_connect(own, c->timeout, &c->fd) < 0)
		return r;
	free(c->path);
	c->path = TAKE_PTR(own);
	return 0;
}

int client_open(const char *path, struct client **ret, struct gq_err *err)
{
	struct client *c = xnew(struct client);
	const char *env = getenv("GQ_SOCKET");
	int r;

	if (!path && env && env[0])
		path = env;
	c->fd = -1;
	c->timeout = GQ_SEC(60);
	c->path = xstrdup(path ? path : GQ_RUNDIR "/gqd.sock");
	r = path ? client_connect(c, err) : client_find(c, err);
	if (r < 0) {
		client_close(c);
		return r;
	}
	*ret = c;
	return 0;
}

struct client *client_close(struct client *c)
{
	if (!c)
		return NULL;
	client_drop(c);
	buf_clear(&c->in);
	free(c->path);
	free(c);
	return NULL;
}

const char *client_socket(const struct client *c)
{
	return c->path;
}

void client_set_timeout(struct client *c, gq_time timeout)
{
	c->timeout = timeout;
}

/* ---- bytes out, bytes in ---- */

static int wait_for(struct client *c, short events)
{
	struct pollfd p = {.fd = c->fd, .events = events};

	for (;;) {
		gq_time left = c->deadline - gq_monotonic();
		int r;

		if (left <= 0)
			return -ETIMEDOUT;
		left = (left + GQ_NS_PER_MS - 1) / GQ_NS_PER_MS;
		r = poll(&p, 1, left > INT_MAX ? INT_MAX : (int)left);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
	}
}

static void iov_skip(struct iovec **v, size_t *n_v, size_t n)
{
	while (*n_v && n >= (*v)->iov_len) {
		n -= (*v)->iov_len;
		(*v)++;
		(*n_v)--;
	}
	if (*n_v) {
		(*v)->iov_base = (char *)(*v)->iov_base + n;
		(*v)->iov_len -= n;
	}
}

/* *ret_any: at least one byte left this process. */
static int send_parts(struct client *c, struct iovec *v, size_t n_v, bool *ret_any)
{
	*ret_any = false;
	while (n_v) {
		struct msghdr m = {.msg_iov = v, .msg_iovlen = n_v};
		ssize_t n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		int r;

		if (n >= 0) {
			*ret_any = *ret_any || n > 0;
			iov_skip(&v, &n_v, (size_t)n);
		} else if (errno == EAGAIN) {
			r = wait_for(c, POLLOUT);
			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* Some more of the answer: bytes read, 0 at its end, -errno. */
static ssize_t recv_more(struct client *c, size_t wish)
{
	if (wish < READ_STEP)
		wish = READ_STEP;
	if (wish > BODY_MAX)
		wish = BODY_MAX;
	for (;;) {
		char *to = buf_reserve(&c->in, wish);
		int r = wait_for(c, POLLIN);
		ssize_t n;

		if (r < 0)
			return r;
		n = recv(c->fd, to, wish, MSG_DONTWAIT);
		if (n >= 0) {
			c->in.len += (size_t)n;
			c->in.data[c->in.len] = '\0';
			return n;
		}
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
}

/* ---- the answer ---- */

static int head_field(struct head *h, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len), *value, *end = line + len;
	size_t name_len;

	if (!colon)
		return -EPROTO;
	name_len = (size_t)(colon - line);
	for (value = colon + 1; value < end && isblank((unsigned char)*value); value++)
		;
	if (name_len == 14 && !strncasecmp(line, "Content-Length", 14)) {
		if (value == end || !isdigit((unsigned char)*value) || end - value > 18)
			return -EPROTO;
		h->has_length = true;
		h->length = strtoull(value, NULL, 10);
	} else if (name_len == 17 && !strncasecmp(line, "Transfer-Encoding", 17)) {
		h->chunked = end - value >= 7 && !strncasecmp(value, "chunked", 7);
		return h->chunked ? 0 : -EPROTO;
	} else if (name_len == 10 && !strncasecmp(line, "Connection", 10)) {
		h->closes = end - value >= 5 && !strncasecmp(value, "close", 5);
	}
	return 0;
}

/* @text begins with the status line and ends before the empty line. */
static int head_parse(const char *text, const char *end, struct head *ret)
{
	const char *line = memchr(text, '\n', (size_t)(end - text));
	struct head h = {0};

	if (end - text < 12 || memcmp(text, "HTTP/1.", 7) || text[8] != ' ')
		return -EPROTO;
	for (int i = 9; i < 12; i++) {
		if (!isdigit((unsigned char)text[i]))
			return -EPROTO;
		h.status = h.status * 10 + (text[i] - '0');
	}
	h.closes = text[7] == '0';
	while (line && ++line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		const char *stop = next ? next : end;
		size_t len = (size_t)(stop - line);

		if (len && line[len - 1] == '\r')
			len--;
		if (len && head_field(&h, line, len) < 0)
			return -EPROTO;
		line = next;
	}
	*ret = h;
	return 0;
}

/* Reads until the empty line; answers of the 1xx kind are skipped. */
static int read_head(struct client *c, struct head *ret)
{
	for (;;) {
		char *from = c->in.data ? c->in.data + c->used : NULL;
		char *end = from ? strstr(from, "\r\n\r\n") : NULL;
		ssize_t n;
		int r;

		if (end) {
			r = head_parse(from, end, ret);
			if (r < 0)
				return r;
			c->used = (size_t)(end + 4 - c->in.data);
			if (ret->status >= 200)
				return 0;
			continue;
		}
		if (c->in.len - c->used > HEAD_MAX)
			return -EPROTO;
		n = recv_more(c, 0);
		if (n <= 0)
			return n < 0 ? (int)n : -ECONNRESET;
	}
}

/* Makes sure that @n bytes behind c->used have come. */
static int need(struct client *c, size_t n)
{
	if (n > BODY_MAX || c->used > BODY_MAX + HEAD_MAX)
		return -EMSGSIZE;
	while (c->in.len - c->used < n) {
		ssize_t r = recv_more(c, n - (c->in.len - c->used));

		if (r <= 0)
			return r < 0 ? (int)r : -ECONNRESET;
	}
	return 0;
}

/* One line of the chunked form, without its end, at *ret; it is used up. */
static int chunk_line(struct client *c, size_t *ret_at)
{
	size_t from = c->used;

	for (;;) {
		char *nl = memchr(c->in.data + from, '\n', c->in.len - from);
		ssize_t r;

		if (nl) {
			*ret_at = from;
			c->used = (size_t)(nl + 1 - c->in.data);
			return 0;
		}
		if (c->in.len - from > HEAD_MAX)
			return -EPROTO;
		r = recv_more(c, 0);
		if (r <= 0)
			return r < 0 ? (int)r : -ECONNRESET;
	}
}

static int read_chunked(struct client *c, struct buf *ret_body)
{
	for (;;) {
		unsigned long long n;
		size_t at;
		int r = chunk_line(c, &at);

		if (r < 0)
			return r;
		if (!isxdigit((unsigned char)c->in.data[at]))
			return -EPROTO;
		n = strtoull(c->in.data + at, NULL, 16);
		if (n == 0)
			break;
		if (n > BODY_MAX || ret_body->len + n > BODY_MAX)
			return -EMSGSIZE;
		r = need(c, n + 2);
		if (r < 0)
			return r;
		buf_add(ret_body, c->in.data + c->used, n);
		c->used += n + 2;
	}
	for (;;) { /* trailers, up to an empty line */
		size_t at;
		int r = chunk_line(c, &at);

		if (r < 0)
			return r;
		if (c->in.data[at] == '\r' || c->in.data[at] == '\n')
			return 0;
	}
}

static int read_to_end(struct client *c, struct buf *ret_body)
{
	ssize_t n;

	do {
		if (c->in.len > BODY_MAX)
			return -EMSGSIZE;
		n = recv_more(c, 0);
	} while (n > 0);
	if (n == 0)
		buf_add(ret_body, c->in.data + c->used, c->in.len - c->used);
	c->used = c->in.len;
	return (int)n;
}

static int read_answer(struct client *c, int *ret_status, struct buf *ret_body)
{
	struct head h = {0};
	int r = read_head(c, &h);

	if (r < 0)
		return r;
	*ret_status = h.status;
	if (h.chunked) {
		r = read_chunked(c, ret_body);
	} else if (h.has_length) {
		r = need(c, h.length);
		if (r == 0) {
			buf_add(ret_body, c->in.data + c->used, h.length);
			c->used += h.length;
		}
	} else if (h.status != 204 && h.status != 304) {
		r = read_to_end(c, ret_body);
		h.closes = true;
	}
	if (r == 0 && h.closes)
		client_drop(c);
	return r;
}

/* ---- one call ---- */

static int exchange(struct client *c, const struct buf *head, const void *body, size_t len,
	bool *ret_sent, int *ret_status, struct buf *ret_body)
{
	struct iovec v[2] = {{head->data, head->len}, {(void *)(uintptr_t)body, len}};
	int r;

	buf_reset(&c->in);
	c->used = 0;
	buf_reset(ret_body);
	r = send_parts(c, v, len ? 2 : 1, ret_sent);
	/* A server that refuses a request early answers and closes: its answer is still there. */
	if (r < 0 && !(*ret_sent && (r == -EPIPE || r == -ECONNRESET)))
		return r;
	return read_answer(c, ret_status, ret_body);
}

static int say_refusal(int status, const struct buf *body, struct gq_err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *at = field_find(buf_c(body), "error", "message", NULL);

	if (at && field_text(at, &text) == 0 && text.len)
		return gq_err_set(err, -EREMOTEIO, "%s", buf_c(&text));
	return gq_err_set(err, -EREMOTEIO, "gqd answered with HTTP status %d", status);
}

static int say_transport(const struct client *c, int code, struct gq_err *err)
{
	if (code == -ETIMEDOUT)
		return gq_err_set(err, code, "gqd at %.100s did not answer within %lld s", c->path,
			(long long)(c->timeout / GQ_NS_PER_S));
	if (code == -EPROTO)
		return gq_err_set(err, code, "what answers at %.100s is not gqd: no HTTP", c->path);
	if (code == -EMSGSIZE)
		return gq_err_set(err, code, "the answer of gqd is larger than %u MiB",
			BODY_MAX >> 20);
	return gq_err_set(err, code, "gqd at %.100s closed the connection (%s)", c->path,
		strerror(-code));
}

int client_call(struct client *c, const char *method, const char *path, const void *body, size_t len,
	int *ret_status, struct buf *ret_body, struct gq_err *err)
{
	_cleanup_buf_ struct buf head = BUF_INIT;
	bool fresh = c->fd < 0, sent = false, read_only = !strcmp(method, "GET");
	int status = 0, r;

	buf_fmt(&head, "%s %s HTTP/1.1\r\nHost: gqd\r\n", method, path);
	if (body || !read_only)
		buf_fmt(&head, "Content-Type: application/json\r\nContent-Length: %zu\r\n", len);
	buf_str(&head, "\r\n");
	r = fresh ? client_connect(c, err) : 0;
	if (r < 0)
		return r;
	c->deadline = c->timeout == GQ_NEVER ? GQ_NEVER : gq_monotonic() + c->timeout;
	r = exchange(c, &head, body, len, &sent, &status, ret_body);
	/* The kept connection was closed meanwhile: once more, where that cannot do a thing twice. */
	if (!fresh && (r == -EPIPE || r == -ECONNRESET) && (!sent || read_only)) {
		r = client_connect(c, err);
		if (r < 0)
			return r;
		r = exchange(c, &head, body, len, &sent, &status, ret_body);
	}
	if (r < 0) {
		client_drop(c);
		return say_transport(c, r, err);
	}
	*ret_status = status;
	return status >= 200 && status < 300 ? 0 : say_refusal(status, ret_body, err);
}

void client_quote(const char *text, struct buf *out)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (isalnum(*p) || strchr("-._~", *p))
			buf_chr(out, (char)*p);
		else
			buf_fmt(out, "%%%02X", *p);
	}
}
