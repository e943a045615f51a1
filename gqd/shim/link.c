/* SPDX-License-Identifier: MIT
 * link.c - sockets that keep message borders */
#include "link.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/kv.h"
#include "base/mem.h"

int link_listen(const char *path, struct gq_err *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;

	if (str_copy(a.sun_path, sizeof(a.sun_path), path) >= sizeof(a.sun_path))
		return gq_err_set(err, -ENAMETOOLONG, "%.150s: too long for a socket", path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return gq_err_sys(err, -errno, "socket");
	unlink(path);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 4) < 0)
		return gq_err_sys(err, -errno, "%s", path);
	return TAKE_FD(fd);
}

int link_accept(int listen_fd)
{
	_cleanup_close_ int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (fd < 0)
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || peer.uid != geteuid())
		return -EPERM;
	return TAKE_FD(fd);
}

void link_begin(struct buf *b, const char *message)
{
	buf_reset(b);
	buf_add(b, LINK_HEAD, sizeof(LINK_HEAD));
	kv_add(b, "msg", message);
}

int link_send(int fd, const struct buf *b)
{
	if (fd < 0)
		return -ENOTCONN;
	return send(fd, b->data, b->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

ssize_t link_receive(int fd, char *data)
{
	ssize_t n = recv(fd, data, LINK_BYTES_MAX, MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	if (n && !kv_check(data, (size_t)n, LINK_HEAD))
		return -EPROTO;
	return n;
}

int link_receive_launch(int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control;
	char data[LINK_BYTES_MAX];
	struct iovec v = {data, sizeof(data)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	int got;

	if (n <= 0)
		return n < 0 ? -errno : -ECONNRESET;
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -EAGAIN; /* an order for the job before, that has ended meanwhile */
	memcpy(&got, CMSG_DATA(c), sizeof(got));
	return got;
}
