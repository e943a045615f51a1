/* SPDX-License-Identifier: MIT
 * request.c - what handlers use: replies, refusals, query parameters, long polls */
#include "request.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"
#include "conn.h"
#include "gqd/core/core.h"
#include "gqd/core/event.h"
#include "http.h"

#define WAIT_DEFAULT 30
#define WAIT_MAX     300

static void wait_on(struct req *q, struct req **list)
{
	q->wait_next = *list;
	if (q->wait_next)
		q->wait_next->wait_link = &q->wait_next;
	q->wait_link = list;
	*list = q;
}

struct req *req_free(struct req *q)
{
	if (q->wait_link) {
		*q->wait_link = q->wait_next;
		if (q->wait_next)
			q->wait_next->wait_link = q->wait_link;
	}
	json_decref(q->tree);
	free(q->query);
	buf_clear(&q->reply);
	free(q);
	return NULL;
}

const struct api_peer *req_peer(const struct req *q)
{
	return &q->conn->peer;
}

const struct api_host *req_host(const struct req *q)
{
	return q->api->host;
}

bool req_is_operator(const struct req *q)
{
	return req_host(q)->is_operator(req_host(q)->ctx, req_peer(q));
}

const struct core *req_core(const struct req *q)
{
	return req_host(q)->core(req_host(q)->ctx);
}

gq_time req_now(const struct req *q)
{
	return req_host(q)->now(req_host(q)->ctx);
}

void req_reply(struct req *q)
{
	q->state = REQ_READY;
}

void req_hold(struct req *q)
{
	q->state = REQ_HELD;
	wait_on(q, &q->api->held);
}

void req_write_error(struct buf *out, const char *code, const char *message)
{
	struct api_error e = {.code = code, .message = message};

	buf_str(out, "{\"error\":");
	api_encode(out, &api_error_object, &e, API_ALL_FIELDS);
	buf_chr(out, '}');
}

void req_error(struct req *q, int status, const char *code, const char *message)
{
	buf_reset(&q->reply);
	q->status = status;
	req_write_error(&q->reply, code, message);
	req_reply(q);
}

static const struct {
	int code, status;
	const char *name;
} errors[] = {
	{EINVAL, 400, "EINVAL"},
	{EBADMSG, 400, "EBADMSG"},
	{EPERM, 403, "EPERM"},
	{EACCES, 403, "EACCES"},
	{ENOENT, 404, "ENOENT"},
	{EPROTO, 409, "EPROTO"},
	{EEXIST, 409, "EEXIST"},
	{EFBIG, 413, "EFBIG"},
	{E2BIG, 422, "E2BIG"},
	{EDQUOT, 429, "EDQUOT"},
	{ENOSPC, 507, "ENOSPC"},
	{EAGAIN, 503, "EAGAIN"},
	{EIO, 500, "EIO"},
	{EROFS, 500, "EROFS"},
};

int req_status_of(int code)
{
	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		if (errors[i].code == -code)
			return errors[i].status;
	}
	return 500;
}

const char *req_code_name(int code)
{
	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		if (errors[i].code == -code)
			return errors[i].name;
	}
	return "EIO";
}

void req_fail(struct req *q, int code, const struct gq_err *err)
{
	req_error(q, req_status_of(code), req_code_name(code), err->text);
}

/* --- query ---------------------------------------------------------------------------------- */

int req_query(
	const struct req *q, const char *name, char *buf, size_t size, struct gq_err *err)
{
	size_t n = strlen(name), len;

	for (const char *p = q->query; *p; p += len + (p[len] == '&')) {
		len = strcspn(p, "&");
		if (len < n || strncmp(p, name, n) != 0 || (p[n] != '=' && len != n))
			continue;
		if (len == n)
			buf[0] = '\0';
		else if (!http_unquote(p + n + 1, len - n - 1, buf, size))
			return gq_err_set(
				err, -EINVAL, "%s: bad value in the query", name);
		return 1;
	}
	return 0;
}

int req_query_int(const struct req *q, const char *name, int64_t min, int64_t max,
	int64_t *ret, struct gq_err *err)
{
	char text[32];
	int r = req_query(q, name, text, sizeof(text), err);

	if (r <= 0)
		return r;
	r = parse_int(text, min, max, ret, err);
	return r < 0 ? gq_err_prefix(err, r, "%s", name) : 1;
}

int req_query_flag(const struct req *q, const char *name, bool *ret, struct gq_err *err)
{
	char text[16];
	int r = req_query(q, name, text, sizeof(text), err);

	if (r <= 0)
		return r;
	r = parse_bool(text, ret, err);
	return r < 0 ? gq_err_prefix(err, r, "%s", name) : 1;
}

int req_arg_id(const struct req *q, const char *what, uint32_t *ret, struct gq_err *err)
{
	int64_t v;
	int r = parse_int(q->arg, 1, UINT32_MAX, &v, err);

	if (r < 0)
		return gq_err_prefix(err, r, "%s", what);
	*ret = (uint32_t)v;
	return 0;
}

/* --- acting --------------------------------------------------------------------------------- */

void req_event_by(const struct req *q, struct event *ev)
{
	ev->uid = req_peer(q)->uid;
	ev->privileged = req_is_operator(q);
}

int req_step(struct req *q, struct event *ev, struct gq_err *err)
{
	req_event_by(q, ev);
	return req_host(q)->step(req_host(q)->ctx, ev, err);
}

bool req_wait(struct req *q, uint32_t job, uint64_t version_now, struct gq_err *err)
{
	int64_t version = -1, timeout = WAIT_DEFAULT;

	if (req_query_int(q, "wait_version", 0, INT64_MAX, &version, err) < 0 ||
		req_query_int(q, "timeout", 0, WAIT_MAX, &timeout, err) < 0 ||
		version < 0)
		return false;
	if (!q->wait_until)
		q->wait_until = gq_monotonic() + GQ_SEC(timeout);
	if (version_now > (uint64_t)version || gq_monotonic() >= q->wait_until)
		return false;
	q->wait_job = job;
	q->wait_version = (uint64_t)version;
	q->state = REQ_PARKED;
	wait_on(q, &q->api->parked);
	return true;
}
