/* SPDX-License-Identifier: MIT
 * evictions.c - GET /v1/evictions: predicted and actual times of every one */
#include "base/parse.h"
#include "gqd/core/core.h"
#include "request.h"

struct rows {
	struct req *q;
	char before;
};

static void write_eviction(void *ctx, const struct eviction *e)
{
	struct rows *rows = ctx;
	struct api_eviction m = {
		.eviction_id = e->id,
		.job = e->job,
		.incarnation = e->incarnation,
		.cause = cause_name(e->cause),
		.cause_id = e->ref,
		.how = how_name(e->how),
		.error = e->error,
		.notice_at = e->notice_at,
		.due_at = e->due_at,
		.predicted_free_at = e->predicted_free_at,
		.free_at = e->free_at,
		.late_ms = e->late,
		.lost_s = e->lost,
		.sudden = e->sudden,
	};

	cards_message(e->cards, e->n_cards, &m.cards);
	buf_chr(&rows->q->reply, rows->before);
	rows->before = ',';
	api_encode(&rows->q->reply, &api_eviction_object, &m, API_ALL_FIELDS);
}

int query_since(struct req *q, gq_time *ret, struct gq_err *err)
{
	char text[64];
	int r = req_query(q, "since", text, sizeof(text), err);

	if (r <= 0)
		return r;
	r = parse_when(text, req_now(q), ret, err);
	return r < 0 ? gq_err_prefix(err, r, "since") : 0;
}

void api_do_eviction_list(struct req *q)
{
	const struct api_host *h = req_host(q);
	struct api_filter f = {.uid = (uid_t)-1, .kind = -1};
	struct rows rows = {.q = q, .before = '['};
	int64_t job = 0, limit = 100;
	struct gq_err err = {0};
	int r = req_query_int(q, "job", 1, UINT32_MAX, &job, &err);

	if (r >= 0)
		r = req_query_int(q, "limit", 1, 10000, &limit, &err);
	if (r >= 0)
		r = query_since(q, &f.since, &err);
	f.job = (uint32_t)job;
	f.limit = (uint32_t)limit;
	if (r >= 0)
		r = h->each_eviction(h->ctx, &f, write_eviction, &rows, &err);
	if (r < 0) {
		req_fail(q, r, &err);
		return;
	}
	buf_str(&q->reply, rows.before == '[' ? "[]\n" : "]\n");
	req_reply(q);
}
