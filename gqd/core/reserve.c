/* SPDX-License-Identifier: MIT
 * reserve.c - reservations: which cards are promised to the online side, from when to when
 * A count is turned into cards when the reservation is made. A recurring one keeps its time of day in
 * local time: its row always describes the present or next occurrence. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

#define DAY GQ_SEC(86400)

bool reserve_is_live(const struct reservation *r)
{
	return r->state == RESERVATION_PLANNED || r->state == RESERVATION_WAITING ||
	       r->state == RESERVATION_HONOURED;
}

bool reserve_has_card(const struct reservation *r, uint16_t card)
{
	for (size_t i = 0; i < r->n_cards; i++)
		if (r->cards[i] == card)
			return true;
	return false;
}

static struct reservation *reserve_by_id(const struct core *c, uint32_t id)
{
	for EACH (struct reservation, r, c->reservations, i)
		if (r->id == id)
			return r;
	return NULL;
}

/* Who has reserved the whole card in a part of [start, end) already; NULL = nobody. */
static const struct reservation *reserve_taken_by(const struct core *c, uint16_t card,
	const struct event_reserve *w)
{
	for EACH (const struct reservation, r, c->reservations, i)
		if (r->id != w->id && reserve_is_live(r) && reserve_has_card(r, card) && !r->vram_mib &&
			!w->vram_mib && r->start < w->end && w->start < r->end)
			return r;
	return NULL;
}

/* A card that one service has to itself is not promised to another; its own it may overlap. */
static int reserve_check_others(const struct core *c, const struct event_reserve *w,
	const struct service *s, struct gq_err *err)
{
	for (size_t i = 0; i < w->n_cards; i++) {
		const struct reservation *r = reserve_taken_by(c, w->cards[i], w);
		const struct service *other = r ? service_by_id(c, r->service) : NULL;
		char start[40], end[40];

		if (!r || r->service == (s ? s->id : 0))
			continue;
		return gq_err_set(err, -EEXIST, "cards: card %u is reserved by reservation %u of %s from %s to %s",
			w->cards[i], r->id, other ? other->name : "an operator", gq_time_iso(r->start, start),
			gq_time_iso(r->end, end));
	}
	return 0;
}

/* Cheapest first: the service's own cards, then cards nobody computes on. */
static int reserve_card_cost(const struct core *c, const struct card *card, const struct service *s)
{
	(void)c;
	return (s && service_has_card(s, card->index) ? 0 : 2) + (card->job ? 1 : 0);
}

static int reserve_choose(const struct core *c, struct event_reserve *w, const struct service *s,
	struct gq_err *err)
{
	size_t seen = 0;

	for (int cost = 0; cost < 4 && w->n_cards < w->count; cost++) {
		for EACH (const struct card, card, c->cards, i) {
			if (w->label && !strcasestr(card->model, w->label) &&
				(!card->labels || !strcasestr(card->labels, w->label)))
				continue;
			seen += cost == 0;
			if (w->n_cards == w->count || reserve_card_cost(c, card, s) != cost ||
				!card->present || card->fault || reserve_taken_by(c, card->index, w))
				continue;
			w->cards[w->n_cards++] = card->index;
		}
	}
	if (w->n_cards < w->count)
		return gq_err_set(err, -E2BIG,
			"count: asked for %u cards%s%s, %u of %zu are not reserved by others then", w->count,
			w->label ? " labelled " : "", w->label ? w->label : "", w->n_cards, seen);
	return 0;
}

static int reserve_check(const struct event_reserve *w, gq_time now, struct gq_err *err)
{
	if (w->n_cards > JOB_CARDS_MAX)
		return gq_err_set(err, -EINVAL, "cards: asked for %u cards, allowed are 1 to %d", w->n_cards,
			JOB_CARDS_MAX);
	if (w->count > JOB_CARDS_MAX)
		return gq_err_set(err, -EINVAL, "count: asked for %u cards, allowed are 1 to %d", w->count,
			JOB_CARDS_MAX);
	if (w->vram_mib < 0)
		return gq_err_set(err, -EINVAL, "vram: %lld MiB is negative", (long long)w->vram_mib);
	if (w->repeat >= REPEAT_N)
		return gq_err_set(err, -EINVAL, "repeat: unknown value %u", w->repeat);
	if (w->end <= w->start)
		return gq_err_set(err, -EINVAL, "end: lies before the start");
	if (w->end <= now)
		return gq_err_set(err, -EINVAL, "end: lies in the past");
	if (w->repeat != REPEAT_NONE &&
		(w->end == GQ_NEVER || w->end - w->start >= (w->repeat == REPEAT_DAILY ? DAY : 7 * DAY)))
		return gq_err_set(err, -EINVAL, "duration: a %s reservation must be shorter than its period",
			repeat_name(w->repeat));
	return 0;
}

static int reserve_check_cards(const struct core *c, const struct event_reserve *w, struct gq_err *err)
{
	for (size_t i = 0; i < w->n_cards; i++) {
		const struct card *card = card_at(c, w->cards[i]);

		if (!card)
			return gq_err_set(err, -ENOENT, "cards: this machine has no card %u", w->cards[i]);
		if (w->vram_mib > card->mem_total_mib && card->mem_total_mib)
			return gq_err_set(err, -E2BIG, "vram: %lld MiB is more than card %u has (%lld MiB)",
				(long long)w->vram_mib, card->index, (long long)card->mem_total_mib);
	}
	return 0;
}

static void reserve_fill(const struct core *c, struct reservation *r, const struct event_reserve *w)
{
	r->repeat = w->repeat;
	r->n_cards = w->n_cards;
	memcpy(r->cards, w->cards, sizeof(r->cards));
	r->vram_mib = w->vram_mib;
	r->start = w->start;
	r->end = w->end;
	r->utc_offset_s = c->conf.utc_offset_s;
}

/* The row describes another occurrence: nothing is known of it yet. */
static void reserve_begin_anew(struct reservation *r)
{
	r->state = RESERVATION_PLANNED;
	r->sudden = false;
	r->free_at = r->late = 0;
}

/* Does the change leave the present occurrence what it is, but for its end and cards given back? */
static bool reserve_is_same(const struct reservation *r, const struct event_reserve *w)
{
	for (size_t i = 0; i < w->n_cards; i++)
		if (!reserve_has_card(r, w->cards[i]))
			return false;
	return r->start == w->start && r->vram_mib == w->vram_mib;
}

static int reserve_may(const struct core *c, const struct event *ev, const struct service *s,
	struct gq_err *err)
{
	(void)c;
	if (ev->privileged || (s && s->uid == ev->uid))
		return 0;
	return gq_err_set(err, -EPERM,
		"reservation: only operators and the one who registered the service may reserve for it");
}

static int reserve_put(struct core *c, gq_time now, struct event *ev, struct gq_err *err)
{
	struct event_reserve w = ev->reserve;
	const struct service *s = w.service ? core_service_by_name(c, w.service) : NULL;
	struct reservation *r = w.id ? reserve_by_id(c, w.id) : NULL;
	int k;

	if (w.service && !s)
		return gq_err_set(err, -ENOENT, "service %.60s: no such service", w.service);
	if (w.id && (!r || !reserve_is_live(r)))
		return gq_err_set(err, -ENOENT, "reservation %u: no such reservation, or it is over", w.id);
	if (r) /* whose it is decides, whatever the wish says */
		s = service_by_id(c, r->service);
	k = reserve_may(c, ev, s, err);
	if (k < 0)
		return k;
	if (!w.n_cards && !w.count && s && s->n_cards) {
		w.n_cards = s->n_cards;
		memcpy(w.cards, s->cards, sizeof(w.cards));
	}
	if (!w.n_cards && !w.count)
		return gq_err_set(err, -EINVAL, "cards: name cards or give a count");
	k = reserve_check(&w, now, err);
	if (k == 0 && !w.n_cards)
		k = reserve_choose(c, &w, s, err);
	if (k == 0)
		k = reserve_check_cards(c, &w, err);
	if (k == 0)
		k = reserve_check_others(c, &w, s, err);
	if (k < 0)
		return k;
	if (!r) {
		r = xnew(struct reservation);
		r->id = c->next_reservation++;
		r->service = s ? s->id : 0;
		r->uid = ev->uid;
		r->created_at = now;
		ptrs_add(&c->reservations, r);
	}
	if (!reserve_is_same(r, &w))
		reserve_begin_anew(r);
	reserve_fill(c, r, &w);
	note_reservation(c, r);
	note_audit(c, now, AUDIT_RESERVATION, r->id, ev->uid, "%s%s: %u card%s", w.id ? "changed" : "made",
		s ? " for a service" : "", r->n_cards, r->n_cards == 1 ? "" : "s");
	ev->ret_id = r->id;
	return 0;
}

static int reserve_delete(struct core *c, gq_time now, struct event *ev, struct gq_err *err)
{
	struct reservation *r = reserve_by_id(c, ev->id);
	int k;

	if (!r || !reserve_is_live(r))
		return gq_err_set(err, -ENOENT, "reservation %u: no such reservation, or it is over", ev->id);
	k = reserve_may(c, ev, service_by_id(c, r->service), err);
	if (k < 0)
		return k;
	r->state = RESERVATION_DELETED;
	core_sweep_later(c, now);
	note_reservation(c, r);
	note_audit(c, now, AUDIT_RESERVATION, r->id, ev->uid, "deleted");
	return 0;
}

int reserve_wish(struct core *c, gq_time now, struct event *ev, struct gq_err *err)
{
	int r = ev->type == EV_RESERVE ? reserve_put(c, now, ev, err) : reserve_delete(c, now, ev, err);

	if (r == 0)
		c->replan = true;
	return r;
}

/* Does a job still hold a card that the reservation needs for itself? */
static bool reserve_is_blocked(const struct core *c, const struct reservation *r, gq_time now)
{
	for EACH (const struct entry, e, c->holding, i) {
		const struct job *j = &e->row;

		for (size_t k = 0; k < j->n_cards; k++) {
			const struct card *card = card_at(c, j->cards[k]);

			if (card && reserve_has_card(r, card->index) &&
				(!r->vram_mib || window_is_full(c, card, j, now)))
				return true;
		}
	}
	return false;
}

static void reserve_next(struct core *c, struct reservation *r)
{
	gq_time period = r->repeat == REPEAT_DAILY ? DAY : 7 * DAY;
	gq_time shift = GQ_SEC(r->utc_offset_s - c->conf.utc_offset_s); /* daylight saving */

	r->start += period + shift;
	r->end += period + shift;
	r->utc_offset_s = c->conf.utc_offset_s;
	reserve_begin_anew(r);
}

/* Clocks were set (daylight saving), or other ones are known since the start: a recurring reservation
 * that has not begun keeps its time of day. */
void reserve_set_clocks(struct core *c, gq_time now)
{
	for EACH (struct reservation, r, c->reservations, i) {
		gq_time shift = GQ_SEC(r->utc_offset_s - c->conf.utc_offset_s);

		if (!shift || r->repeat == REPEAT_NONE || !reserve_is_live(r) || r->start <= now)
			continue;
		r->start += shift;
		r->end += shift;
		r->utc_offset_s = c->conf.utc_offset_s;
		note_reservation(c, r);
	}
}

static void reserve_one(struct core *c, struct reservation *r, gq_time now)
{
	bool blocked;

	if (!reserve_is_live(r))
		return;
	while (r->end <= now && r->repeat != REPEAT_NONE) {
		reserve_next(c, r);
		c->replan = true;
		note_reservation(c, r);
	}
	if (r->end <= now) {
		r->state = RESERVATION_ENDED;
		c->replan = true;
		core_sweep_later(c, now);
		note_reservation(c, r);
		note_audit(c, now, AUDIT_RESERVATION, r->id, (uid_t)-1, "ended");
		return;
	}
	if (r->start > now || r->state == RESERVATION_HONOURED)
		return;
	blocked = reserve_is_blocked(c, r, now);
	if (blocked && r->state == RESERVATION_PLANNED) {
		r->state = RESERVATION_WAITING;
		note_reservation(c, r);
	} else if (!blocked) {
		r->free_at = now;
		r->late = r->state == RESERVATION_WAITING ? now - r->start : 0;
		r->state = RESERVATION_HONOURED;
		note_reservation(c, r);
		note_audit(c, now, AUDIT_RESERVATION, r->id, (uid_t)-1, "honoured%s, %lld ms late",
			r->sudden ? " (sudden)" : "", (long long)(r->late / GQ_NS_PER_MS));
	}
}

void reserve_pass(struct core *c, gq_time now)
{
	for (size_t i = c->reservations.len; i-- > 0;)
		reserve_one(c, c->reservations.list[i], now);
}
