/* SPDX-License-Identifier: MIT
 * window.c - how long is this card idle, and how much of it may be lent
 * A claim is anything online that wants the card: a reservation, a busy service, a lost lease, a
 * foreign process, a fault. The window of a card for a job ends with the first claim that the job
 * could not share the card with. */
#include <stdio.h>
#include <string.h>

#include "core_priv.h"

static bool reserve_vram_counts(const struct core *c, const struct service *s)
{
	switch (c->conf.reserve_vram) {
	case RESERVE_NEVER: return false;
	case RESERVE_BUSY: return service_claims(s);
	default: return true;
	}
}

/* VRAM of @card that services keep for themselves. */
static int64_t window_reserved_mib(const struct core *c, const struct card *card)
{
	int64_t reserved = 0;

	for EACH (struct service, s, c->services, i)
		if (service_has_card(s, card->index) && reserve_vram_counts(c, s))
			reserved += s->reserve_mib;
	return reserved;
}

static bool window_has_service(const struct core *c, const struct card *card)
{
	for EACH (struct service, s, c->services, i)
		if (service_has_card(s, card->index))
			return true;
	return false;
}

/* The most that the card can ever lend: only what always stands counts. */
int64_t window_ever_mib(const struct core *c, const struct card *card)
{
	int64_t cap = card->mem_total_mib * c->conf.vram_permille / 1000, free = card->mem_total_mib;

	if (c->conf.reserve_vram == RESERVE_ALWAYS)
		free -= window_reserved_mib(c, card);
	if (free < 0)
		free = 0;
	return cap < free ? cap : free;
}

/* The most that it can lend when nothing is reserved by time: services may hold more than their own. */
int64_t window_cap_mib(const struct core *c, const struct card *card)
{
	int64_t cap = card->mem_total_mib * c->conf.vram_permille / 1000;
	int64_t reserved = window_reserved_mib(c, card), free;

	if (card->foreign_mib > reserved && window_has_service(c, card))
		reserved = card->foreign_mib; /* it took more than it had asked for */
	free = card->mem_total_mib - reserved;
	if (free < 0)
		free = 0;
	return cap < free ? cap : free;
}

int64_t core_card_lendable_mib(const struct core *c, const struct card *card, gq_time now)
{
	int64_t cap = window_cap_mib(c, card), used = window_reserved_mib(c, card);

	for EACH (struct reservation, r, c->reservations, i) {
		if (!reserve_is_live(r) || r->start > now || !reserve_has_card(r, card->index))
			continue;
		if (!r->vram_mib)
			return 0;
		used += r->vram_mib;
	}
	if (cap > card->mem_total_mib - used)
		cap = card->mem_total_mib - used;
	return cap > 0 ? cap : 0;
}

/* VRAM that the job takes of the card: what it asked for, or all that may be lent. */
static int64_t window_job_mib(const struct core *c, const struct card *card, const struct job *j)
{
	return j->vram_mib ? j->vram_mib : window_cap_mib(c, card);
}

/* Is the card too small at @at for the job beside all that is reserved then? */
bool window_is_full(const struct core *c, const struct card *card, const struct job *j, gq_time at)
{
	int64_t need = window_job_mib(c, card, j) + window_reserved_mib(c, card);

	for EACH (const struct reservation, r, c->reservations, i) {
		if (!reserve_is_live(r) || r->start > at || r->end <= at ||
			!reserve_has_card(r, card->index))
			continue;
		if (!r->vram_mib)
			return true;
		need += r->vram_mib;
	}
	return need > card->mem_total_mib;
}

static void claim_earlier(struct claim *best, gq_time at, enum cause cause, uint32_t ref)
{
	if (at < best->at)
		*best = (struct claim){at, (uint8_t)cause, ref};
}

/* Is the card held by something that is neither ours nor a service's? */
bool window_is_foreign(const struct core *c, const struct card *card)
{
	return card->foreign_pid && !window_has_service(c, card);
}

struct claim window_claim(const struct core *c, const struct card *card, const struct job *j,
	gq_time now)
{
	struct claim best = {GQ_NEVER, CAUSE_NONE, 0};

	if (card->fault || (!card->present && card->uuid[0]))
		return (struct claim){now, CAUSE_CARD, 0};
	if (window_is_foreign(c, card))
		claim_earlier(&best, now, CAUSE_FOREIGN, 0);
	for EACH (struct service, s, c->services, i) {
		if (!service_has_card(s, card->index))
			continue;
		if (service_claims(s))
			claim_earlier(&best, now, s->lease_lost ? CAUSE_LEASE : CAUSE_SERVICE, s->id);
		else if (j->vram_mib > window_cap_mib(c, card))
			claim_earlier(&best, now, CAUSE_SERVICE, s->id);
	}
	for EACH (struct reservation, r, c->reservations, i) {
		gq_time at = r->start > now ? r->start : now;

		if (at >= best.at || !reserve_is_live(r) || !reserve_has_card(r, card->index))
			continue;
		if (!r->vram_mib || window_is_full(c, card, j, at))
			claim_earlier(&best, at, CAUSE_RESERVATION, r->id);
	}
	return best;
}

struct claim window_claim_all(const struct core *c, const struct job *j, gq_time now)
{
	struct claim best = {GQ_NEVER, CAUSE_NONE, 0};

	for (size_t i = 0; i < j->n_cards; i++) {
		const struct card *card = card_at(c, j->cards[i]);
		struct claim one;

		if (!card)
			continue;
		one = window_claim(c, card, j, now);
		if (one.at < best.at)
			best = one;
	}
	return best;
}

/* Nothing of ours on it, and what is below. */
bool window_card_is_free(const struct core *c, const struct card *card, gq_time now)
{
	return !card->job && window_card_is_free_of_online(c, card, now);
}

/* Seen, healthy, not foreign, below the idle threshold for the hold time. */
bool window_card_is_free_of_online(const struct core *c, const struct card *card, gq_time now)
{
	if (!card->present || card->fault || card->busy || window_is_foreign(c, card))
		return false;
	if (!c->conf.unified && window_has_service(c, card))
		return false;
	return card->idle_since && card->idle_since + c->conf.idle_hold <= now;
}

bool window_card_suits(const struct core *c, const struct card *card, const struct job *j)
{
	(void)c;
	return !j->gpu_type || strcasestr(card->model, j->gpu_type) ||
	       (card->labels && strcasestr(card->labels, j->gpu_type));
}

enum card_state core_card_state(const struct core *c, const struct card *card, gq_time now)
{
	if (!card->present || card->fault)
		return CARD_DOWN;
	if (card->job)
		return CARD_OFFLINE;
	if (window_is_foreign(c, card))
		return CARD_UNMANAGED;
	if (card->busy)
		return CARD_ONLINE;
	for EACH (struct service, s, c->services, i)
		if (service_has_card(s, card->index) && service_claims(s))
			return CARD_ONLINE;
	for EACH (struct reservation, r, c->reservations, i)
		if (reserve_is_live(r) && r->start <= now && reserve_has_card(r, card->index))
			return CARD_ONLINE;
	return CARD_IDLE;
}

static void window_why(const struct core *c, const struct card *card, gq_time now,
	const struct claim *claim, struct window *w)
{
	char text[40];
	size_t n = sizeof(w->why);

	if (card->fault)
		snprintf(w->why, n, "the driver reported a fault of this card");
	else if (!card->present)
		snprintf(w->why, n, "the driver does not see this card");
	else if (card->job)
		snprintf(w->why, n, "lent to job %u", card->job);
	else if (window_is_foreign(c, card))
		snprintf(w->why, n, "unmanaged: process %d (%s) holds %lld MiB", card->foreign_pid,
			card->foreign_name, (long long)card->foreign_mib);
	else if (!c->conf.offline_fill)
		snprintf(w->why, n, "pool.offline_fill is off");
	else if (!c->conf.unified && window_has_service(c, card))
		snprintf(w->why, n, "belongs to a service and pool.unified is off");
	else if (card->busy)
		snprintf(w->why, n, "busy: online load");
	else if (claim->cause == CAUSE_SERVICE || claim->cause == CAUSE_LEASE)
		snprintf(w->why, n, "service %s %s", service_by_id(c, claim->ref)->name,
			claim->cause == CAUSE_LEASE ? "lost its lease: counts as in use" : "is busy");
	else if (!window_card_is_free(c, card, now))
		snprintf(w->why, n, "idle, but not yet for %lld s",
			(long long)(c->conf.idle_hold / GQ_NS_PER_S));
	else if (claim->at <= now)
		snprintf(w->why, n, "reservation %u holds it", claim->ref);
	else if (!w->offered)
		snprintf(w->why, n, "reservation %u at %s leaves less than the pool's smallest window",
			claim->ref, gq_time_iso(claim->at, text));
	else
		snprintf(w->why, n, "offered");
}

void core_window(const struct core *c, const struct card *card, gq_time now, struct window *ret)
{
	struct job typical = {.grace = 0, .checkpoint = CHECKPOINT_AUTO, .time_limit = GQ_NEVER};
	struct claim claim = window_claim(c, card, &typical, now);
	bool free = window_card_is_free(c, card, now);

	*ret = (struct window){.until = claim.at,
		.reservation = claim.cause == CAUSE_RESERVATION ? claim.ref : 0,
		.vram_mib = core_card_lendable_mib(c, card, now)};
	ret->idle_since = card->job || window_is_foreign(c, card) ? 0 : card->idle_since;
	ret->offered = free && c->conf.offline_fill && ret->vram_mib > 0 &&
		       (claim.at == GQ_NEVER ||
			       claim.at - now - core_promise(c, &typical) >= c->conf.min_window);
	window_why(c, card, now, &claim, ret);
}
