/* SPDX-License-Identifier: MIT
 * request.h - inside gqd/api: one request from its head to its reply, and what handlers use
 * A handler is called once with the whole body. It replies, or parks the request (a long poll; then
 * it is called again after a change or when the time is up). A handler that changed something makes
 * its reply wait for the commit by req_hold().
 * Leaves to others: bytes and connections (conn.c), who may connect (server.c). */
#ifndef GQD_API_REQUEST_H
#define GQD_API_REQUEST_H

#include "api.h"
#include "api/message.h"
#include "base/buf.h"

struct conn;

enum req_state { REQ_OPEN, REQ_HELD, REQ_PARKED, REQ_READY };

struct req {
	struct api *api;                    /* borrowed */
	struct conn *conn;                  /* borrowed */
	struct req *next;                   /* the next one of the connection */
	struct req *wait_next, **wait_link; /* among the held or the parked */
	void (*handler)(struct req *q);
	enum req_state state;
	char method[12];
	char *query;      /* owned */
	char arg[128];    /* what stood for {} in the path */
	const char *body; /* borrowed during the first call; terminated; NULL later */
	size_t body_len;
	void *tree; /* owned: what body_read() keeps its strings in */
	bool keep_alive;
	/* the reply */
	int status;
	struct buf reply;
	char allow[48];   /* for 405 */
	uint64_t version; /* header GQ-Version; 0 = none */
	/* parked */
	uint32_t wait_job; /* 0 = any */
	uint64_t wait_version;
	gq_time wait_until; /* monotonic; 0 = not asked yet */
};

struct req *req_free(struct req *q); /* returns NULL */

const struct api_peer *req_peer(const struct req *q);
bool req_is_operator(const struct req *q);
const struct core *req_core(const struct req *q);
const struct api_host *req_host(const struct req *q);
gq_time req_now(const struct req *q);

/* The reply is what was appended to q->reply. */
void req_reply(struct req *q);
void req_hold(struct req *q); /* as req_reply(), once the turn is on disk */
void req_error(struct req *q, int status, const char *code, const char *message);
void req_fail(struct req *q, int code, const struct gq_err *err); /* status by errno */
int req_status_of(int code);
const char *req_code_name(int code); /* -EINVAL → "EINVAL" */
void req_write_error(struct buf *out, const char *code, const char *message);

/* Query parameters, decoded into @buf. 1 = there, 0 = not, -EINVAL. */
int req_query(const struct req *q, const char *name, char *buf, size_t size,
	struct gq_err *err);
int req_query_int(const struct req *q, const char *name, int64_t min, int64_t max,
	int64_t *ret, struct gq_err *err); /* *ret keeps its value when it is not there */
int req_query_flag(const struct req *q, const char *name, bool *ret, struct gq_err *err);
/* since=: *ret keeps its value when it is not there. */
int query_since(struct req *q, gq_time *ret, struct gq_err *err);
int req_arg_id(const struct req *q, const char *what, uint32_t *ret, struct gq_err *err);

/* Steps the core in the name of the peer. */
struct event;
void req_event_by(const struct req *q, struct event *ev);
int req_step(struct req *q, struct event *ev, struct gq_err *err);

/* Long polls: true = parked, the handler returns at once. @job 0: any job. */
bool req_wait(struct req *q, uint32_t job, uint64_t version_now, struct gq_err *err);

/* The body, strictly by its table; strings are borrowed from the request. An empty body is {}. */
int body_read(struct req *q, const struct api_object *o, void *row, struct gq_err *err);

/* Routes */
void route_dispatch(struct req *q, const char *path);
#define API_ROUTE(method, path, handler, query, body, reply, list, help)                 \
	void api_do_##handler(struct req *q);
#include "api/routes.def"
#undef API_ROUTE

/* The user's name for @uid, "" never; lent for ever. */
const char *names_user(uid_t uid);
int names_uid(const char *text, uid_t *ret, struct gq_err *err); /* a name or a number */

/* Rows as messages (one file per resource). */
struct job;
struct card;
struct service;
struct reservation;
void job_message(const struct req *q, const struct job *j, uint64_t mask,
	struct api_job *ret, char reason_text[256]);
int cards_resolve(const struct core *core, const struct api_words *words, uint16_t *cards,
	uint8_t *ret_n, struct gq_err *err);
void cards_message(const uint16_t *cards, size_t n, struct api_cards *ret);

#endif
