/* SPDX-License-Identifier: MIT
 * sockets.h - connected sockets whose other end is not in the capsule */
#ifndef GQ_CHECKPOINT_SOCKETS_H
#define GQ_CHECKPOINT_SOCKETS_H

#include <stddef.h>
#include <sys/types.h>

struct socket_owner {
	unsigned long inode;
	pid_t pid;
};

struct sockets {
	struct socket_owner *list; /* owned; every socket of the capsule */
	size_t len, cap;
};

void sockets_clear(struct sockets *s);
void sockets_add(struct sockets *s, unsigned long inode, pid_t pid);
/* The first process with a connection to outside, and what that is ("has a connection to the UNIX
 * socket /run/x.sock"); 0 = none. */
pid_t sockets_outside(const struct sockets *s, char *ret_what, size_t size);

#endif
