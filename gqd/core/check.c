/* SPDX-License-Identifier: MIT
 * check.c - what must always be true of the core, for debug builds and the simulator */
#include "core_priv.h"

static int check_job_cards(const struct core *c, const struct job *j, struct gq_err *err)
{
	bool has = job_state_has_cards(j->state);

	if (has != (j->n_cards > 0))
		return gq_err_set(err, -EPROTO, "job %u: %s with %u cards", j->id,
			job_state_name(j->state), j->n_cards);
	if (has && j->n_cards != j->gpus)
		return gq_err_set(err, -EPROTO, "job %u: asked for %u cards, has %u", j->id, j->gpus,
			j->n_cards);
	for (size_t i = 0; i < j->n_cards; i++) {
		const struct card *card = card_at(c, j->cards[i]);

		if (!card || card->job != j->id)
			return gq_err_set(err, -EPROTO, "job %u: card %u belongs to job %u", j->id,
				j->cards[i], card ? card->job : 0);
	}
	return 0;
}

static int check_job_queue(const struct entry *e, struct gq_err *err)
{
	bool waits = e->row.state == JOB_PENDING || e->row.state == JOB_STORED;

	if (waits != (e->bucket != NULL))
		return gq_err_set(err, -EPROTO, "job %u: %s, but %s the queue", e->row.id,
			job_state_name(e->row.state), e->bucket ? "in" : "not in");
	return 0;
}

static int check_job(const struct core *c, const struct entry *e, struct gq_err *err)
{
	const struct job *j = &e->row;
	int r = check_job_cards(c, j, err);

	if (r == 0)
		r = check_job_queue(e, err);
	if (r < 0)
		return r;
	if ((j->state == JOB_STORED || j->state == JOB_STORED_HELD || j->state == JOB_RESTORING) &&
		!j->image)
		return gq_err_set(err, -EPROTO, "job %u: %s without an image", j->id,
			job_state_name(j->state));
	if ((j->state == JOB_NOTICE || j->state == JOB_STORING) && !evict_row(c, j->eviction))
		return gq_err_set(err, -EPROTO, "job %u: leaves without an eviction row", j->id);
	if (!job_state_has_cards(j->state) && j->eviction)
		return gq_err_set(err, -EPROTO, "job %u: has left, its eviction %u is open", j->id,
			j->eviction);
	if (j->run_since && !job_state_has_cards(j->state))
		return gq_err_set(err, -EPROTO, "job %u: clock runs without a card", j->id);
	if (j->ran_saved > j->ran)
		return gq_err_set(err, -EPROTO, "job %u: more saved than computed", j->id);
	if (job_state_is_ended(j->state) != (j->ended_at != 0))
		return gq_err_set(err, -EPROTO, "job %u: %s, ended_at %lld", j->id,
			job_state_name(j->state), (long long)j->ended_at);
	return 0;
}

static int check_cards(const struct core *c, struct gq_err *err)
{
	for EACH (const struct card, card, c->cards, i) {
		const struct entry *e = card->job ? job_entry(c, card->job) : NULL;

		if (card->job && (!e || !job_state_has_cards(e->row.state)))
			return gq_err_set(err, -EPROTO, "card %u: held by job %u, which holds nothing",
				card->index, card->job);
	}
	return 0;
}

int core_check(const struct core *c, gq_time now, struct gq_err *err)
{
	size_t waiting = 0, holding = 0, alive = 0;
	int r = check_cards(c, err);

	(void)now;
	for EACH (const struct entry, e, c->jobs, i) {
		if (r < 0)
			return r;
		r = check_job(c, e, err);
		waiting += e->bucket != NULL;
		holding += job_state_has_cards(e->row.state);
		alive += !job_state_is_ended(e->row.state);
	}
	if (r < 0)
		return r;
	if (waiting != c->n_waiting || holding != c->holding.len || alive != c->n_alive)
		return gq_err_set(err, -EPROTO, "counts: %zu/%zu waiting, %zu/%zu holding, %zu/%zu alive",
			waiting, c->n_waiting, holding, c->holding.len, alive, c->n_alive);
	return 0;
}
