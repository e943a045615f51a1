/* SPDX-License-Identifier: MIT
 * client.h - the blocking client of gqsub, gqctl and the tests: HTTP/1.1 over gqd's unix socket
 * Written by hand because a small client pays for its start-up: no library behind it, one connect,
 * one writev and one read per call; the connection is kept and used again.
 * Promises: a request that changes something is sent again on a fresh connection only when the old
 * one was closed before a byte of it can have been read.
 * Leaves to others: what the bodies say (lib/job, lib/api), printing (mains). */
#ifndef GQ_CLIENT_CLIENT_H
#define GQ_CLIENT_CLIENT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/gqtime.h"

struct client;

/* @path, or where it is NULL: $GQ_SOCKET, else /run/gq/gqd.sock where that exists, else
 * $XDG_RUNTIME_DIR/gq/gqd.sock. Connects at once. Without a daemon: -ECONNREFUSED, -ENOENT, -EACCES …
 * and one line that says which socket was tried and how to start gqd. */
int client_open(const char *path, struct client **ret, struct gq_err *err);
struct client *client_close(struct client *c); /* NULL allowed; returns NULL */
const char *client_socket(const struct client *c);

/* How long one call may take, 60 s at first; a call that long-polls sets its poll time plus slack. */
void client_set_timeout(struct client *c, gq_time timeout);

/* One request: @method "GET"; @path "/v1/jobs?limit=5" (already encoded: client_quote()); @body and
 * @len the JSON, NULL for none. *ret_status and the answer's body in @ret_body (reset first) are
 * set for every answer. 0 for 2xx. -EREMOTEIO for every other status: err holds gqd's own message,
 * word for word. Transport: -ETIMEDOUT, -ECONNRESET, -EPROTO (no HTTP), -EMSGSIZE (over 64 MiB). */
int client_call(struct client *c, const char *method, const char *path, const void *body, size_t len,
	int *ret_status, struct buf *ret_body, struct gq_err *err);

/* Appends @text with everything but letters, digits and -._~ as %XX. */
void client_quote(const char *text, struct buf *out);

#endif
