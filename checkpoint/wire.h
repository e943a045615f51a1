/* SPDX-License-Identifier: MIT
 * wire.h - criu's side of an image stream: a name, then the end of a pipe
 * Criu writes u32 length and a protobuf message {1: name}; a serving streamer answers with u32
 * length and {1: is there}; criu then sends one byte with the descriptor of a pipe. The end of the
 * socket says that no more files come. */
#ifndef GQ_CHECKPOINT_WIRE_H
#define GQ_CHECKPOINT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "gqi.h"

#define WIRE_CAPTURE "streamer-capture.sock"
#define WIRE_SERVE   "streamer-serve.sock"

/* 1 a name, 0 the end, -EBADMSG nonsense, or another -errno. */
int wire_read_name(int fd, char ret[GQI_NAME_MAX + 1]);
int wire_send_exists(int fd, bool exists);
int wire_recv_fd(int fd); /* close-on-exec; or -errno */

/* The name in a message; -EBADMSG. (Also what a fuzzer calls.) */
int wire_parse_name(const unsigned char *data, size_t n, char ret[GQI_NAME_MAX + 1]);

/* A packet with a NUL behind and at most one descriptor (*ret_fd stays -1 without). Length, 0 the
 * end, or -errno; -EMSGSIZE: longer than @size - 1. */
ssize_t wire_recv_packet(int fd, char *buf, size_t size, int *ret_fd);
int wire_send_packet(int fd, const char *data, size_t n, int what); /* @what -1 = none */

/* The other side, for tests. */
int wire_send_name(int fd, const char *name);
int wire_read_exists(int fd, bool *ret);
int wire_send_fd(int fd, int what);

#endif
