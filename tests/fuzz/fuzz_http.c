/* SPDX-License-Identifier: MIT
 * fuzz_http.c - the head of a request from anybody: a status with one line, or a path and a method
 * that lie inside the bytes given
 * fuzz: gqd/api/http.c
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gqd/api/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_accepted(const char *text, size_t head, const struct http_head *h)
{
	char value[64];

	assert(h->method[0] && h->path[0] == '/');
	assert(h->path > text && h->path + strlen(h->path) < text + head);
	assert(h->query > text && h->query + strlen(h->query) < text + head);
	assert(h->body_len <= HTTP_BODY_MAX);
	if (http_unquote(h->path, strlen(h->path), value, sizeof(value)))
		assert(strlen(value) < sizeof(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t head = http_head_end((const char *)data, size, 0);
	const char *why = NULL;
	struct http_head h;
	char *text;
	int status;

	for (size_t from = 0; from <= size && from < head; from++)
		assert(http_head_end((const char *)data, size, from) == head);
	if (head == 0)
		return 0;
	text = malloc(head + 1);
	memcpy(text, data, head);
	text[head] = '\0';
	status = http_parse_head(text, head, &h, &why);
	if (status)
		assert(status >= 400 && status < 600 && why && !strchr(why, '\n'));
	else
		check_accepted(text, head, &h);
	free(text);
	return 0;
}
