/* SPDX-License-Identifier: MIT
 * admit.c - whether a job gets a card now, which, and why not
 * A job is admitted when the idle window of every card it takes is at least what the job needs, its
 * VRAM fits, and it could leave within the notice that the online side gives. Among the cards that do,
 * the tightest window that still holds the job's remaining time wins, so that calm cards stay for
 * long jobs. */
#include "base/mem.h"
#include "core_priv.h"

#define START_COST GQ_MSEC(100)

/* The smallest window that is worth starting the job in, its exit promise not counted. */
gq_time admit_need(const struct core *c, const struct job *j)
{
	gq_time need = c->conf.min_window;
	gq_time cost = START_COST + cost_leave(c, j) + (j->image ? cost_restore(c, j) : 0);
	gq_time left = j->time_limit == GQ_NEVER ? 0 : j->time_limit - j->ran;

	if (c->conf.cost_factor * cost > need)
		need = c->conf.cost_factor * cost;
	if (j->time_min > need)
		need = j->time_min;
	if (j->checkpoint == CHECKPOINT_NONE && !j->time_min && left > need)
		need = left; /* what it cannot finish is lost */
	return need;
}

/* The least notice that services of this card promise to give; GQ_NEVER = none said. */
static gq_time admit_notice(const struct core *c, const struct card *card)
{
	gq_time least = GQ_NEVER;

	for EACH (struct service, s, c->services, i)
		if (s->notice && service_has_card(s, card->index) && s->notice < least)
			least = s->notice;
	return least;
}

static bool admit_has_service(const struct core *c, const struct card *card)
{
	for EACH (struct service, s, c->services, i)
		if (service_has_card(s, card->index))
			return true;
	return false;
}

/* Does somebody share the card by VRAM, so that each job has a window of its own? */
static bool admit_is_shared(const struct core *c, const struct card *card)
{
	for EACH (struct reservation, r, c->reservations, i)
		if (r->vram_mib && reserve_is_live(r) && reserve_has_card(r, card->index))
			return true;
	return false;
}

/* The same for every job that asks within one step: looked up once. */
const struct offer *admit_offers(const struct core *core, gq_time now)
{
	struct core *c = (struct core *)core; /* a cache: nobody can tell */
	const struct job any = {0};

	if (c->offers_at == now && c->n_offers == c->cards.len)
		return c->offers;
	if (c->n_offers != c->cards.len)
		c->offers = xrealloc(c->offers, c->cards.len, sizeof(*c->offers));
	c->n_offers = c->cards.len;
	c->offers_at = now;
	for EACH (const struct card, card, c->cards, i) {
		struct offer *o = &c->offers[i];

		*o = (struct offer){.free = window_card_is_free_of_online(c, card, now)};
		if (!o->free)
			continue;
		o->service = admit_has_service(c, card);
		o->shared = admit_is_shared(c, card);
		o->lendable_mib = core_card_lendable_mib(c, card, now);
		o->until = window_claim(c, card, &any, now).at;
		o->notice = admit_notice(c, card);
	}
	return c->offers;
}

struct need admit_needs(const struct core *c, const struct job *j)
{
	return (struct need){core_promise(c, j), admit_need(c, j)};
}

/* REASON_NONE = the card may be lent to the job now; *ret_until = when it must have left. */
static enum reason admit_card(const struct core *c, const struct card *card, const struct offer *o,
	const struct job *j, const struct need *need, gq_time now, gq_time *ret_until)
{
	gq_time until = o->until;

	if (!o->free || card->job || !o->lendable_mib)
		return REASON_RESOURCES;
	if (j->vram_mib > o->lendable_mib)
		return REASON_VRAM;
	if (o->shared)
		until = window_claim(c, card, j, now).at;
	if (until <= now)
		return REASON_RESOURCES;
	if (until != GQ_NEVER && until - now - need->promise < need->window)
		return REASON_WINDOW;
	if (need->promise > o->notice)
		return REASON_PROMISE;
	*ret_until = until;
	return REASON_NONE;
}

struct pick {
	uint16_t card;
	gq_time until;
	bool service;
};

/* Is @a a better card than @b for a job that runs until @wish? Tightest fit, else longest window. */
static bool pick_better(const struct pick *a, const struct pick *b, gq_time wish)
{
	bool fits_a = a->until >= wish, fits_b = b->until >= wish;

	if (fits_a != fits_b)
		return fits_a;
	if (a->until != b->until)
		return fits_a ? a->until < b->until : a->until > b->until;
	if (a->service != b->service)
		return b->service;
	return a->card < b->card;
}

static void pick_insert(struct pick *picks, size_t *n, size_t max, struct pick p, gq_time wish)
{
	size_t at = *n;

	while (at > 0 && pick_better(&p, &picks[at - 1], wish))
		at--;
	if (at >= max)
		return;
	if (*n < max)
		(*n)++;
	for (size_t i = *n - 1; i > at; i--)
		picks[i] = picks[i - 1];
	picks[at] = p;
}

/* The reason that is nearest to success speaks for the job. */
static int reason_rank(enum reason r)
{
	switch (r) {
	case REASON_PROMISE: return 4;
	case REASON_WINDOW: return 3;
	case REASON_VRAM: return 2;
	case REASON_RESOURCES: return 1;
	default: return 0;
	}
}

enum reason admit_find(const struct core *c, const struct job *j, const struct need *need,
	gq_time now, uint16_t *cards, size_t *ret_n)
{
	const struct offer *offers;
	struct pick picks[JOB_CARDS_MAX];
	enum reason worst = c->cards_seen ? REASON_NODE_DOWN : REASON_RESOURCES, r;
	gq_time wish = GQ_NEVER;
	size_t n = 0;

	if (!c->conf.offline_fill)
		return REASON_FILL_OFF;
	if (j->begin_at > now)
		return j->reason == REASON_RETRY ? REASON_RETRY : REASON_BEGIN_TIME;
	if (j->time_limit != GQ_NEVER)
		wish = now + j->time_limit - j->ran + need->promise;
	offers = admit_offers(c, now);
	for EACH (const struct card, card, c->cards, i) {
		struct pick p = {.card = card->index, .service = offers[i].service};

		if (!card->present || !window_card_suits(c, card, j))
			continue;
		r = admit_card(c, card, &offers[i], j, need, now, &p.until);
		if (reason_rank(r) > reason_rank(worst))
			worst = r;
		if (r != REASON_NONE)
			continue;
		pick_insert(picks, &n, j->gpus, p, wish);
	}
	if (n < j->gpus)
		return n ? REASON_RESOURCES : worst;
	for (size_t i = 0; i < n; i++)
		cards[i] = picks[i].card;
	*ret_n = n;
	return REASON_NONE;
}

enum reason admit_place(const struct core *c, const struct job *j, gq_time now, uint16_t *cards,
	size_t *ret_n)
{
	const struct need need = admit_needs(c, j);

	return admit_find(c, j, &need, now, cards, ret_n);
}

/* Could some set of cards of this machine, all idle, hold the job? */
int admit_check_ever(const struct core *c, const struct job *j, struct gq_err *err)
{
	int64_t largest = 0, total = 0;
	size_t suits = 0, fits = 0;

	if (!c->cards.len)
		return 0; /* no card seen yet: nobody can know */
	for EACH (const struct card, card, c->cards, i) {
		int64_t cap = window_ever_mib(c, card);

		if (!window_card_suits(c, card, j))
			continue;
		suits++;
		fits += j->vram_mib <= cap;
		if (cap > largest) {
			largest = cap;
			total = card->mem_total_mib;
		}
	}
	if (!suits)
		return gq_err_set(err, -E2BIG, "gpus: no card of this machine is a '%s'", j->gpu_type);
	if (j->gpus > suits)
		return gq_err_set(err, -E2BIG, "gpus: asked for %u, this machine has %zu%s%s", j->gpus,
			suits, j->gpu_type ? " of type " : "", j->gpu_type ? j->gpu_type : "");
	if (!fits)
		return gq_err_set(err, -E2BIG,
			"vram: asked for %lld MiB per card, no card of this machine can ever lend more "
			"than %lld of its %lld MiB", (long long)j->vram_mib, (long long)largest,
			(long long)total);
	if (fits < j->gpus)
		return gq_err_set(err, -E2BIG,
			"vram: asked for %lld MiB on each of %u cards, only %zu can ever lend that much",
			(long long)j->vram_mib, j->gpus, fits);
	return 0;
}
