/* SPDX-License-Identifier: MIT
 * http.c - the head of a request */
#include "http.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

static const char token_extra[] = "!#$%&'*+-.^_`|~";

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static size_t token_len(const char *s)
{
	size_t n = 0;

	while (s[n] && (is_alnum(s[n]) || strchr(token_extra, s[n])))
		n++;
	return n;
}

size_t http_head_end(const char *data, size_t len, size_t from)
{
	from = from > 3 ? from - 3 : 0; /* the blank line may have come in two parts */
	for (const char *p = data + from; (p = memchr(p, '\r', len - (size_t)(p - data)));
		p++) {
		if (len - (size_t)(p - data) < 4)
			return 0;
		if (memcmp(p, "\r\n\r\n", 4) == 0)
			return (size_t)(p - data) + 4;
	}
	return 0;
}

/* Cuts the next line off: terminated, without its CRLF. NULL at the blank line. */
static char *next_line(char **rest)
{
	char *line = *rest, *end = strstr(line, "\r\n");

	if (!end || end == line)
		return NULL;
	*end = '\0';
	*rest = end + 2;
	return line;
}

static int parse_request_line(char *line, struct http_head *h, const char **ret_text)
{
	size_t n = token_len(line);
	char *version, *p;

	*ret_text = "the request line is not METHOD PATH HTTP/1.1";
	if (n == 0 || n >= sizeof(h->method) || line[n] != ' ')
		return 400;
	memcpy(h->method, line, n);
	h->method[n] = '\0';
	h->path = line + n + 1;
	version = strchr(h->path, ' ');
	if (!version || h->path[0] != '/')
		return 400;
	*version++ = '\0';
	for (p = h->path; *p; p++) {
		if (*p <= ' ' || *p == 0x7f)
			return 400;
	}
	if (strncmp(version, "HTTP/", 5) != 0 || strlen(version) != strlen("HTTP/1.1"))
		return 400;
	if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0) {
		*ret_text = "only HTTP/1.1 is spoken here";
		return 505;
	}
	h->keep_alive = version[7] == '1';
	h->query = strchr(h->path, '?');
	if (h->query)
		*h->query++ = '\0';
	else
		h->query = h->path + strlen(h->path);
	return 0;
}

static int parse_length(
	const char *value, bool *seen, struct http_head *h, const char **ret_text)
{
	size_t v = 0;

	*ret_text = "bad Content-Length";
	if (*seen || *value == '\0')
		return 400;
	for (const char *p = value; *p; p++) {
		if (*p < '0' || *p > '9')
			return 400;
		v = v * 10 + (size_t)(*p - '0');
		if (v > HTTP_BODY_MAX) {
			*ret_text = "the body is larger than 8 MiB";
			return 413;
		}
	}
	*seen = true;
	h->body_len = v;
	return 0;
}

static int parse_field(
	char *line, bool *seen_length, struct http_head *h, const char **ret_text)
{
	size_t n = token_len(line), end;
	char *value = line + n;

	*ret_text = "a header line is not Name: value";
	if (n == 0 || *value != ':')
		return 400; /* also a continued line: it begins with a blank */
	*value++ = '\0';
	value += strspn(value, " \t");
	for (end = strlen(value);
		end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t');)
		value[--end] = '\0';
	if (value[strcspn(value, "\r\n")])
		return 400;
	if (strcasecmp(line, "Content-Length") == 0)
		return parse_length(value, seen_length, h, ret_text);
	if (strcasecmp(line, "Transfer-Encoding") == 0) {
		*ret_text = "send the body with a Content-Length, not in chunks";
		return 411;
	}
	if (strcasecmp(line, "Connection") == 0)
		h->keep_alive = strcasecmp(value, "close") != 0 &&
				(h->keep_alive || strcasecmp(value, "keep-alive") == 0);
	if (strcasecmp(line, "Expect") == 0) {
		*ret_text = "Expect: only 100-continue is known";
		if (strcasecmp(value, "100-continue") != 0)
			return 417;
		h->expect_continue = true;
	}
	return 0;
}

int http_parse_head(char *data, size_t len, struct http_head *ret, const char **ret_text)
{
	char *rest = data, *line;
	bool seen_length = false;
	int r;

	*ret = (struct http_head){.head_len = len};
	if (memchr(data, '\0', len)) {
		*ret_text = "a NUL byte in the head";
		return 400;
	}
	data[len - 2] = '\0'; /* the blank line's own CRLF is not needed any more */
	line = next_line(&rest);
	if (!line) {
		*ret_text = "the request line is empty";
		return 400;
	}
	r = parse_request_line(line, ret, ret_text);
	while (r == 0 && (line = next_line(&rest)))
		r = parse_field(line, &seen_length, ret, ret_text);
	return r;
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

bool http_unquote(const char *text, size_t n, char *ret, size_t size)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (c == '%') {
			int high = i + 2 < n ? hex_digit(text[i + 1]) : -1;
			int low = high < 0 ? -1 : hex_digit(text[i + 2]);

			if (low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		}
		if (c == '\0' || out + 1 >= size)
			return false;
		ret[out++] = c;
	}
	ret[out] = '\0';
	return true;
}

const char *http_status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {{200, "OK"}, {400, "Bad Request"}, {403, "Forbidden"},
		{404, "Not Found"}, {405, "Method Not Allowed"}, {408, "Request Timeout"},
		{409, "Conflict"}, {411, "Length Required"}, {413, "Content Too Large"},
		{417, "Expectation Failed"}, {422, "Unprocessable Content"},
		{429, "Too Many Requests"}, {431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"}, {503, "Service Unavailable"},
		{505, "HTTP Version Not Supported"}, {507, "Insufficient Storage"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].status == status)
			return rows[i].text;
	}
	return "Error";
}
