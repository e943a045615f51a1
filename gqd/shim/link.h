/* SPDX-License-Identifier: MIT
 * link.h - the socket between a shim and the gqd of the day (PROTOCOL.md)
 * One peer at a time; a new gqd takes the place of the old one. A message that cannot be sent is
 * dropped: what matters stands in the exit record, and a new gqd is told the state again. */
#ifndef GQD_SHIM_LINK_H
#define GQD_SHIM_LINK_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

#define LINK_HEAD    "gq-shim=1"
#define LINK_BYTES_MAX 4096 /* of a message; LINK_MAX is the name of something in <limits.h> */

int link_listen(const char *path, struct gq_err *err); /* the socket, or -errno */
int link_accept(int listen_fd);                        /* a peer that is our own user, or -errno */
void link_begin(struct buf *b, const char *message);   /* head and "msg=…" */
int link_send(int fd, const struct buf *b);            /* 0 or -errno; fd -1 is -ENOTCONN */
/* One message into @data (LINK_BYTES_MAX bytes): its length, 0 at the end, -EAGAIN, or -errno. */
ssize_t link_receive(int fd, char *data);
/* The descriptor of the next launch description; passes over messages without one (-EAGAIN), as they
 * are meant for a job that has ended. -ECONNRESET: that gqd is gone. */
int link_receive_launch(int fd);

#endif
