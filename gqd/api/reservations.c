/* SPDX-License-Identifier: MIT
 * reservations.c - /v1/reservations: cards that must be free for online work at a time */
#include <string.h>

#include "base/parse.h"
#include "gqd/core/core.h"
#include "gqd/core/event.h"
#include "request.h"

static void write_reservation(struct req *q, const struct reservation *r)
{
	const struct service *s =
		r->service ? core_service(req_core(q), r->service) : NULL;
	struct api_reservation m = {
		.reservation_id = r->id,
		.uid = r->uid,
		.service = s ? s->name : NULL,
		.user = names_user(r->uid),
		.state = reservation_state_name(r->state),
		.repeat = repeat_name(r->repeat),
		.vram_mib = r->vram_mib ? r->vram_mib : API_NONE,
		.sudden = r->sudden,
		.created_time = r->created_at,
		.start_time = r->start,
		.end_time = r->end,
		.free_time = r->free_at,
		.late_ms = r->late,
	};

	cards_message(r->cards, r->n_cards, &m.cards);
	api_encode(&q->reply, &api_reservation_object, &m, API_ALL_FIELDS);
}

void api_do_reservation_list(struct req *q)
{
	const struct reservation *const *rows;
	size_t n = core_reservations(req_core(q), &rows);
	char before = '[';

	for (size_t i = 0; i < n; i++) {
		if (rows[i]->state == RESERVATION_ENDED ||
			rows[i]->state == RESERVATION_DELETED)
			continue;
		buf_chr(&q->reply, before);
		before = ',';
		write_reservation(q, rows[i]);
	}
	buf_str(&q->reply, before == '[' ? "[]\n" : "]\n");
	req_reply(q);
}

static const struct reservation *find(struct req *q, uint32_t *ret_id, struct gq_err *err)
{
	const struct reservation *const *rows;
	size_t n = core_reservations(req_core(q), &rows);

	if (req_arg_id(q, "reservation", ret_id, err) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (rows[i]->id == *ret_id)
			return rows[i];
	}
	gq_err_set(err, -ENOENT, "reservation %u: no such reservation, or it is over",
		*ret_id);
	return NULL;
}

void api_do_reservation_get(struct req *q)
{
	struct gq_err err = {0};
	uint32_t id;
	const struct reservation *r = find(q, &id, &err);

	if (!r) {
		req_fail(q, err.code, &err);
		return;
	}
	write_reservation(q, r);
	buf_chr(&q->reply, '\n');
	req_reply(q);
}

/* --- what the body asks for ----------------------------------------------------------------- */

/* A point in time (@at) or a distance from @from (@in); both is a contradiction. */
static int read_time(const char *at, const char *at_name, const char *in,
	const char *in_name, gq_time from, gq_time now, gq_time *ret, struct gq_err *err)
{
	gq_time distance;
	int r;

	if (at && in)
		return gq_err_set(
			err, -EINVAL, "%s: give it or %s, not both", at_name, in_name);
	if (at) {
		r = parse_when(at, now, ret, err);
		return r < 0 ? gq_err_prefix(err, r, "%s", at_name) : 0;
	}
	if (!in)
		return 0;
	r = parse_duration(in, &distance, err);
	if (r < 0)
		return gq_err_prefix(err, r, "%s", in_name);
	if (distance == GQ_NEVER || __builtin_add_overflow(from, distance, ret))
		*ret = GQ_NEVER;
	return 0;
}

static int read_span(const struct api_reserve_body *b, gq_time now,
	struct event_reserve *w, struct gq_err *err)
{
	int r = read_time(b->start, "start", b->in, "in", now, now, &w->start, err);

	if (r == 0 && w->start == GQ_NEVER)
		r = gq_err_set(err, -EINVAL, "start: 'never' cannot be reserved");
	if (r == 0)
		r = read_time(b->end, "end", b->duration, "duration", w->start, now,
			&w->end, err);
	return r;
}

static int read_repeat(const char *word, uint8_t *ret, struct gq_err *err)
{
	for (int i = 0; i < REPEAT_N; i++) {
		if (strcmp(repeat_name(i), word) == 0) {
			*ret = (uint8_t)i;
			return 0;
		}
	}
	return gq_err_set(
		err, -EINVAL, "repeat: '%.40s' is neither daily nor weekly", word);
}

static int read_cards(struct req *q, const struct api_reserve_body *b,
	struct event_reserve *w, struct gq_err *err)
{
	if (b->cards.n && b->count != API_NONE)
		return gq_err_set(err, -EINVAL, "count: give it or cards, not both");
	if (b->label && b->count == API_NONE)
		return gq_err_set(err, -EINVAL, "label: only together with count");
	w->label = b->label;
	if (b->cards.n)
		return cards_resolve(req_core(q), &b->cards, w->cards, &w->n_cards, err);
	if (b->count == API_NONE)
		return 0;
	if (b->count < 1 || b->count > JOB_CARDS_MAX)
		return gq_err_set(err, -EINVAL, "count: %lld is not in 1..%d",
			(long long)b->count, JOB_CARDS_MAX);
	w->count = (uint8_t)b->count;
	w->n_cards = 0;
	return 0;
}

static int read_reserve(
	struct req *q, struct event_reserve *w, gq_time *ret_notice, struct gq_err *err)
{
	struct api_reserve_body b;
	int r = body_read(q, &api_reserve_body_object, &b, err);

	if (r == 0 && b.service)
		w->service = b.service;
	if (r == 0)
		r = read_span(&b, req_now(q), w, err);
	if (r == 0)
		r = read_cards(q, &b, w, err);
	if (r == 0 && b.vram) {
		r = parse_size_mib(b.vram, &w->vram_mib, err);
		if (r < 0)
			gq_err_prefix(err, r, "vram");
	}
	if (r == 0 && b.repeat)
		r = read_repeat(b.repeat, &w->repeat, err);
	if (r == 0 && b.notice) {
		r = parse_duration(b.notice, ret_notice, err);
		if (r < 0 || *ret_notice == GQ_NEVER)
			r = gq_err_prefix(err, -EINVAL, "notice");
	}
	return r;
}

/* --- making and changing -------------------------------------------------------------------- */

/* The notice is the service's; it is set before the reservation, so that this one is planned with
 * it, and set back when the reservation is refused. */
static int set_notice(struct req *q, const char *name, gq_time notice, gq_time *ret_old,
	struct gq_err *err)
{
	const struct service *s = name ? core_service_by_name(req_core(q), name) : NULL;
	struct event ev = {.type = EV_SERVICE_PUT};

	if (!s)
		return gq_err_set(
			err, -EINVAL, "notice: belongs to a service, and none was named");
	*ret_old = s->notice;
	ev.service = *s;
	ev.service.notice = notice;
	return req_step(q, &ev, err);
}

static int reserve(struct req *q, struct event *ev, gq_time notice, struct gq_err *err)
{
	gq_time old = -1;
	int r = notice < 0 ? 0 : set_notice(q, ev->reserve.service, notice, &old, err);

	if (r < 0)
		return r;
	ev->reserve.uid = req_peer(q)->uid;
	r = req_step(q, ev, err);
	if (r < 0 && old >= 0)
		set_notice(q, ev->reserve.service, old, &old, NULL);
	return r;
}

void api_do_reservation_post(struct req *q)
{
	struct event ev = {.type = EV_RESERVE};
	gq_time notice = -1;
	struct gq_err err = {0};
	int r;

	ev.reserve = (struct event_reserve){.start = req_now(q), .end = GQ_NEVER};
	r = read_reserve(q, &ev.reserve, &notice, &err);
	if (r == 0)
		r = reserve(q, &ev, notice, &err);
	if (r < 0) {
		req_fail(q, r, &err);
		return;
	}
	api_encode(&q->reply, &api_made_object,
		&(struct api_made){.reservation_id = ev.ret_id}, API_ALL_FIELDS);
	buf_chr(&q->reply, '\n');
	req_hold(q);
}

void api_do_reservation_put(struct req *q)
{
	struct event ev = {.type = EV_RESERVE};
	gq_time notice = -1;
	struct gq_err err = {0};
	uint32_t id;
	const struct reservation *old = find(q, &id, &err);
	const struct service *s = old ? core_service(req_core(q), old->service) : NULL;
	int r;

	if (!old) {
		req_fail(q, err.code, &err);
		return;
	}
	ev.reserve = (struct event_reserve){.id = id,
		.service = s ? s->name : NULL,
		.start = old->start,
		.end = old->end,
		.n_cards = old->n_cards,
		.vram_mib = old->vram_mib,
		.repeat = old->repeat};
	memcpy(ev.reserve.cards, old->cards, sizeof(old->cards));
	r = read_reserve(q, &ev.reserve, &notice, &err);
	if (r == 0)
		r = reserve(q, &ev, notice, &err);
	if (r < 0)
		req_fail(q, r, &err);
	else
		api_do_reservation_get(q);
	if (r == 0 && q->status == 200)
		req_hold(q);
}

void api_do_reservation_delete(struct req *q)
{
	struct event ev = {.type = EV_UNRESERVE};
	struct gq_err err = {0};
	int r = req_arg_id(q, "reservation", &ev.id, &err);

	if (r == 0)
		r = req_step(q, &ev, &err);
	if (r < 0) {
		req_fail(q, r, &err);
		return;
	}
	buf_str(&q->reply, "{}\n");
	req_hold(q);
}
