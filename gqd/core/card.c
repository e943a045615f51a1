/* SPDX-License-Identifier: MIT
 * card.c - the cards as the driver shows them */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

#define CARDS_MAX 20000 /* the simulator's largest world has 10,000 */

struct card *card_at(const struct core *c, size_t index)
{
	return index < c->cards.len ? c->cards.list[index] : NULL;
}

struct card *card_make(struct core *c, uint16_t index)
{
	while (c->cards.len <= index) {
		struct card *card = xnew(struct card);

		card->index = (uint16_t)c->cards.len;
		ptrs_add(&c->cards, card);
	}
	return c->cards.list[index];
}

static void card_numbers(struct card *card, const struct event_card *e)
{
	card->util_percent = e->util_percent;
	card->temperature_c = e->temperature_c;
	card->mem_used_mib = e->mem_used_mib;
}

static void card_audit(struct core *c, const struct card *card, const struct event_card *e, gq_time now)
{
	if (card->present != e->present)
		note_audit(c, now, AUDIT_CARD, card->index, (uid_t)-1,
			e->present ? "seen by the driver: %s" : "not seen by the driver any more: %s",
			card->uuid);
	if (!card->fault && e->fault)
		note_audit(c, now, AUDIT_CARD, card->index, (uid_t)-1, "the driver reports a fault");
	if (card->foreign_pid != e->foreign_pid && e->foreign_pid)
		note_audit(c, now, AUDIT_CARD, card->index, (uid_t)-1,
			"process %d (%s) holds %lld MiB of it", e->foreign_pid,
			e->foreign_name ? e->foreign_name : "?", (long long)e->foreign_mib);
	if (card->foreign_pid && !e->foreign_pid)
		note_audit(c, now, AUDIT_CARD, card->index, (uid_t)-1, "no foreign process on it any more");
}

int card_event(struct core *c, gq_time now, const struct event *ev, struct gq_err *err)
{
	const struct event_card *e = &ev->card;
	struct card *card;
	bool was_quiet, is_quiet, was_foreign, first;

	if (e->index >= CARDS_MAX)
		return gq_err_set(err, -E2BIG, "card %u: more than %d cards", e->index, CARDS_MAX);
	card = card_make(c, e->index);
	c->cards_seen = true;
	card_numbers(card, e);
	if (e->sample_only)
		return 0;
	first = !card->uuid[0];
	was_quiet = card->present && !card->busy;
	was_foreign = window_is_foreign(c, card);
	str_copy(card->uuid, sizeof(card->uuid), e->uuid ? e->uuid : "");
	card_audit(c, card, e, now);
	str_copy(card->model, sizeof(card->model), e->model ? e->model : "");
	str_copy(card->foreign_name, sizeof(card->foreign_name), e->foreign_name ? e->foreign_name : "");
	free(card->labels);
	card->labels = xstrdup(e->labels);
	if (e->mem_total_mib)
		card->mem_total_mib = e->mem_total_mib;
	card->present = e->present;
	card->fault = e->fault;
	card->busy = e->busy;
	card->foreign_pid = e->foreign_pid;
	card->foreign_mib = e->foreign_mib;
	is_quiet = card->present && !card->busy;
	if (first && is_quiet) /* nothing is known against it: its first sample speaks for it */
		card->idle_since = now - c->conf.idle_hold;
	else if (!is_quiet)
		card->idle_since = 0;
	else if (!was_quiet || (was_foreign && !window_is_foreign(c, card)))
		card->idle_since = now;
	c->replan = true;
	return 0;
}
