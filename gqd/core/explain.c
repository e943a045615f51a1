/* SPDX-License-Identifier: MIT
 * explain.c - one line why a waiting job waits, with the numbers that decide */
#include <stdio.h>

#include "core_priv.h"

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

/* The longest window that any suitable free card offers this job; *ret_ref = what ends it. */
static gq_time explain_longest(const struct core *c, const struct job *j, gq_time now,
	uint16_t *ret_card, uint32_t *ret_ref)
{
	gq_time best = 0;

	*ret_ref = 0;
	*ret_card = 0;
	for EACH (const struct card, card, c->cards, i) {
		struct claim claim;
		gq_time window;

		if (!window_card_suits(c, card, j) || !window_card_is_free(c, card, now))
			continue;
		claim = window_claim(c, card, j, now);
		window = claim.at == GQ_NEVER ? GQ_NEVER : claim.at - now - core_promise(c, j);
		if (window <= best)
			continue;
		best = window;
		*ret_card = card->index;
		*ret_ref = claim.ref;
	}
	return best;
}

static size_t explain_ahead(const struct core *c, const struct job *j)
{
	const struct entry *e = job_entry(c, j->id);

	return e && e->bucket ? queue_ahead(c, e, 1000) : 0;
}

static void explain_window(const struct core *c, const struct job *j, gq_time now, char *buf,
	size_t size)
{
	char need[40], have[40];
	uint16_t card;
	uint32_t ref;
	gq_time longest = explain_longest(c, j, now, &card, &ref);

	gq_duration(admit_need(c, j), need);
	if (longest > 0)
		snprintf(buf, size,
			"needs a window of %s; the longest now is %s on card %u, before reservation %u", need,
			gq_duration(longest, have), card, ref);
	else
		snprintf(buf, size, "needs a window of %s; no card is idle that long before its next "
			"reservation", need);
}

char *core_explain(const struct core *c, const struct job *j, gq_time now, char *buf, size_t size)
{
	enum reason r = core_reason(c, j, now);
	char text[40];

	buf[0] = '\0';
	if (job_state_is_ended(j->state) || job_state_has_cards(j->state)) {
		if (r != REASON_NONE)
			snprintf(buf, size, "%s", reason_help(r));
		return buf;
	}
	switch (r) {
	case REASON_WINDOW: explain_window(c, j, now, buf, size); break;
	case REASON_BEGIN_TIME:
	case REASON_RETRY:
		snprintf(buf, size, "%s, not before %s", reason_help(r), gq_time_iso(j->begin_at, text));
		break;
	case REASON_PRIORITY:
		snprintf(buf, size, "%zu waiting job%s before it", explain_ahead(c, j),
			explain_ahead(c, j) == 1 ? "" : "s");
		break;
	case REASON_RESOURCES:
		snprintf(buf, size, "next in line; waits for %u idle card%s", j->gpus,
			j->gpus == 1 ? "" : "s");
		break;
	case REASON_VRAM:
		snprintf(buf, size, "asks for %lld MiB per card; more is reserved for online services now",
			(long long)j->vram_mib);
		break;
	case REASON_PROMISE:
		snprintf(buf, size, "needs %lld s to leave; the services of the idle cards promise less notice",
			(long long)(core_promise(c, j) / GQ_NS_PER_S));
		break;
	default: snprintf(buf, size, "%s", reason_help(r)); break;
	}
	return buf;
}
