/* SPDX-License-Identifier: MIT
 * admit.c - who gets a card
 * A job is admitted when the idle window of every card it takes is at least what the job needs, its
 * VRAM fits, and it could leave within the notice that the online side gives. Among the cards that do,
 * the tightest window that still holds the job's remaining time wins, so that calm cards stay for
 * long jobs. A job that waits for several cards at once is not starved: after GANG_WAIT the jobs
 * behind it do not take single cards any more. */
#include "core_priv.h"

#define GANG_WAIT  GQ_SEC(300)
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

/* REASON_NONE = the card may be lent to the job now; *ret_until = when it must have left. */
static enum reason admit_card(const struct core *c, const struct card *card, const struct job *j,
	gq_time now, gq_time *ret_until)
{
	struct claim claim;
	gq_time promise = core_promise(c, j);

	if (!window_card_is_free(c, card, now))
		return REASON_RESOURCES;
	if (!core_card_lendable_mib(c, card, now))
		return REASON_RESOURCES;
	if (j->vram_mib > core_card_lendable_mib(c, card, now))
		return REASON_VRAM;
	claim = window_claim(c, card, j, now);
	if (claim.at <= now)
		return REASON_RESOURCES;
	if (claim.at != GQ_NEVER && claim.at - now - promise < admit_need(c, j))
		return REASON_WINDOW;
	if (promise > admit_notice(c, card))
		return REASON_PROMISE;
	*ret_until = claim.at;
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

static bool admit_has_service(const struct core *c, const struct card *card)
{
	for EACH (struct service, s, c->services, i)
		if (service_has_card(s, card->index))
			return true;
	return false;
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

enum reason admit_place(const struct core *c, const struct job *j, gq_time now, uint16_t *cards,
	size_t *ret_n)
{
	struct pick picks[JOB_CARDS_MAX];
	enum reason worst = REASON_NODE_DOWN, r;
	gq_time wish = GQ_NEVER;
	size_t n = 0;

	if (!c->conf.offline_fill)
		return REASON_FILL_OFF;
	if (j->begin_at > now)
		return j->reason == REASON_RETRY ? REASON_RETRY : REASON_BEGIN_TIME;
	if (j->time_limit != GQ_NEVER)
		wish = now + j->time_limit - j->ran + core_promise(c, j);
	for EACH (const struct card, card, c->cards, i) {
		struct pick p = {.card = card->index};

		if (!card->present || !window_card_suits(c, card, j))
			continue;
		r = admit_card(c, card, j, now, &p.until);
		if (reason_rank(r) > reason_rank(worst))
			worst = r;
		if (r != REASON_NONE)
			continue;
		p.service = admit_has_service(c, card);
		pick_insert(picks, &n, j->gpus, p, wish);
	}
	if (n < j->gpus)
		return n ? REASON_RESOURCES : worst;
	for (size_t i = 0; i < n; i++)
		cards[i] = picks[i].card;
	*ret_n = n;
	return REASON_NONE;
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

static size_t admit_free_cards(const struct core *c, gq_time now)
{
	size_t n = 0;

	for EACH (const struct card, card, c->cards, i)
		n += window_card_is_free(c, card, now);
	return n;
}

static void admit_job(struct core *c, struct entry *e, const uint16_t *cards, size_t n, gq_time now,
	struct effects *fx)
{
	bool restore = e->row.state == JOB_STORED;

	queue_remove(c, e);
	job_move_or_die(c, e, MOVE_ADMIT);
	job_take_cards(c, e, cards, n);
	e->row.incarnation++;
	e->row.restored = restore;
	e->row.reason = REASON_NONE;
	e->row.begin_at = 0;
	fx_add(fx, restore ? FX_RESTORE : FX_START, &e->row);
	note_job(c, e);
	note_audit(c, now, AUDIT_JOB, e->row.id, (uid_t)-1, "%s on card %u%s, incarnation %u",
		restore ? "restoring" : "starting", cards[0], n > 1 ? " and others" : "",
		e->row.incarnation);
}

/* Would the job have its cards if our own jobs left theirs? *ret_until = how long that holds. */
static bool admit_is_next(const struct core *c, const struct job *j, gq_time now, gq_time *ret_until)
{
	gq_time promise = core_promise(c, j), need = admit_need(c, j), until = GQ_NEVER;
	size_t n = 0;

	for EACH (const struct card, card, c->cards, i) {
		gq_time at;

		if (!window_card_suits(c, card, j) || (!card->job && !window_card_is_free(c, card, now)))
			continue;
		at = window_claim(c, card, j, now).at;
		if (at != GQ_NEVER && at - now - promise < need)
			continue;
		n++;
		if (at != GQ_NEVER && at - promise - need + 1 < until)
			until = at - promise - need + 1;
	}
	*ret_until = until;
	return n >= j->gpus;
}

/* Does this waiting job keep the ones behind it from taking single cards? */
static bool admit_blocks(struct core *c, const struct job *j, enum reason r, gq_time now)
{
	gq_time until;

	if (r != REASON_RESOURCES || j->gpus < 2 || j->begin_at > now ||
		now - j->submitted_at < GANG_WAIT || !admit_is_next(c, j, now, &until))
		return false;
	c->gang_waits = true;
	if (until < c->next_begin)
		c->next_begin = until;
	return true;
}

void admit_pass(struct core *c, gq_time now, struct effects *fx)
{
	size_t free = admit_free_cards(c, now), n;
	uint16_t cards[JOB_CARDS_MAX];
	struct entry *next;

	c->replan = c->gang_waits = false;
	c->next_begin = GQ_NEVER;
	if (!c->conf.offline_fill)
		return;
	for (struct entry *e = queue_first(c); e && free; e = next) {
		enum reason r;

		next = queue_next(c, e);
		if (e->row.begin_at > now && e->row.begin_at < c->next_begin)
			c->next_begin = e->row.begin_at;
		r = e->row.gpus > free ? REASON_RESOURCES : admit_place(c, &e->row, now, cards, &n);
		if (r == REASON_NONE) {
			admit_job(c, e, cards, n, now, fx);
			free = admit_free_cards(c, now);
		} else if (admit_blocks(c, &e->row, r, now)) {
			break;
		}
	}
}

/* A new job when nothing else has changed: all before it have been looked at already. */
void admit_new(struct core *c, struct entry *e, gq_time now, struct effects *fx)
{
	uint16_t cards[JOB_CARDS_MAX];
	size_t n;

	if (e->row.begin_at > now && e->row.begin_at < c->next_begin)
		c->next_begin = e->row.begin_at;
	if (c->gang_waits) /* it may stand before the gang */
		c->replan = true;
	if (c->replan)
		return;
	if (admit_place(c, &e->row, now, cards, &n) == REASON_NONE)
		admit_job(c, e, cards, n, now, fx);
}

enum reason core_reason(const struct core *c, const struct job *j, gq_time now)
{
	uint16_t cards[JOB_CARDS_MAX];
	const struct entry *first;
	enum reason r;
	size_t n;

	if (j->state != JOB_PENDING && j->state != JOB_STORED)
		return j->reason;
	r = admit_place(c, j, now, cards, &n);
	if (r != REASON_NONE && r != REASON_RESOURCES)
		return r;
	first = queue_first(c);
	return first && first->row.id == j->id ? REASON_RESOURCES : REASON_PRIORITY;
}
