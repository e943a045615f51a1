/* SPDX-License-Identifier: MIT
 * http.h - the head of an HTTP/1.1 request, checked strictly
 * Why not libevent's own HTTP server: it reads the second request of a connection only after the
 * first was answered, so pipelined submissions could never share one commit, and it shows a
 * connection to nobody before its first request is complete, so a slow or greedy peer could not be
 * known and bounded.
 * Promises: looks only at the bytes it is given; what it accepts has one meaning.
 * Leaves to others: reading and waiting (conn.c), routes (route.c). */
#ifndef GQD_API_HTTP_H
#define GQD_API_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_HEAD_MAX (16u << 10)
#define HTTP_BODY_MAX (8u << 20)

struct http_head {
	char method[12];
	char *path;  /* in the bytes given, terminated; begins with a slash */
	char *query; /* the same; "" if there is none */
	size_t head_len, body_len;
	bool keep_alive, expect_continue;
};

/* Position behind the blank line, 0 = not there yet. @from: how far an earlier call has looked. */
size_t http_head_end(const char *data, size_t len, size_t from);

/* @data[0..len) is a whole head; it is changed. 0, or a status (400, 411, 413, 417, 431, 505) with
 * one line in *ret_text. */
int http_parse_head(char *data, size_t len, struct http_head *ret, const char **ret_text);

/* Decodes %XX of @text (n bytes) into @ret; plus is a plus. false: bad %, a NUL, or too long. */
bool http_unquote(const char *text, size_t n, char *ret, size_t size);

const char *http_status_text(int status);

#endif
