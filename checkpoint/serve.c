/* SPDX-License-Identifier: MIT
 * serve.c - one loop over criu's socket, the decoders and the pipes that are full
 * Each file has its row of pieces under way; every file may always have one, so no reader waits
 * for another. */
#include "serve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/mem.h"
#include "fetch.h"
#include "wire.h"

#define PIPE_BYTES (1 << 20)

struct outlet {
	int fd; /* -1: criu does not want the rest */
	const struct gqi_file *file;
	uint32_t next_frame;
	struct piece *first, *last; /* in order */
	unsigned ahead;             /* pieces in that row */
	size_t written;             /* of the first */
	struct outlet *next;
};

struct serve {
	const struct gqi *image; /* borrowed */
	struct fetch *fetch;     /* owned */
	int epoll_fd, listen_fd, client_fd;
	bool over; /* criu closed its socket */
	struct outlet *outlets; /* owned list */
	unsigned n_outlets;
};

/* epoll's data: these, or an outlet */
static char for_listen, for_client, for_fetch;

static int watch(struct serve *s, int fd, unsigned events, void *what)
{
	struct epoll_event e = {.events = events, .data.ptr = what};

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static void refill(struct serve *s, struct outlet *o)
{
	unsigned share = fetch_size(s->fetch) / s->n_outlets;

	if (o->fd < 0)
		return;
	while (o->next_frame < o->file->n && (o->ahead == 0 || o->ahead < share)) {
		struct piece *p = fetch_begin(s->fetch, &o->file->frames[o->next_frame], o->ahead == 0);

		if (!p)
			return;
		if (o->first)
			o->last->next = p;
		else
			o->first = p;
		o->last = p;
		o->next_frame++;
		o->ahead++;
	}
}

static void outlet_shut(struct outlet *o)
{
	if (o->fd >= 0)
		close(TAKE_FD(o->fd));
}

static void first_release(struct serve *s, struct outlet *o)
{
	struct piece *p = o->first;

	o->first = p->next;
	o->ahead--;
	o->written = 0;
	fetch_release(s->fetch, p);
}

/* 1 the first piece is out, 0 the pipe is full, or an error. */
static int first_write(const struct serve *s, struct outlet *o, struct gq_err *err)
{
	struct piece *p = o->first;
	int r = gq_fault("stream.serve");

	if (r < 0)
		return gq_err_sys(err, r, "%s: read of %s", s->image->path, o->file->name);
	if (p->result < 0) {
		*err = p->err;
		return p->result;
	}
	while (o->fd >= 0 && o->written < p->frame->raw_n) {
		ssize_t n = write(o->fd, p->data + o->written, p->frame->raw_n - o->written);

		if (n > 0)
			o->written += (size_t)n;
		else if (errno == EAGAIN)
			return 0;
		else if (errno == EPIPE)
			outlet_shut(o);
		else if (errno != EINTR)
			return gq_err_sys(err, -errno, "pipe of %s", o->file->name);
	}
	return 1;
}

/* Writes what is ready and fits. *ret_end: nothing is left of it. */
static int pump(struct serve *s, struct outlet *o, bool *ret_end, struct gq_err *err)
{
	*ret_end = false;
	while (o->first && atomic_load_explicit(&o->first->done, memory_order_acquire)) {
		int r = first_write(s, o, err);

		if (r <= 0)
			return r;
		first_release(s, o);
		refill(s, o);
	}
	*ret_end = !o->first && (o->fd < 0 || o->next_frame == o->file->n);
	return 0;
}

static int pump_all(struct serve *s, struct gq_err *err)
{
	for (struct outlet **at = &s->outlets; *at;) {
		struct outlet *o = *at;
		bool ended;
		int r = pump(s, o, &ended, err);

		if (r < 0)
			return r;
		if (!ended) {
			refill(s, o);
			at = &o->next;
			continue;
		}
		*at = o->next;
		outlet_shut(o);
		free(o);
		s->n_outlets--;
	}
	return 0;
}

static int outlet_new(struct serve *s, int fd, const struct gqi_file *file)
{
	struct outlet *o = xnew(struct outlet);

	o->fd = fd;
	o->file = file;
	o->next = s->outlets;
	s->outlets = o;
	s->n_outlets++;
	fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); /* else it stays small */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	refill(s, o);
	return watch(s, fd, EPOLLOUT | EPOLLET, o);
}

static int client_read(struct serve *s, struct gq_err *err)
{
	char name[GQI_NAME_MAX + 1];
	const struct gqi_file *file;
	int r = wire_read_name(s->client_fd, name), fd;

	if (r == 0 || r == -ECONNRESET) {
		close(TAKE_FD(s->client_fd));
		s->over = true;
		return 0;
	}
	if (r < 0)
		return gq_err_sys(err, r, "request of criu");
	file = gqi_find(s->image, name);
	r = wire_send_exists(s->client_fd, file);
	if (r < 0 || !file)
		return r == -EPIPE ? 0 : r; /* then the end is next */
	fd = wire_recv_fd(s->client_fd);
	if (fd < 0)
		return gq_err_sys(err, fd, "pipe for %s", name);
	r = outlet_new(s, fd, file);
	return r < 0 ? gq_err_sys(err, r, "pipe for %s", name) : 0;
}

static int accept_client(struct serve *s)
{
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return errno == EAGAIN || errno == ECONNABORTED ? 0 : -errno;
	if (s->client_fd >= 0 || s->over) {
		close(fd);
		return 0;
	}
	s->client_fd = fd;
	return watch(s, fd, EPOLLIN, &for_client);
}

static int act(struct serve *s, void *what, struct gq_err *err)
{
	uint64_t n;
	ssize_t r;

	if (what == &for_listen)
		return accept_client(s);
	if (what == &for_client)
		return client_read(s, err);
	if (what == &for_fetch) {
		r = read(fetch_fd(s->fetch), &n, sizeof(n));
		(void)r; /* only to be told again */
	}
	return 0; /* a pipe has room: pump_all() is next */
}

int serve_run(struct serve *s, struct gq_err *err)
{
	struct epoll_event events[16];
	int r;

	while (!s->over || s->outlets) {
		int n = epoll_wait(s->epoll_fd, events, (int)ARRAY_LEN(events), -1);

		if (n < 0 && errno != EINTR)
			return gq_err_sys(err, -errno, "epoll");
		for (int i = 0; i < n; i++) {
			r = act(s, events[i].data.ptr, err);
			if (r < 0)
				return r;
		}
		r = pump_all(s, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int serve_new(const struct gqi *g, int listen_fd, unsigned workers, struct serve **ret,
	struct gq_err *err)
{
	struct serve *s = xnew(struct serve);
	int r;

	s->image = g;
	s->listen_fd = listen_fd;
	s->client_fd = -1;
	s->fetch = fetch_new(g, workers);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r = watch(s, listen_fd, EPOLLIN, &for_listen);
	if (!r)
		r = watch(s, fetch_fd(s->fetch), EPOLLIN, &for_fetch);
	if (r < 0) {
		serve_free(s);
		return gq_err_sys(err, r, "epoll");
	}
	*ret = s;
	return 0;
}

struct serve *serve_free(struct serve *s)
{
	if (!s)
		return NULL;
	fetch_free(s->fetch);
	while (s->outlets) {
		struct outlet *o = s->outlets;

		s->outlets = o->next;
		outlet_shut(o);
		free(o);
	}
	close(s->epoll_fd);
	if (s->client_fd >= 0)
		close(s->client_fd);
	free(s);
	return NULL;
}
