/* SPDX-License-Identifier: MIT
 * services.c - /v1/services: online services register, renew, and say whether they are busy
 * Making one needs an operator (the core refuses others); its user may change it from then on. */
#include <string.h>

#include "base/mem.h"
#include "base/parse.h"
#include "gqd/core/core.h"
#include "gqd/core/event.h"
#include "request.h"

static void write_service(struct req *q, const struct service *s)
{
	struct api_service m = {
		.service_id = s->id,
		.uid = s->uid,
		.name = s->name,
		.user = names_user(s->uid),
		.state = service_state_name(s->state),
		.reserve_vram_mib = s->reserve_mib,
		.from_config = s->from_config,
		.lease_lost = s->lease_lost,
		.lease_s = s->lease,
		.lease_until = s->lease_until,
		.notice_s = s->notice,
		.changed_time = s->changed_at,
	};

	cards_message(s->cards, s->n_cards, &m.cards);
	api_encode(&q->reply, &api_service_object, &m, API_ALL_FIELDS);
}

void api_do_service_list(struct req *q)
{
	const struct service *const *rows;
	size_t n = core_services(req_core(q), &rows);

	buf_chr(&q->reply, '[');
	for (size_t i = 0; i < n; i++) {
		buf_str(&q->reply, i ? "," : "");
		write_service(q, rows[i]);
	}
	buf_str(&q->reply, "]\n");
	req_reply(q);
}

static void reply_service(struct req *q)
{
	const struct service *s = core_service_by_name(req_core(q), q->arg);
	struct gq_err err;

	if (!s) {
		gq_err_set(&err, -ENOENT, "service %.60s: no such service", q->arg);
		req_fail(q, -ENOENT, &err);
		return;
	}
	write_service(q, s);
	buf_chr(&q->reply, '\n');
	req_reply(q);
}

void api_do_service_get(struct req *q)
{
	reply_service(q);
}

static int read_state(const char *word, uint8_t *ret, struct gq_err *err)
{
	for (int i = 0; i < SERVICE_STATE_N; i++) {
		if (strcmp(service_state_name(i), word) == 0) {
			*ret = (uint8_t)i;
			return 0;
		}
	}
	return gq_err_set(err, -EINVAL, "state: '%.40s' is neither idle nor busy", word);
}

static int read_length(
	const char *name, const char *text, gq_time *ret, struct gq_err *err)
{
	int r = text ? parse_duration(text, ret, err) : 0;

	if (r == 0 && *ret == GQ_NEVER)
		r = gq_err_set(err, -EINVAL, "'never' is not a length");
	return r < 0 ? gq_err_prefix(err, r, "%s", name) : 0;
}

static int read_service(struct req *q, struct service *s, struct gq_err *err)
{
	struct api_service_body b;
	int r = body_read(q, &api_service_body_object, &b, err);

	if (r == 0 && b.cards.n) {
		s->n_cards = 0;
		r = cards_resolve(req_core(q), &b.cards, s->cards, &s->n_cards, err);
	}
	if (r == 0 && b.reserve_vram) {
		r = parse_size_mib(b.reserve_vram, &s->reserve_mib, err);
		if (r < 0)
			gq_err_prefix(err, r, "reserve_vram");
	}
	if (r == 0)
		r = read_length("lease", b.lease, &s->lease, err);
	if (r == 0)
		r = read_length("notice", b.notice, &s->notice, err);
	if (r == 0 && b.state)
		r = read_state(b.state, &s->state, err);
	if (r == 0 && s->n_cards == 0)
		r = gq_err_set(err, -EINVAL, "cards: a service has at least one");
	return r;
}

static int check_name(const char *name, struct gq_err *err)
{
	size_t n = strspn(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	if (n == 0 || n >= NAME_SIZE || name[n] || name[0] == '.' || name[0] == '-')
		return gq_err_set(err, -EINVAL,
			"service: a name has 1 to %d letters, digits, '.', '_' or '-', and begins with none "
			"of the last two",
			NAME_SIZE - 1);
	return 0;
}

static void finish(struct req *q, int r, const struct gq_err *err)
{
	if (r < 0) {
		req_fail(q, r, err);
		return;
	}
	reply_service(q);
	if (q->status == 200)
		req_hold(q);
}

void api_do_service_put(struct req *q)
{
	const struct service *old = core_service_by_name(req_core(q), q->arg);
	struct event ev = {.type = EV_SERVICE_PUT};
	struct gq_err err = {0};
	int r = check_name(q->arg, &err);

	if (r == 0 && old)
		ev.service = *old;
	str_copy(ev.service.name, NAME_SIZE, q->arg);
	if (r == 0)
		r = read_service(q, &ev.service, &err);
	if (r == 0)
		r = req_step(q, &ev, &err);
	finish(q, r, &err);
}

void api_do_service_renew(struct req *q)
{
	struct event ev = {.type = EV_SERVICE_RENEW};
	struct api_renew_body b;
	struct gq_err err = {0};
	int r = body_read(q, &api_renew_body_object, &b, &err);

	if (r == 0 && b.state) {
		ev.has_state = true;
		r = read_state(b.state, &ev.service.state, &err);
	}
	str_copy(ev.service.name, NAME_SIZE, q->arg);
	if (r == 0)
		r = req_step(q, &ev, &err);
	finish(q, r, &err);
}

void api_do_service_delete(struct req *q)
{
	struct event ev = {.type = EV_SERVICE_DELETE};
	struct gq_err err = {0};
	int r;

	str_copy(ev.service.name, NAME_SIZE, q->arg);
	r = req_step(q, &ev, &err);
	if (r < 0) {
		req_fail(q, r, &err);
		return;
	}
	buf_str(&q->reply, "{}\n");
	req_hold(q);
}
