/* SPDX-License-Identifier: MIT
 * capture.c - one loop over criu's socket, the gate and every open pipe
 * Criu opens dozens of small files for the whole of a dump and fills few large ones one after the
 * other, so a file has a small buffer of its own and takes a slot only when it outgrows that. */
#include "capture.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "base/mem.h"
#include "squeeze.h"
#include "wire.h"

#define SMALL_MAX  (64u << 10)
#define PIPE_BYTES (1 << 20)
#define HELD_MAX   (SQUEEZE_SLOTS - 1)

struct inlet {
	int fd;
	uint32_t file, seq;
	struct buf small;  /* until it is longer than SMALL_MAX */
	struct slot *slot; /* owned until it is put; frame.raw_n bytes are in it */
	struct inlet *prev, *next;
};

struct capture {
	struct capture_order order;
	struct gqi_writer *writer; /* owned */
	struct squeeze *squeeze;   /* owned */
	int epoll_fd, client_fd, gate_fd;
	struct inlet *inlets; /* owned list */
	unsigned held;        /* inlets that have a slot */
	bool commit;
	char manifest[CAPTURE_MANIFEST_MAX];
};

/* epoll's data: these, or an inlet */
static char for_listen, for_client, for_gate_listen, for_gate;

static int watch(struct capture *c, int fd, void *what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static void slot_put(struct capture *c, struct inlet *in)
{
	in->slot->frame.file = in->file;
	in->slot->frame.seq = in->seq++;
	squeeze_put(c->squeeze, TAKE_PTR(in->slot));
	c->held--;
}

/* When files hold all slots none would ever be free: the fullest one ends its chunk early. */
static void slot_squeeze_out(struct capture *c)
{
	struct inlet *full = NULL;

	if (c->held < HELD_MAX)
		return;
	for (struct inlet *in = c->inlets; in; in = in->next)
		if (in->slot && (!full || in->slot->frame.raw_n > full->slot->frame.raw_n))
			full = in;
	slot_put(c, full);
}

/* Gives the inlet a slot, and moves into it what was read so far. */
static int slot_take(struct capture *c, struct inlet *in)
{
	slot_squeeze_out(c);
	in->slot = squeeze_slot(c->squeeze);
	if (!in->slot)
		return -EIO; /* squeeze_end() says why */
	c->held++;
	if (in->small.len)
		memcpy(in->slot->raw, in->small.data, in->small.len);
	in->slot->frame.raw_n = (uint32_t)in->small.len;
	buf_clear(&in->small);
	return 0;
}

static int inlet_new(struct capture *c, int fd, const char *name)
{
	struct inlet *in = xnew(struct inlet);

	in->fd = fd;
	in->file = gqi_writer_file(c->writer, name);
	in->next = c->inlets;
	if (in->next)
		in->next->prev = in;
	c->inlets = in;
	fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); /* else it stays small */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return watch(c, fd, in);
}

static void inlet_free(struct capture *c, struct inlet *in)
{
	if (in->prev)
		in->prev->next = in->next;
	else
		c->inlets = in->next;
	if (in->next)
		in->next->prev = in->prev;
	epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, in->fd, NULL); /* criu may hold it open a little longer */
	close(in->fd);
	buf_clear(&in->small);
	free(in);
}

static int inlet_end(struct capture *c, struct inlet *in)
{
	int r = 0;

	if (in->small.len)
		r = slot_take(c, in);
	if (!r && in->slot)
		slot_put(c, in);
	inlet_free(c, in);
	return r;
}

static ssize_t inlet_fill(struct inlet *in, int available)
{
	ssize_t n;

	if (in->slot) {
		n = read(in->fd, in->slot->raw + in->slot->frame.raw_n, GQI_CHUNK - in->slot->frame.raw_n);
		if (n > 0)
			in->slot->frame.raw_n += (uint32_t)n;
		return n;
	}
	n = read(in->fd, buf_reserve(&in->small, (size_t)available + 1), (size_t)available + 1);
	if (n > 0)
		in->small.len += (size_t)n;
	return n;
}

static int inlet_read(struct capture *c, struct inlet *in)
{
	int available = 0, r;
	ssize_t n;

	if (!in->slot) {
		ioctl(in->fd, FIONREAD, &available);
		if (in->small.len + (size_t)available >= SMALL_MAX) {
			r = slot_take(c, in);
			if (r < 0)
				return r;
		}
	}
	n = inlet_fill(in, available);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return inlet_end(c, in);
	if (in->slot && in->slot->frame.raw_n == GQI_CHUNK)
		slot_put(c, in);
	return 0;
}

/* The end of criu's socket decides only where there is no gate. */
static void client_gone(struct capture *c)
{
	close(TAKE_FD(c->client_fd));
	if (c->order.gate_fd < 0)
		c->commit = true;
}

static int client_read(struct capture *c)
{
	char name[GQI_NAME_MAX + 1];
	int r = wire_read_name(c->client_fd, name), fd;

	if (r == 0 || r == -ECONNRESET) {
		client_gone(c);
		return 0;
	}
	if (r < 0)
		return r;
	fd = wire_recv_fd(c->client_fd);
	return fd < 0 ? fd : inlet_new(c, fd, name);
}

static int gate_read(struct capture *c)
{
	char packet[CAPTURE_MANIFEST_MAX];
	int fd = -1;
	ssize_t n = wire_recv_packet(c->gate_fd, packet, sizeof(packet), &fd);

	if (n == 0)
		return -EPIPE; /* a gate that died: criu lets the job go on */
	if (n < 0)
		return (int)n;
	if (packet[0] == 'F' && fd >= 0 && gqi_name_ok(packet + 1))
		return inlet_new(c, fd, packet + 1);
	if (packet[0] != 'C')
		return -EBADMSG;
	str_copy(c->manifest, sizeof(c->manifest), packet + 1);
	c->commit = true;
	return epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, c->gate_fd, NULL) < 0 ? -errno : 0;
}

static int accept_one(struct capture *c, int listen_fd, int *ret_fd, void *what)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return errno == EAGAIN || errno == ECONNABORTED ? 0 : -errno;
	if (*ret_fd >= 0) { /* one criu and one gate per image */
		close(fd);
		return 0;
	}
	*ret_fd = fd;
	return watch(c, fd, what);
}

static int act(struct capture *c, void *what)
{
	if (what == &for_listen)
		return accept_one(c, c->order.listen_fd, &c->client_fd, &for_client);
	if (what == &for_gate_listen)
		return accept_one(c, c->order.gate_fd, &c->gate_fd, &for_gate);
	if (what == &for_client)
		return client_read(c);
	if (what == &for_gate)
		return gate_read(c);
	return inlet_read(c, what);
}

static bool client_quiet(const struct capture *c)
{
	struct pollfd p = {c->client_fd, POLLIN, 0};

	return c->client_fd < 0 || poll(&p, 1, 0) <= 0;
}

/* Until the image shall be finished and all that criu wrote before has been read. */
static int take_in(struct capture *c)
{
	struct epoll_event events[16];
	int r = 0;

	while (!(c->commit && !c->inlets && client_quiet(c))) {
		int n = epoll_wait(c->epoll_fd, events, (int)ARRAY_LEN(events), -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n; i++) {
			r = act(c, events[i].data.ptr);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int finish(struct capture *c, struct gq_err *err)
{
	int r = squeeze_end(c->squeeze, err);

	if (r < 0)
		return r;
	r = gqi_writer_end(c->writer, c->manifest, err);
	if (r < 0)
		return r;
	r = gq_fault("stream.synced");
	return r < 0 ? gq_err_sys(err, r, "%s", c->order.image.path) : 0;
}

int capture_new(const struct capture_order *o, struct capture **ret, struct gq_err *err)
{
	struct capture *c = xnew(struct capture);
	int r;

	c->order = *o;
	c->client_fd = c->gate_fd = -1;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r = watch(c, o->listen_fd, &for_listen);
	if (!r && o->gate_fd >= 0)
		r = watch(c, o->gate_fd, &for_gate_listen);
	r = r < 0 ? gq_err_sys(err, r, "epoll") : gqi_writer_new(&o->image, &c->writer, err);
	if (r < 0) {
		capture_free(c);
		return r;
	}
	c->squeeze = squeeze_new(c->writer, o->level, o->workers);
	*ret = c;
	return 0;
}

struct capture *capture_free(struct capture *c)
{
	if (!c)
		return NULL;
	while (c->inlets)
		inlet_free(c, c->inlets);
	squeeze_free(c->squeeze);
	gqi_writer_free(c->writer);
	if (c->client_fd >= 0)
		close(c->client_fd);
	if (c->gate_fd >= 0)
		close(c->gate_fd);
	close(c->epoll_fd);
	free(c);
	return NULL;
}

int capture_run(struct capture *c, struct gq_err *err)
{
	struct gq_err local = {0};
	int r = take_in(c);

	err = err ? err : &local;
	if (!r)
		r = finish(c, err);
	else if (squeeze_end(c->squeeze, err) == 0) /* what the disk said comes first */
		gq_err_sys(err, r, "stream from criu");
	if (c->commit && c->gate_fd >= 0)
		send(c->gate_fd, err->text, strlen(err->text) + 1, MSG_NOSIGNAL);
	return r;
}
