/* SPDX-License-Identifier: MIT
 * fill.c - the look at the queue: who of those that wait is started on the idle cards
 * In the queue's order, each as soon as it fits. A job that waits for several cards at once is not
 * starved: after GANG_WAIT the jobs behind it do not take single cards any more, as long as the cards
 * it waits for are only held by our own. */
#include <string.h>

#include "base/cleanup.h"
#include "core_priv.h"

#define GANG_WAIT GQ_SEC(300)

static size_t fill_free_cards(const struct core *c, gq_time now)
{
	const struct offer *offers = admit_offers(c, now);
	size_t n = 0;

	for EACH (const struct card, card, c->cards, i)
		n += offers[i].free && !card->job;
	return n;
}

static void fill_start(struct core *c, struct entry *e, const uint16_t *cards, size_t n, gq_time now,
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
static bool fill_is_next(const struct core *c, const struct job *j, gq_time now, gq_time *ret_until)
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
static bool fill_blocks(struct core *c, const struct job *j, enum reason r, gq_time now)
{
	gq_time until;

	if (r != REASON_RESOURCES || j->gpus < 2 || j->begin_at > now ||
		now - j->submitted_at < GANG_WAIT || !fill_is_next(c, j, now, &until))
		return false;
	c->gang_waits = true;
	if (until < c->next_begin)
		c->next_begin = until;
	return true;
}

/* Wishes for one card that were in vain in this pass: who asks for no less need not be looked at. */
struct misfits {
	struct misfit {
		struct need need;
		int64_t vram_mib;
		const char *gpu_type; /* borrowed from the job's row */
	} list[8];
	size_t n;
};

/* Is @b in vain wherever @a is? */
static bool misfit_covers(const struct misfit *a, const struct misfit *b)
{
	return a->need.promise <= b->need.promise && a->need.window <= b->need.window &&
	       a->vram_mib <= b->vram_mib && !a->vram_mib == !b->vram_mib &&
	       (a->gpu_type == b->gpu_type ||
		       (a->gpu_type && b->gpu_type && !strcmp(a->gpu_type, b->gpu_type)));
}

static bool misfits_cover(const struct misfits *m, const struct misfit *f)
{
	for (size_t i = 0; i < m->n; i++)
		if (misfit_covers(&m->list[i], f))
			return true;
	return false;
}

static void misfits_add(struct misfits *m, const struct misfit *f)
{
	for (size_t i = 0; i < m->n; i++) {
		if (misfit_covers(f, &m->list[i])) {
			m->list[i] = *f;
			return;
		}
	}
	if (m->n < ARRAY_LEN(m->list))
		m->list[m->n++] = *f;
}

/* As admit_place(), for one of many in a row. */
static enum reason fill_try(struct core *c, const struct job *j, size_t free, struct misfits *m,
	gq_time now, uint16_t *cards, size_t *ret_n)
{
	struct misfit f;
	enum reason r;

	if (j->gpus > free)
		return REASON_RESOURCES;
	if (j->gpus > 1 || j->begin_at > now)
		return admit_place(c, j, now, cards, ret_n);
	f = (struct misfit){admit_needs(c, j), j->vram_mib, j->gpu_type};
	if (misfits_cover(m, &f))
		return REASON_RESOURCES;
	r = admit_find(c, j, &f.need, now, cards, ret_n);
	if (r != REASON_NONE)
		misfits_add(m, &f);
	return r;
}

void fill_pass(struct core *c, gq_time now, struct effects *fx)
{
	struct misfits misfits = {.n = 0};
	uint16_t cards[JOB_CARDS_MAX];
	size_t free, n, i = 0;

	c->replan = c->gang_waits = false;
	c->next_begin = GQ_NEVER;
	c->offers_at = 0;
	if (!c->conf.offline_fill)
		return;
	free = fill_free_cards(c, now);
	while (free && i < c->buckets.len) {
		struct entry *e = ((struct bucket *)c->buckets.list[i])->head;
		enum reason r = fill_try(c, &e->row, free, &misfits, now, cards, &n);

		if (e->row.begin_at > now && e->row.begin_at < c->next_begin)
			c->next_begin = e->row.begin_at;
		if (r == REASON_NONE) { /* its bucket goes further back, or away */
			fill_start(c, e, cards, n, now, fx);
			free -= n;
		} else if (fill_blocks(c, &e->row, r, now)) {
			break;
		} else {
			i++;
		}
	}
}

/* A new job when nothing else has changed: all before it have been looked at already. */
void fill_new(struct core *c, struct entry *e, gq_time now, struct effects *fx)
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
		fill_start(c, e, cards, n, now, fx);
}
