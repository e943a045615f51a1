/* SPDX-License-Identifier: MIT
 * report.c - turns what exec and gpu saw into events for the core */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "daemon.h"

static const enum event_type exec_events[] = {[EXEC_STARTED] = EV_STARTED,
	[EXEC_START_FAILED] = EV_START_FAILED, [EXEC_EXITED] = EV_EXITED,
	[EXEC_STORED] = EV_STORED, [EXEC_STORE_FAILED] = EV_STORE_FAILED,
	[EXEC_RESTORE_FAILED] = EV_RESTORE_FAILED, [EXEC_GONE] = EV_GONE,
	[EXEC_SIZE] = EV_JOB_SIZE};

void report_exec(void *ctx, const struct exec_report *r)
{
	struct daemon *d = ctx;
	struct event ev = {.type = exec_events[r->type], .uid = (uid_t)-1, .privileged = true,
		.job = r->job, .incarnation = r->incarnation, .exit_code = r->exit_code,
		.exit_signal = r->exit_signal, .text = r->text ? r->text : "", .took = r->took, .at = r->at,
		.bytes = r->bytes, .rss_mib = r->rss_mib};
	const struct job *j;

	if (r->type == EXEC_GRADE) {
		grades_keep(d, r);
		return;
	}
	if (d->store_failed)
		return;
	j = core_job(d->core, r->job);
	if (!j || job_state_is_ended(j->state) || j->incarnation != r->incarnation) {
		/* its end is on disk already: the shim that says it again may go */
		if (r->type != EXEC_STARTED && r->type != EXEC_SIZE && r->type != EXEC_STORE_FAILED)
			exec_forget(d->exec, r->job, r->incarnation);
		return;
	}
	if (r->type == EXEC_STORE_FAILED || r->type == EXEC_RESTORE_FAILED ||
		r->type == EXEC_START_FAILED)
		log_warn("job %u: %s", r->job, ev.text);
	if (r->type != EXEC_SIZE && d->gpu)
		gpu_poke(d->gpu);
	daemon_fact(d, &ev);
}

static void report_to_core(struct daemon *d, const struct gpu_card *card, bool sample_only)
{
	struct event ev = {.type = EV_CARD, .uid = (uid_t)-1, .privileged = true};

	ev.card = (struct event_card){.index = card->index, .sample_only = sample_only,
		.present = card->present, .fault = card->fault, .busy = card->busy,
		.foreign_pid = card->foreign_pid, .foreign_mib = card->foreign_mib,
		.foreign_name = card->foreign_name, .uuid = card->uuid, .model = card->model,
		.labels = settings_labels(d, card), .mem_total_mib = card->mem_total_mib,
		.mem_used_mib = card->mem_used_mib, .util_percent = card->util_percent,
		.temperature_c = card->temperature_c};
	if (!d->store_failed) {
		daemon_fact(d, &ev);
		return;
	}
	/* people may still look at the cards: only the core in memory is told */
	core_step(d->core, gq_now(), &ev, &d->effects, NULL);
	core_dirty_done(d->core);
	effects_clear(&d->effects);
}

void report_gpu(void *ctx, const struct gpu_card *card, bool sample_only)
{
	struct daemon *d = ctx;
	bool first = card->index >= d->n_cards;

	if (first) {
		d->cards = xrealloc(d->cards, card->index + 1u, sizeof(*d->cards));
		memset(d->cards + d->n_cards, 0, (card->index + 1u - d->n_cards) * sizeof(*d->cards));
		for (size_t i = d->n_cards; i < card->index; i++)
			d->cards[i].index = (uint16_t)i;
		d->n_cards = card->index + 1u;
	}
	first |= !d->cards[card->index].uuid[0];
	d->cards[card->index] = *card;
	report_to_core(d, card, sample_only && !first);
	if (first)
		settings_services(d);
}

void report_cards_again(struct daemon *d)
{
	for (size_t i = 0; i < d->n_cards; i++)
		if (d->cards[i].uuid[0])
			report_to_core(d, &d->cards[i], false);
}

uint32_t report_owner(void *ctx, pid_t pid)
{
	struct daemon *d = ctx;

	return exec_job_of_pid(d->exec, pid);
}
