/* SPDX-License-Identifier: MIT
 * jobs.c - /v1/jobs: lists, one job, and what may be done to it (submitting: submit.c) */
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"
#include "conn.h"
#include "gqd/core/core.h"
#include "gqd/core/event.h"

#define LIST_MAX 1000000

/* --- a row as a message --------------------------------------------------------------------- */

/* The fields that cost something to know; most lists leave them out. */
static bool wants(uint64_t mask, const char *field, uint64_t *bit)
{
	if (!*bit)
		*bit = api_field_bit(&api_job_object, field);
	return mask & *bit;
}

static const char *explain(
	const struct req *q, const struct job *j, char *buf, size_t size)
{
	if (!job_state_is_ended(j->state) && !job_state_has_cards(j->state)) {
		core_explain(req_core(q), j, req_now(q), buf, size);
		if (buf[0])
			return buf;
	}
	return j->reason == REASON_NONE ? NULL : reason_help(j->reason);
}

void cards_message(const uint16_t *cards, size_t n, struct api_cards *ret)
{
	ret->n = (uint32_t)n;
	memcpy(ret->index, cards, n * sizeof(*cards));
}

static void cards_of_job(const struct core *core, const struct job *j, struct api_job *m)
{
	const struct card *const *cards;
	size_t n = core_cards(core, &cards);

	cards_message(j->cards, j->n_cards, &m->cards);
	for (size_t i = 0; i < j->n_cards; i++) {
		for (size_t k = 0; k < n; k++) {
			if (cards[k]->index == j->cards[i])
				m->gpu_uuids.word[m->gpu_uuids.n++] = cards[k]->uuid;
		}
	}
}

static void times_of_job(const struct req *q, const struct job *j, struct api_job *m)
{
	m->submit_time = j->submitted_at;
	m->begin_time = j->begin_at;
	m->start_time = j->started_at;
	m->end_time = j->ended_at;
	m->notice_time = j->notice_at;
	m->due_time = j->due_at;
	m->run_s = j->ran + (j->run_since ? req_now(q) - j->run_since : 0);
	m->lost_s = j->lost;
	m->time_limit_s = j->time_limit;
	m->time_min_s = j->time_min;
	m->grace_s = j->grace;
	m->store_s = j->store_cost;
	m->restore_s = j->restore_cost;
}

static void end_of_job(const struct job *j, struct api_job *m)
{
	bool exited = job_state_is_ended(j->state) && j->started_at && j->exit_code >= 0;

	m->ended = job_state_is_ended(j->state);
	m->exit_code = exited ? j->exit_code : API_NONE;
	m->exit_signal = m->ended && j->exit_signal ? j->exit_signal : API_NONE;
}

static void grade_of_job(const struct req *q, const struct job *j, struct api_job *m)
{
	const struct api_host *host = req_host(q);
	const struct api_grade *g = host->grade ? host->grade(host->ctx, j->id) : NULL;

	if (!g || m->ended)
		return;
	m->grade = g->grade;
	m->findings = g->findings;
}

void job_message(const struct req *q, const struct job *j, uint64_t mask,
	struct api_job *m, char reason_text[256])
{
	static uint64_t reason_bit, text_bit, promise_bit;

	*m = (struct api_job){
		.job_id = j->id,
		.incarnation = j->incarnation,
		.image = j->image,
		.uid = j->uid,
		.priority = j->priority,
		.evictions = j->evictions,
		.requeues = j->requeues,
		.name = j->name,
		.user = names_user(j->uid),
		.account = j->account,
		.state = job_state_code(j->state),
		.state_name = job_state_name(j->state),
		.gpu_type = j->gpu_type,
		.qos = j->level < 0   ? "low"
		       : j->level > 0 ? "high"
				      : "normal",
		.checkpoint = checkpoint_mode_name(j->checkpoint),
		.cause = j->cause ? cause_name(j->cause) : NULL,
		.error = j->error,
		.gpus = j->gpus,
		.vram_mib = j->vram_mib ? j->vram_mib : API_NONE,
		.rss_mib = j->rss_mib ? j->rss_mib : API_NONE,
		.version = (int64_t)j->version,
		.requeue = j->requeue,
	};
	cards_of_job(req_core(q), j, m);
	times_of_job(q, j, m);
	end_of_job(j, m);
	grade_of_job(q, j, m);
	if (wants(mask, "promise_s", &promise_bit))
		m->promise_s = core_promise(req_core(q), j);
	if (wants(mask, "reason", &reason_bit))
		m->reason = reason_name(core_reason(req_core(q), j, req_now(q)));
	if (wants(mask, "reason_text", &text_bit))
		m->reason_text = explain(q, j, reason_text, 256);
}

static void write_job(struct req *q, const struct job *j, uint64_t mask, struct buf *out)
{
	struct api_job m;
	char text[256];

	job_message(q, j, mask, &m, text);
	api_encode(out, &api_job_object, &m, mask);
}

/* --- lists ---------------------------------------------------------------------------------- */

struct list {
	struct req *q;
	uint64_t mask;
	uint32_t states; /* bit i = enum job_state i */
	bool by_user, ended;
	uid_t uid;
	char account[128], name[128];
	int64_t limit;
	/* those from the store */
	struct buf text;
	struct piece {
		uint32_t id;
		size_t at, len;
	} * pieces; /* owned */
	size_t n, cap;
};

static int parse_states(const char *words, uint32_t *ret, struct gq_err *err)
{
	uint32_t states = 0;

	for (size_t n; *words; words += n + (words[n] == ',')) {
		uint32_t before = states;

		n = strcspn(words, ",");
		for (int s = 0; s < JOB_STATE_N; s++) {
			const char *code = job_state_code(s), *name = job_state_name(s);

			if ((strlen(code) == n && strncasecmp(code, words, n) == 0) ||
				(strlen(name) == n && strncasecmp(name, words, n) == 0))
				states |= 1u << s;
		}
		if (states == before)
			return gq_err_set(err, -EINVAL, "state: no state '%.*s'",
				n > 40 ? 40 : (int)n, words);
	}
	if (!states)
		return gq_err_set(err, -EINVAL, "state: the list is empty");
	*ret = states;
	return 0;
}

static int parse_list(struct req *q, struct list *l, struct gq_err *err)
{
	char text[1024];
	int r;

	*l = (struct list){.q = q, .states = UINT32_MAX, .limit = LIST_MAX};
	l->mask = API_ALL_FIELDS & ~api_field_bit(&api_job_object, "spec");
	if (req_query_flag(q, "ended", &l->ended, err) < 0 ||
		req_query_int(q, "limit", 1, LIST_MAX, &l->limit, err) < 0 ||
		req_query(q, "account", l->account, sizeof(l->account), err) < 0 ||
		req_query(q, "name", l->name, sizeof(l->name), err) < 0)
		return -EINVAL;
	r = req_query(q, "state", text, sizeof(text), err);
	if (r > 0)
		r = parse_states(text, &l->states, err);
	if (r >= 0 && (r = req_query(q, "fields", text, sizeof(text), err)) > 0)
		r = api_fields_parse(&api_job_object, text, &l->mask, err);
	if (r >= 0 && (r = req_query(q, "user", text, sizeof(text), err)) > 0) {
		l->by_user = true;
		r = names_uid(text, &l->uid, err);
	}
	return r < 0 ? r : 0;
}

static bool is_wanted(const struct list *l, const struct job *j)
{
	return (l->states >> j->state & 1) && (!l->by_user || j->uid == l->uid) &&
	       (!l->account[0] || (j->account && strcmp(j->account, l->account) == 0)) &&
	       (!l->name[0] || (j->name && strcmp(j->name, l->name) == 0));
}

/* The store also has those that the core still keeps; they were listed from there. */
static void add_stored(void *ctx, const struct job *j)
{
	struct list *l = ctx;

	if ((int64_t)l->n >= l->limit || !is_wanted(l, j) ||
		core_job(req_core(l->q), j->id))
		return;
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 256;
		l->pieces = xrealloc(l->pieces, l->cap, sizeof(*l->pieces));
	}
	l->pieces[l->n] = (struct piece){.id = j->id, .at = l->text.len};
	write_job(l->q, j, l->mask, &l->text);
	l->pieces[l->n].len = l->text.len - l->pieces[l->n].at;
	l->n++;
}

static int load_stored(struct list *l, size_t in_memory, struct gq_err *err)
{
	const struct api_host *h = req_host(l->q);
	struct api_filter f = {.uid = l->by_user ? l->uid : (uid_t)-1, .kind = -1};

	/* newest first: enough rows even if all that the core knows come before the older ones;
	 * with filters that the store does not have, all of them */
	f.limit = l->states == UINT32_MAX && !l->account[0] && !l->name[0]
			  ? (uint32_t)(l->limit + (int64_t)in_memory)
			  : UINT32_MAX;
	return h->each_job(h->ctx, &f, add_stored, l, err);
}

static int by_id(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void write_list(struct list *l)
{
	const struct job *const *jobs;
	size_t n = core_jobs(req_core(l->q), &jobs), found = 0, skip, k = 0;
	struct buf *out = &l->q->reply;
	char before = '[';

	for (size_t i = 0; i < n; i++)
		found += is_wanted(l, jobs[i]);
	skip = found + l->n > (size_t)l->limit ? found + l->n - (size_t)l->limit : 0;
	if (l->n)
		qsort(l->pieces, l->n, sizeof(*l->pieces), by_id);
	for (size_t i = 0; i < n || k < l->n;) {
		const struct job *j = i < n ? jobs[i] : NULL;
		bool stored = k < l->n && (!j || l->pieces[k].id < j->id);

		if (!stored && !is_wanted(l, j)) {
			i++;
			continue;
		}
		if (skip) {
			skip--;
		} else {
			buf_chr(out, before);
			before = ',';
			if (stored)
				buf_add(out, l->text.data + l->pieces[k].at,
					l->pieces[k].len);
			else
				write_job(l->q, j, l->mask, out);
		}
		if (stored)
			k++;
		else
			i++;
	}
	buf_str(out, before == '[' ? "[]\n" : "]\n");
}

void api_do_job_list(struct req *q)
{
	const struct core *core = req_core(q);
	const struct job *const *jobs;
	struct gq_err err = {0};
	struct list l;
	int r;

	r = parse_list(q, &l, &err);
	if (r == 0 && req_wait(q, 0, core_version(core), &err))
		return;
	if (r == 0)
		r = err.code;
	if (r == 0 && l.ended)
		r = load_stored(&l, core_jobs(core, &jobs), &err);
	if (r < 0) {
		req_fail(q, r, &err);
	} else {
		q->reply =
			q->api->spare; /* warm memory: a long list costs no page faults */
		q->api->spare = (struct buf)BUF_INIT;
		q->version = core_version(core);
		write_list(&l);
		req_reply(q);
	}
	free(l.pieces);
	buf_clear(&l.text);
}

/* --- one job -------------------------------------------------------------------------------- */

static int add_spec(struct req *q, const struct job *j, char **ret, struct gq_err *err)
{
	const struct api_host *h = req_host(q);
	bool wanted = false;
	size_t len;
	int r = req_query_flag(q, "spec", &wanted, err);

	if (r < 0 || !wanted)
		return r;
	if (j->uid != req_peer(q)->uid && !req_is_operator(q))
		return gq_err_set(err, -EPERM,
			"job %u: its submission is shown to its user and operators",
			j->id);
	return h->spec_json(h->ctx, j->id, ret, &len, err);
}

static void reply_job(struct req *q, const struct job *j)
{
	_cleanup_free_ char *spec = NULL;
	struct gq_err err = {0};
	struct api_job m;
	char text[256];
	int r = add_spec(q, j, &spec, &err);

	if (r < 0) {
		req_fail(q, r, &err);
		return;
	}
	job_message(q, j, API_ALL_FIELDS, &m, text);
	m.spec = spec;
	q->version = j->version;
	api_encode(&q->reply, &api_job_object, &m, API_ALL_FIELDS);
	buf_chr(&q->reply, '\n');
	req_reply(q);
}

void api_do_job_get(struct req *q)
{
	const struct api_host *h = req_host(q);
	struct gq_err err = {0};
	const struct job *j;
	struct job stored = {0};
	uint32_t id;
	int r = req_arg_id(q, "job", &id, &err);

	j = r < 0 ? NULL : core_job(req_core(q), id);
	if (j) {
		if (!job_state_is_ended(j->state) && req_wait(q, id, j->version, &err))
			return;
		r = err.code;
	} else if (r == 0) {
		r = h->stored_job(h->ctx, id, &stored, &err);
		if (r == -ENOENT)
			gq_err_set(&err, r, "job %u: no such job", id);
		j = &stored;
	}
	if (r < 0)
		req_fail(q, r, &err);
	else
		reply_job(q, j);
	job_clear(&stored);
}

/* --- acting on one -------------------------------------------------------------------------- */

static void act(struct req *q, struct event *ev)
{
	struct gq_err err = {0};
	const struct job *j;
	int r = req_arg_id(q, "job", &ev->job, &err);

	if (r == 0)
		r = req_step(q, ev, &err);
	if (r < 0) {
		req_fail(q, r, &err);
		return;
	}
	j = core_job(req_core(q), ev->job);
	if (j) {
		reply_job(q, j);
		if (q->status != 200)
			return;
	} else {
		buf_fmt(&q->reply, "{\"job_id\":%u}\n", ev->job);
	}
	req_hold(q);
}

static bool has_no_body(struct req *q)
{
	struct api_renew_body none;
	struct gq_err err = {0};

	if (q->body_len == 0)
		return true;
	if (body_read(q, &api_renew_body_object, &none, &err) == 0 && !none.state)
		return true; /* {} */
	req_error(q, 400, "EINVAL", "body: this request has none");
	return false;
}

static void act_plainly(struct req *q, enum event_type type)
{
	struct event ev = {.type = type};

	if (has_no_body(q))
		act(q, &ev);
}

void api_do_job_cancel(struct req *q)
{
	act_plainly(q, EV_CANCEL);
}

void api_do_job_hold(struct req *q)
{
	act_plainly(q, EV_HOLD);
}

void api_do_job_release(struct req *q)
{
	act_plainly(q, EV_RELEASE);
}

void api_do_job_resume(struct req *q)
{
	act_plainly(q, EV_RELEASE);
}

static int read_evict(struct req *q, struct event *ev, struct gq_err *err)
{
	struct api_evict_body b;
	int r = body_read(q, &api_evict_body_object, &b, err);

	if (r < 0)
		return r;
	if (b.mode && strcmp(b.mode, "store") == 0)
		ev->evict_mode = EVICT_STORE;
	else if (b.mode && strcmp(b.mode, "requeue") == 0)
		ev->evict_mode = EVICT_REQUEUE;
	else if (b.mode)
		return gq_err_set(err, -EINVAL,
			"mode: '%.40s' is neither store nor requeue", b.mode);
	r = b.grace ? parse_duration(b.grace, &ev->evict_grace, err) : 0;
	return r < 0 ? gq_err_prefix(err, r, "grace") : 0;
}

void api_do_job_evict(struct req *q)
{
	struct event ev = {
		.type = EV_EVICT, .evict_mode = EVICT_DEFAULT, .evict_grace = GQ_NEVER};
	struct gq_err err = {0};
	int r = read_evict(q, &ev, &err);

	if (r < 0)
		req_fail(q, r, &err);
	else
		act(q, &ev);
}
