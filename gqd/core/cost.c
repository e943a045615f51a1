/* SPDX-License-Identifier: MIT
 * cost.c - what leaving and coming back takes; assumed at first, then learned from what it took
 * Small jobs cost a constant (CRIU's own start-up), large ones their size over a rate. A job that was
 * stored before is judged by its own last cost, scaled by its growth. */
#include "core_priv.h"

#define SMALL_MIB 256

static gq_time cost_of_size(int64_t mib, int64_t rate)
{
	return mib * GQ_NS_PER_S / (rate > 0 ? rate : 1);
}

/* Three parts of the old, one of the new; the first value counts alone. */
static int64_t cost_blend(int64_t old, int64_t new)
{
	return old ? (3 * old + new) / 4 : new;
}

gq_time cost_store(const struct core *c, const struct job *j)
{
	gq_time base = c->seen_small ? c->seen_small : c->conf.store_base;
	int64_t rate = c->seen_store_rate ? c->seen_store_rate : c->conf.store_mib_per_s;
	gq_time own;

	own = j->rss_mib > SMALL_MIB ? base + cost_of_size(j->rss_mib, rate) : base;
	return j->store_cost > own ? j->store_cost : own;
}

gq_time cost_restore(const struct core *c, const struct job *j)
{
	gq_time base = c->seen_restore_small ? c->seen_restore_small : c->conf.store_base;
	int64_t rate = c->seen_restore_rate ? c->seen_restore_rate : c->conf.restore_mib_per_s;

	if (j->restore_cost)
		return j->restore_cost;
	return j->rss_mib > SMALL_MIB ? base + cost_of_size(j->rss_mib, rate) : base;
}

/* As for a retransmission timer: a mean says little without its spread. */
gq_time cost_margin(const struct core *c, gq_time cost)
{
	gq_time margin = c->conf.margin;

	if (cost / 4 > margin)
		margin = cost / 4;
	if (cost && 4 * c->seen_spread > margin)
		margin = 4 * c->seen_spread;
	return margin;
}

gq_time cost_grace(const struct core *c, const struct job *j)
{
	return j->grace < c->conf.graceful_exit ? j->grace : c->conf.graceful_exit;
}

bool cost_can_store(const struct core *c, const struct job *j)
{
	return c->conf.can_store && j->checkpoint == CHECKPOINT_AUTO;
}

/* Killing a capsule takes no time worth planning for; the margin covers it. */
gq_time cost_leave(const struct core *c, const struct job *j)
{
	return cost_can_store(c, j) ? cost_store(c, j) : 0;
}

gq_time core_promise(const struct core *c, const struct job *j)
{
	gq_time leave = cost_leave(c, j);

	return cost_grace(c, j) + leave + cost_margin(c, leave);
}

void cost_learn_store(struct core *c, struct job *j, gq_time took, int64_t bytes)
{
	int64_t mib = bytes >> 20;
	gq_time off = took - cost_store(c, j);

	if (took <= 0)
		return;
	j->store_cost = took;
	if (mib <= SMALL_MIB ? c->seen_small : c->seen_store_rate) /* not against a mere assumption */
		c->seen_spread = (3 * c->seen_spread + (off < 0 ? -off : off)) / 4;
	if (mib <= SMALL_MIB)
		c->seen_small = cost_blend(c->seen_small, took);
	else
		c->seen_store_rate = cost_blend(c->seen_store_rate, mib * GQ_NS_PER_S / took + 1);
}

void cost_learn_restore(struct core *c, struct job *j, gq_time took)
{
	if (took <= 0)
		return;
	j->restore_cost = took;
	if (j->rss_mib <= SMALL_MIB)
		c->seen_restore_small = cost_blend(c->seen_restore_small, took);
	else
		c->seen_restore_rate =
			cost_blend(c->seen_restore_rate, j->rss_mib * GQ_NS_PER_S / took + 1);
}
