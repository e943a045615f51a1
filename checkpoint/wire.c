/* SPDX-License-Identifier: MIT
 * wire.c - reads and writes the few bytes of the stream protocol */
#include "wire.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define MESSAGE_MAX 4096u
#define FIELD_NAME  0x0a /* field 1, bytes */
#define FIELD_BOOL  0x08 /* field 1, a number */

/* 1 all of it, 0 the end before the first byte, or -errno. */
static int read_all(int fd, void *buf, size_t n)
{
	size_t have = 0;

	while (have < n) {
		ssize_t r = recv(fd, (char *)buf + have, n - have, 0);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			return have ? -EBADMSG : 0;
		have += (size_t)r;
	}
	return 1;
}

static int send_all(int fd, const void *buf, size_t n)
{
	ssize_t r = send(fd, buf, n, MSG_NOSIGNAL);

	if (r < 0)
		return -errno;
	return (size_t)r == n ? 0 : -EIO;
}

static bool varint(const unsigned char **p, const unsigned char *end, uint64_t *ret)
{
	*ret = 0;
	for (int shift = 0; *p < end && shift < 64; shift += 7) {
		unsigned char c = *(*p)++;

		*ret |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

int wire_parse_name(const unsigned char *p, size_t n, char ret[GQI_NAME_MAX + 1])
{
	const unsigned char *end = p + n;
	bool found = false;

	while (p < end) {
		uint64_t key, len;

		if (!varint(&p, end, &key) || !varint(&p, end, &len))
			return -EBADMSG;
		if ((key & 7) == 0)
			continue; /* a number of a newer criu */
		if ((key & 7) != 2 || len > (uint64_t)(end - p))
			return -EBADMSG;
		if (key == FIELD_NAME) {
			if (len > GQI_NAME_MAX || memchr(p, '\0', len))
				return -EBADMSG;
			memcpy(ret, p, len);
			ret[len] = '\0';
			found = true;
		}
		p += len;
	}
	return found && gqi_name_ok(ret) ? 0 : -EBADMSG;
}

int wire_read_name(int fd, char ret[GQI_NAME_MAX + 1])
{
	unsigned char data[MESSAGE_MAX];
	uint32_t len;
	int r = read_all(fd, &len, sizeof(len));

	if (r <= 0)
		return r;
	if (len > sizeof(data))
		return -EBADMSG;
	r = read_all(fd, data, len);
	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	r = wire_parse_name(data, len, ret);
	return r < 0 ? r : 1;
}

int wire_send_exists(int fd, bool exists)
{
	unsigned char m[6] = {0};
	uint32_t len = 2;

	memcpy(m, &len, sizeof(len));
	m[4] = FIELD_BOOL;
	m[5] = exists;
	return send_all(fd, m, sizeof(m));
}

union fd_space {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int))];
};

ssize_t wire_recv_packet(int fd, char *buf, size_t size, int *ret_fd)
{
	union fd_space control;
	struct iovec io = {buf, size - 1};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	if (n < 0)
		return -errno;
	buf[n] = '\0';
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	return m.msg_flags & MSG_TRUNC ? -EMSGSIZE : n;
}

int wire_recv_fd(int fd)
{
	char byte[2];
	int got = -1;
	ssize_t n = wire_recv_packet(fd, byte, sizeof(byte), &got);

	if (n < 0)
		return (int)n;
	return got < 0 ? -EBADMSG : got;
}

int wire_send_name(int fd, const char *name)
{
	unsigned char m[4 + 3 + GQI_NAME_MAX];
	uint32_t n = (uint32_t)strlen(name), head = n < 128 ? 2 : 3, len = n + head;

	memcpy(m, &len, sizeof(len));
	m[4] = FIELD_NAME;
	m[5] = n < 128 ? (unsigned char)n : (unsigned char)((n & 0x7f) | 0x80);
	m[6] = (unsigned char)(n >> 7);
	memcpy(m + 4 + head, name, n);
	return send_all(fd, m, 4 + len);
}

int wire_read_exists(int fd, bool *ret)
{
	unsigned char m[6];
	int r = read_all(fd, m, sizeof(m));

	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	*ret = m[5] == 1;
	return m[4] == FIELD_BOOL ? 0 : -EBADMSG;
}

int wire_send_packet(int fd, const char *data, size_t n, int what)
{
	union fd_space control = {0};
	struct iovec io = {(char *)data, n};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};

	if (what >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof(what));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &what, sizeof(what));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int wire_send_fd(int fd, int what)
{
	return wire_send_packet(fd, "", 1, what);
}
