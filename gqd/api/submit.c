/* SPDX-License-Identifier: MIT
 * submit.c - POST /v1/jobs: one job, or a batch that shares its commit */
#include <string.h>

#include "base/cleanup.h"
#include "job/job_spec.h"
#include "request.h"

#define BATCH_MAX 1000

static int submit_one(struct req *q, const char *json, size_t len, bool test_only,
	uint32_t *ret, struct gq_err *err)
{
	const struct api_host *h = req_host(q);
	struct job_spec spec;
	int r;

	job_spec_init(&spec);
	r = job_spec_from_json(json, len, req_now(q), &spec, err);
	if (r == 0)
		r = job_spec_check(&spec, err);
	if (r == 0)
		r = h->submit(h->ctx, &spec, req_peer(q), test_only, ret, err);
	job_spec_clear(&spec);
	return r;
}

/* @message says what would happen: the host leaves it for test_only. */
static void write_made(struct buf *out, uint32_t id, bool test_only, const char *message)
{
	if (!test_only) {
		buf_fmt(out, "{\"job_id\":%u}", id);
		return;
	}
	buf_str(out, "{\"job_id\":null,\"message\":");
	json_write_str(out, message[0] ? message : NULL);
	buf_chr(out, '}');
}

static int check_batch(char *text, size_t len, struct gq_err *err)
{
	struct json_in in = {text, text + len};
	size_t n = 0, entry_len;
	char *entry;
	int r = json_open(&in, '[');

	while (r >= 0 && (r = json_more(&in, ']', n == 0)) > 0) {
		if (++n > BATCH_MAX)
			return gq_err_set(err, -E2BIG,
				"body: more than %d jobs in one batch", BATCH_MAX);
		r = json_slice(&in, &entry, &entry_len);
		if (r == 0 && *entry != '{')
			return gq_err_set(
				err, -EINVAL, "body: entry %zu is not an object", n);
	}
	if (r < 0 || !json_at_end(&in))
		return gq_err_set(err, -EINVAL, "body: bad JSON behind entry %zu", n);
	return n ? 0 : gq_err_set(err, -EINVAL, "body: an empty batch");
}

/* Every entry is accepted or refused for itself; the answer has one object for each, in order. */
static void submit_batch(struct req *q, char *text, bool test_only)
{
	struct json_in in = {text, text + q->body_len};
	bool any = false;

	json_open(&in, '[');
	for (bool first = true; json_more(&in, ']', first) > 0; first = false) {
		struct gq_err err = {0};
		uint32_t id = 0;
		char *json;
		size_t len;
		int r;

		json_slice(&in, &json, &len);
		r = submit_one(q, json, len, test_only, &id, &err);
		buf_chr(&q->reply, first ? '[' : ',');
		if (r < 0)
			req_write_error(&q->reply, req_code_name(r), err.text);
		else
			write_made(&q->reply, id, test_only, err.text);
		any |= r == 0;
	}
	buf_str(&q->reply, "]\n");
	if (any && !test_only)
		req_hold(q);
	else
		req_reply(q);
}

void api_do_job_submit(struct req *q)
{
	struct gq_err err = {0};
	bool test_only = false;
	char *text = (char *)q->body; /* the cursor only looks */
	uint32_t id = 0;
	int r = req_query_flag(q, "test_only", &test_only, &err);

	if (r >= 0 && text[strspn(text, " \t\r\n")] == '[') {
		r = check_batch(text, q->body_len, &err);
		if (r == 0) {
			submit_batch(q, text, test_only);
			return;
		}
	} else if (r >= 0) {
		r = submit_one(q, text, q->body_len, test_only, &id, &err);
	}
	if (r < 0) {
		req_fail(q, r, &err);
		return;
	}
	write_made(&q->reply, id, test_only, err.text);
	buf_chr(&q->reply, '\n');
	if (test_only)
		req_reply(q);
	else
		req_hold(q);
}
