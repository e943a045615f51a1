/* SPDX-License-Identifier: MIT
 * history.c - GET /v1/history: the audit trail, of everything or of one thing */
#include "base/cleanup.h"
#include "gqd/core/core.h"
#include "request.h"

struct rows {
	struct req *q;
	char before;
};

static void write_audit(void *ctx, const struct audit *a)
{
	struct rows *rows = ctx;
	struct api_history m = {
		.time = a->at,
		.kind = audit_kind_name(a->kind),
		.id = a->id,
		.user = a->uid == (uid_t)-1 ? NULL : names_user(a->uid),
		.text = a->text,
	};

	buf_chr(&rows->q->reply, rows->before);
	rows->before = ',';
	api_encode(&rows->q->reply, &api_history_object, &m, API_ALL_FIELDS);
}

/* A service by its name, where it still exists, or by its number. */
static int query_service(struct req *q, struct api_filter *f, struct gq_err *err)
{
	const struct service *s;
	char name[64];
	int64_t id;
	int r = req_query(q, "service", name, sizeof(name), err);

	if (r <= 0)
		return r;
	s = core_service_by_name(req_core(q), name);
	if (!s) {
		r = req_query_int(q, "service", 1, UINT32_MAX, &id, NULL);
		if (r < 0)
			return gq_err_set(
				err, -ENOENT, "service %.60s: no such service", name);
	}
	f->kind = AUDIT_SERVICE;
	f->id = s ? s->id : (uint32_t)id;
	return 0;
}

static int read_filter(struct req *q, struct api_filter *f, struct gq_err *err)
{
	static const struct {
		const char *name;
		int kind;
		int64_t min;
	} of[] = {{"job", AUDIT_JOB, 1}, {"card", AUDIT_CARD, 0},
		{"reservation", AUDIT_RESERVATION, 1}};
	int64_t v, limit = 100;
	int r;

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		r = req_query_int(q, of[i].name, of[i].min, UINT32_MAX, &v, err);
		if (r < 0)
			return r;
		if (r > 0) {
			f->kind = of[i].kind;
			f->id = (uint32_t)v;
		}
	}
	r = query_service(q, f, err);
	if (r >= 0)
		r = req_query_int(q, "limit", 1, 10000, &limit, err);
	if (r >= 0)
		r = query_since(q, &f->since, err);
	f->limit = (uint32_t)limit;
	return r < 0 ? r : 0;
}

void api_do_history_list(struct req *q)
{
	const struct api_host *h = req_host(q);
	struct api_filter f = {.uid = (uid_t)-1, .kind = -1};
	struct rows rows = {.q = q, .before = '['};
	struct gq_err err = {0};
	int r = read_filter(q, &f, &err);

	if (r == 0)
		r = h->each_audit(h->ctx, &f, write_audit, &rows, &err);
	if (r < 0) {
		req_fail(q, r, &err);
		return;
	}
	buf_str(&q->reply, rows.before == '[' ? "[]\n" : "]\n");
	req_reply(q);
}
