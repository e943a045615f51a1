/* SPDX-License-Identifier: MIT
 * conn.h - inside gqd/api: one connection; bytes in, requests in order, replies in the same order
 * Bounds: a request must be whole 10 s after its first byte, an idle connection is closed after
 * 60 s, one that does not take its replies after 30 s; parsing stops while 256 requests wait or
 * much output is unread; all that a user makes gqd buffer is counted together. */
#ifndef GQD_API_CONN_H
#define GQD_API_CONN_H

#include "base/map.h"
#include "request.h"

/* What one user has open and buffered; kept while it has connections. */
struct usage {
	uid_t uid;
	uint32_t n_conns;
	size_t bytes;
};

struct conn {
	struct api *api; /* borrowed */
	struct conn *next, **link;
	struct conn *pump_next, **pump_link; /* among those with new replies */
	struct usage *usage;                 /* borrowed from api->usages */
	struct api_peer peer;                /* groups owned */
	int fd;
	struct loop_watch *reading, *writing; /* owned; NULL = not wanted */
	struct buf in;
	size_t scanned; /* of in: no end of head before this */
	struct buf out; /* heads and small bodies */
	size_t out_at;
	struct buf big; /* one large body behind out */
	size_t big_at;
	size_t counted; /* bytes counted in usage */
	struct req *first, **last;
	unsigned n_reqs;
	gq_time deadline;      /* monotonic */
	gq_time request_since; /* first byte of an unfinished request, 0 = none */
	bool closing;          /* nothing more is read; gone when the output is */
	bool backlog; /* whole requests wait in `in` until there is room for their replies */
	bool continued; /* 100 Continue was sent for the request being read */
};

struct conn *conn_new(
	struct api *api, int fd, const struct api_peer *peer, struct usage *usage);
struct conn *conn_free(struct conn *c); /* with its requests; returns NULL */
void conn_pump(struct conn *c);         /* sends what is ready; may free the connection */
void conn_resume(struct conn *c);       /* runs requests that had to wait; the same */
void conn_sweep(struct conn *c, gq_time now); /* the same, when a deadline has passed */

void conn_count(struct conn *c);              /* what it buffers now, against its user */
bool conn_user_is_full(const struct conn *c); /* no more is buffered for this user */

/* server.c */
struct api {
	const struct api_host *host; /* borrowed */
	struct loop *loop;           /* borrowed */
	char *path;                  /* owned */
	int fd;
	struct loop_watch *accepting; /* NULL while at the limit or out of descriptors */
	struct loop_timer *sweep, *resume;
	struct conn *conns;
	struct conn *to_pump;
	struct req *held, *parked;
	struct map usages;
	uint32_t n_conns, max_conns, max_user_conns;
	struct buf spare; /* a warm buffer for the next long list */
	gq_time started_at;
	gq_time accept_again; /* monotonic */
	unsigned refused;     /* connections since the last line about them */
	gq_time refused_told;
};

void api_conn_gone(struct api *api, struct conn *c);
void api_wants_pump(struct conn *c);

#endif
