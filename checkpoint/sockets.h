/* SPDX-License-Identifier: MIT
 * sockets.h - connected sockets whose other end is not in the capsule */
#ifndef GQ_CHECKPOINT_SOCKETS_H
#define GQ_CHECKPOINT_SOCKETS_H

#include <stddef.h>
#include <sys/types.h>

#include "findings.h"

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
/* Every TCP connection to outside, and the first of UNIX sockets. */
void sockets_look(const struct sockets *s, struct findings *found);

#endif
