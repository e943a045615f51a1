/* SPDX-License-Identifier: MIT
 * sockets.c - asks the kernel who is connected to whom: sock_diag for UNIX, /proc/net for TCP */
#include "sockets.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"

#define PEER_CURE "close it while the job computes, or move the other end into the job"

#define TCP_ESTABLISHED_STATE 1
#define TCP_LISTEN_STATE      10

void sockets_clear(struct sockets *s)
{
	free(s->list);
}

void sockets_add(struct sockets *s, unsigned long inode, pid_t pid)
{
	if (s->len == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 16;
		s->list = xrealloc(s->list, s->cap, sizeof(*s->list));
	}
	s->list[s->len++] = (struct socket_owner){inode, pid};
}

static pid_t owner(const struct sockets *s, unsigned long inode)
{
	for (size_t i = 0; i < s->len; i++)
		if (s->list[i].inode == inode)
			return s->list[i].pid;
	return 0;
}

static int unix_ask(void)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req req;
	} m = {
		.head = {.nlmsg_len = sizeof(m), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.req = {.sdiag_family = AF_UNIX, .udiag_states = ~0U,
			.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER},
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd >= 0 && send(fd, &m, sizeof(m), 0) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

struct peer {
	pid_t pid;           /* the process of the capsule */
	unsigned long inode; /* of the other end; 0 = not accepted yet */
	char name[108];      /* of the other end, "" = none; seen later than the pair, or earlier */
	bool listens;        /* the capsule has a listening socket */
};

/* One socket of the machine: is it ours with a foreign peer, or that peer with its name? */
static void unix_entry(const struct sockets *s, const struct nlmsghdr *h, struct peer *found)
{
	const struct unix_diag_msg *m = NLMSG_DATA(h);
	int len = (int)h->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*m));
	unsigned long peer = 0;
	bool connected = false;
	char name[108] = "";

	for (const struct rtattr *a = (const struct rtattr *)(m + 1); RTA_OK(a, len);
		a = RTA_NEXT(a, len)) {
		if (a->rta_type == UNIX_DIAG_PEER) {
			peer = *(const unsigned *)RTA_DATA(a);
			connected = true;
		}
		if (a->rta_type == UNIX_DIAG_NAME && RTA_PAYLOAD(a) < sizeof(name)) {
			memcpy(name, RTA_DATA(a), RTA_PAYLOAD(a));
			name[RTA_PAYLOAD(a)] = '\0';
			if (!name[0] && RTA_PAYLOAD(a) > 1)
				name[0] = '@';
		}
	}
	if (m->udiag_state == TCP_LISTEN_STATE && owner(s, m->udiag_ino))
		found->listens = true;
	if (!found->pid && connected && owner(s, m->udiag_ino) && (!peer || !owner(s, peer)))
		*found = (struct peer){.pid = owner(s, m->udiag_ino), .inode = peer,
			.listens = found->listens};
	if (found->pid && m->udiag_ino == found->inode)
		str_copy(found->name, sizeof(found->name), name);
}

/* true when the dump is complete */
static bool unix_read(const struct sockets *s, int fd, struct peer *found)
{
	_Alignas(struct nlmsghdr) char data[16384];
	ssize_t n = recv(fd, data, sizeof(data), 0);
	struct nlmsghdr *h = (struct nlmsghdr *)data;

	if (n <= 0)
		return true;
	for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
			return true;
		if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			unix_entry(s, h, found);
	}
	return false;
}

static void unix_look(const struct sockets *s, struct findings *out)
{
	struct peer found = {0};

	/* Twice: the name of the other end may have gone by before the pair was seen. */
	for (int pass = 0; pass < 2; pass++) {
		_cleanup_close_ int fd = unix_ask();

		while (fd >= 0 && !unix_read(s, fd, &found))
			;
		if (!found.pid)
			return;
	}
	if (!found.inode && found.listens)
		return; /* most likely waits at that one, and criu takes it along */
	findings_add(out, GRADE_RAM, found.pid, PEER_CURE,
		"is connected to a UNIX socket outside the job%s%s", found.name[0] ? ": " : "",
		found.name);
}

struct tcp {
	char local[48], remote[48]; /* as /proc writes them */
	unsigned state;
	unsigned long inode;
};

static bool tcp_parse(const char *line, struct tcp *t)
{
	return sscanf(line, " %*d: %47s %47s %x %*s %*s %*s %*s %*s %lu", t->local, t->remote,
		       &t->state, &t->inode) == 4;
}

/* Does the capsule listen at @address? One that listens at all addresses has zeros there. */
static bool tcp_listens(const struct sockets *s, const char *file, const char *address)
{
	_cleanup_fclose_ FILE *f = fopen(file, "re");
	const char *port = strchr(address, ':');
	char line[512];
	struct tcp t;

	while (f && port && fgets(line, sizeof(line), f)) {
		const char *colon;

		if (!tcp_parse(line, &t) || t.state != TCP_LISTEN_STATE || !owner(s, t.inode))
			continue;
		colon = strchr(t.local, ':');
		if (colon && !strcmp(colon, port))
			return true;
	}
	return false;
}

/* Is the socket at the other end, which has our addresses exchanged, also in the capsule? It may
 * still wait to be accepted there: then it has no inode. */
static bool tcp_inside(const struct sockets *s, const char *file, const struct tcp *t)
{
	_cleanup_fclose_ FILE *f = fopen(file, "re");
	char line[512];
	struct tcp other;

	while (f && fgets(line, sizeof(line), f))
		if (tcp_parse(line, &other) && !strcmp(other.local, t->remote) &&
			!strcmp(other.remote, t->local))
			return other.inode ? owner(s, other.inode) != 0 : tcp_listens(s, file, t->remote);
	return false;
}

static void tcp_address(const char *text, char *ret, size_t size)
{
	unsigned a, port;
	struct in_addr in;

	if (strlen(text) == 13 && sscanf(text, "%8x:%x", &a, &port) == 2) {
		in.s_addr = a;
		snprintf(ret, size, "%s:%u", inet_ntoa(in), port);
	} else {
		str_copy(ret, size, text);
	}
}

static void tcp_look(const struct sockets *s, const char *file, struct findings *out)
{
	_cleanup_fclose_ FILE *f = fopen(file, "re");
	char line[512], address[64];
	struct tcp t;

	while (f && fgets(line, sizeof(line), f)) {
		if (!tcp_parse(line, &t) || t.state != TCP_ESTABLISHED_STATE || !owner(s, t.inode) ||
			tcp_inside(s, file, &t))
			continue;
		tcp_address(t.remote, address, sizeof(address));
		findings_add(out, GRADE_RAM, owner(s, t.inode), PEER_CURE,
			"has a TCP connection to %s outside the job", address);
	}
}

void sockets_look(const struct sockets *s, struct findings *found)
{
	if (!s->len)
		return;
	unix_look(s, found);
	tcp_look(s, "/proc/net/tcp", found);
	tcp_look(s, "/proc/net/tcp6", found);
}
