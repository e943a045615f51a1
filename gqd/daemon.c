/* SPDX-License-Identifier: MIT
 * daemon.c - the heartbeat: decide, remember, carry out
 * Everything that happens goes through daemon_step() into the core. At the end of a loop turn what
 * changed is committed, and only then effects are carried out and replies sent. A commit that fails
 * takes the turn back: the core is loaded again from the last good rows, and nothing is decided
 * until the store can write; exec and gpu then say again what is true. */
#include "daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#define STORE_RETRY GQ_SEC(1)
#define MINUTE      GQ_SEC(60)
#define PRUNE_PAUSE GQ_MSEC(100)
#define LAZY        GQ_MSEC(10)
#define ROUNDS_MAX  64 /* commits in one turn: effects that fail at once come back as facts */

static void daemon_arm(struct daemon *d);

/* --- decide --------------------------------------------------------------------------------- */

int daemon_step(struct daemon *d, struct event *ev, struct gq_err *err)
{
	struct gq_err broken = {0};
	int r;

	if (d->store_failed)
		return gq_err_set(err, -ENOSPC, "gqd cannot write its store (%.160s); nothing was changed",
			d->store_error);
	r = core_step(d->core, gq_now(), ev, &d->effects, err);
	d->stepped = true;
#ifdef GQ_DEBUG
	if (core_check(d->core, gq_now(), &broken) < 0) {
		log_err("core: %s (after event %d)", broken.text, ev->type);
		abort();
	}
#endif
	(void)broken;
	return r;
}

void daemon_fact(struct daemon *d, struct event *ev)
{
	struct gq_err err = {0};

	if (d->store_failed)
		return; /* asked for again once the store is back */
	if (daemon_step(d, ev, &err) < 0)
		log_err("event %d: %s, ignoring", ev->type, err.text);
}

void daemon_keep_spec(struct daemon *d, uint32_t job, char *text, size_t len)
{
	if (d->n_specs == d->cap_specs) {
		d->cap_specs = d->cap_specs ? d->cap_specs * 2 : 16;
		d->specs = xrealloc(d->specs, d->cap_specs, sizeof(*d->specs));
	}
	d->specs[d->n_specs++] = (struct pending_spec){job, text, len};
}

/* --- remember ------------------------------------------------------------------------------- */

static bool dirty_any(const struct dirty *dirty)
{
	return dirty->n_jobs || dirty->n_services || dirty->n_reservations || dirty->n_evictions ||
	       dirty->n_audits;
}

static int commit_rows(struct daemon *d, const struct dirty *dirty, struct gq_err *err)
{
	const struct store_ops *s = d->store->ops;
	int r = 0;

	for (size_t i = 0; i < d->n_specs && !r; i++)
		r = s->put_spec(d->store, d->specs[i].job, d->specs[i].text, d->specs[i].len, err);
	for (size_t i = 0; i < dirty->n_jobs && !r; i++)
		r = s->put_job(d->store, dirty->jobs[i], err);
	for (size_t i = 0; i < dirty->n_services && !r; i++)
		r = s->put_service(d->store, dirty->services[i], err);
	for (size_t i = 0; i < dirty->n_reservations && !r; i++)
		r = s->put_reservation(d->store, dirty->reservations[i], err);
	for (size_t i = 0; i < dirty->n_evictions && !r; i++)
		r = s->put_eviction(d->store, dirty->evictions[i], err);
	for (size_t i = 0; i < dirty->n_audits && !r; i++)
		r = s->put_audit(d->store, &dirty->audits[i], err);
	return r;
}

static int daemon_commit(struct daemon *d, const struct dirty *dirty, struct gq_err *err)
{
	const struct store_ops *s = d->store->ops;
	int r = s->begin(d->store, err);

	if (r < 0)
		return r;
	r = commit_rows(d, dirty, err);
	if (!r)
		r = s->commit(d->store, err);
	else
		s->rollback(d->store);
	return r;
}

void daemon_drop_specs(struct daemon *d)
{
	for (size_t i = 0; i < d->n_specs; i++)
		free(d->specs[i].text);
	d->n_specs = 0;
}

/* The audit trail and the log say the same. */
static void daemon_log_audits(const struct dirty *dirty)
{
	for (size_t i = 0; i < dirty->n_audits; i++)
		log_info("%s %u: %s", audit_kind_name(dirty->audits[i].kind), dirty->audits[i].id,
			dirty->audits[i].text);
}

/* --- load, and load again ------------------------------------------------------------------- */

static void load_job(void *ctx, const struct job *row)
{
	core_load_job(ctx, row);
}

static void load_service(void *ctx, const struct service *row)
{
	core_load_service(ctx, row);
}

static void load_reservation(void *ctx, const struct reservation *row)
{
	core_load_reservation(ctx, row);
}

static void load_eviction(void *ctx, const struct eviction *row)
{
	core_load_eviction(ctx, row);
}

static void load_next_ids(void *ctx, uint32_t job, uint32_t reservation, uint32_t service,
	uint32_t eviction)
{
	core_load_next_ids(ctx, job, reservation, service, eviction);
}

int daemon_load(struct daemon *d, struct gq_err *err)
{
	struct core_conf settings;
	struct store_load to = {.job = load_job, .service = load_service,
		.reservation = load_reservation, .eviction = load_eviction, .next_ids = load_next_ids};

	settings_core(d, &settings);
	d->core = core_free(d->core);
	d->core = core_new(&settings);
	to.ctx = d->core;
	return d->store->ops->load(d->store, &to, err);
}

/* Every job that should have a shim is asked for; what exec knows comes back as reports. */
static void daemon_adopt(struct daemon *d)
{
	const struct job *const *jobs;
	size_t n = core_jobs(d->core, &jobs), held = 0;
	struct event *gone = NULL; /* the list of jobs changes under our steps */
	struct gq_err err;

	for (size_t i = 0; i < n; i++) {
		if (!job_state_has_cards(jobs[i]->state))
			continue;
		gone = xrealloc(gone, held + 1, sizeof(*gone));
		gone[held++] = (struct event){.type = EV_GONE, .job = jobs[i]->id,
			.incarnation = jobs[i]->incarnation};
	}
	for (size_t i = 0; i < held; i++) {
		const struct job *j = core_job(d->core, gone[i].job);

		if (exec_adopt(d->exec, gone[i].job, gone[i].incarnation, &err) == 0)
			continue;
		log_debug("%s", err.text);
		/* one that was to start is started by its effect; any other left no trace */
		if (j && j->state != JOB_STARTING && j->state != JOB_RESTORING)
			daemon_fact(d, &gone[i]);
	}
	free(gone);
}

/* What was left of a job whose end was on disk when gqd died before it could clean up. */
void daemon_clean(void *ctx, uint32_t job)
{
	struct daemon *d = ctx;
	struct job row;

	if (core_job(d->core, job) || d->store->ops->get_job(d->store, job, &row, NULL) < 0)
		return; /* alive, or not ours to judge: the doctor tells of it */
	if (job_state_is_ended(row.state))
		exec_forget_job(d->exec, job);
	job_clear(&row);
}

/* A core as the store remembers it, told again what is there. Its effects are carried out with the
 * next commit. */
void daemon_revive(struct daemon *d)
{
	effects_clear(&d->effects);
	core_resume(d->core, gq_now(), &d->effects);
	d->stepped = true;
	daemon_adopt(d);
	report_cards_again(d);
	settings_services(d);
}

static void store_retry(void *ctx)
{
	struct daemon *d = ctx;
	struct gq_err err = {0};

	d->store_failed = false;
	if (d->store->ops->probe(d->store, &err) < 0 || daemon_load(d, &err) < 0) {
		d->store_failed = true;
		str_copy(d->store_error, sizeof(d->store_error), err.text);
		loop_timer_at(d->store_retry, gq_monotonic() + STORE_RETRY);
		return;
	}
	log_info("store: can be written again, going on");
	daemon_revive(d);
}

/* The turn did not happen: whatever was decided in it is forgotten. */
static void daemon_take_back(struct daemon *d, const struct gq_err *why)
{
	struct gq_err err = {0};

	log_err("store: %s; nothing is decided until it can be written again", why->text);
	str_copy(d->store_error, sizeof(d->store_error), why->text);
	d->store_failed = true;
	daemon_drop_specs(d);
	effects_clear(&d->effects);
	if (daemon_load(d, &err) < 0)
		log_err("store: cannot be read either: %s", err.text);
	report_cards_again(d); /* for people who look meanwhile */
	api_fail(d->api, why->code == -ENOSPC || why->code == -EDQUOT ? -ENOSPC : -EIO, why->text);
	loop_timer_at(d->store_retry, gq_monotonic() + STORE_RETRY);
}

/* --- carry out ------------------------------------------------------------------------------ */

static void daemon_do_all(struct daemon *d)
{
	struct effects now = d->effects;

	d->effects = (struct effects){0};
	for (size_t i = 0; i < now.len; i++)
		effect_do(d, &now.list[i]);
	effects_clear(&now);
}

/* News that nobody waits for and nothing follows from (a job has started) may share the next
 * commit: exec and gpu say it again to a gqd that died before. */
static bool daemon_may_wait(struct daemon *d)
{
	if (!d->stepped || d->stopping || d->awaited || d->effects.len || d->n_specs || d->lazy_over)
		return false;
	if (!d->lazy_armed)
		loop_timer_at(d->lazy, gq_monotonic() + LAZY);
	d->lazy_armed = true;
	return true;
}

static void on_lazy(void *ctx)
{
	struct daemon *d = ctx;

	d->lazy_over = true;
}

void daemon_turn(void *ctx)
{
	struct daemon *d = ctx;
	struct gq_err err = {0};
	struct dirty dirty;
	bool woke = false;

	if (daemon_may_wait(d)) {
		daemon_arm(d);
		return;
	}
	d->awaited = d->lazy_over = d->lazy_armed = false;

	for (int round = 0; d->stepped && !d->store_failed && round < ROUNDS_MAX; round++) {
		d->stepped = false;
		core_dirty(d->core, &dirty);
		if (dirty_any(&dirty)) {
			if (daemon_commit(d, &dirty, &err) < 0) {
				daemon_take_back(d, &err);
				return;
			}
			woke |= dirty.n_jobs > 0;
			daemon_log_audits(&dirty);
		}
		daemon_drop_specs(d);
		core_dirty_done(d->core);
		api_flush(d->api);
		daemon_do_all(d);
	}
	api_flush(d->api);
	if (woke)
		api_wake(d->api);
	if (d->stepped) /* effects that keep failing at once do not hold up the others */
		loop_timer_at(d->lazy, gq_monotonic() + LAZY);
	daemon_arm(d);
}

/* --- timers --------------------------------------------------------------------------------- */

static void on_deadline(void *ctx)
{
	struct event ev = {.type = EV_TICK, .uid = (uid_t)-1, .privileged = true};

	daemon_fact(ctx, &ev);
}

static void on_exec(void *ctx)
{
	struct daemon *d = ctx;

	exec_dispatch(d->exec);
}

static void on_gpu(void *ctx)
{
	struct daemon *d = ctx;

	gpu_dispatch(d->gpu);
}

static void daemon_arm(struct daemon *d)
{
	loop_timer_at(d->deadline, d->store_failed ? GQ_NEVER : core_next_deadline(d->core));
	if (d->gpu)
		loop_timer_at(d->gpu_deadline, gpu_next_deadline(d->gpu));
}

static void daemon_new_settings(struct daemon *d)
{
	struct core_conf settings;
	struct event ev = {.type = EV_CONF, .uid = (uid_t)-1, .privileged = true, .conf = &settings};

	settings_core(d, &settings);
	if (memcmp(&settings, core_settings(d->core), sizeof(settings)) != 0)
		daemon_fact(d, &ev);
}

/* Old rows go in small steps, and local time may have got another offset. */
static void on_minute(void *ctx)
{
	struct daemon *d = ctx;
	struct gq_err err = {0};
	int left = 0;

	if (!d->store_failed) {
		daemon_new_settings(d);
		left = d->store->ops->prune(d->store, gq_now() - d->conf.keep_history, &err);
		if (left < 0)
			log_warn("store: old rows stay: %s", err.text);
	}
	loop_timer_at(d->minute, gq_monotonic() + (left > 0 ? PRUNE_PAUSE : MINUTE));
}

void daemon_override(char **field, const char *value)
{
	if (!value)
		return;
	free(*field);
	*field = xstrdup(value);
}

void daemon_reload(struct daemon *d)
{
	struct gq_conf fresh;
	struct gq_err err = {0};
	struct buf fixed = BUF_INIT;

	if (conf_load(d->conf_path, &fresh, &err) < 0) {
		log_err("%s; the old settings stay", err.text);
		return;
	}
	daemon_override(&fresh.state_dir, d->state_arg);
	daemon_override(&fresh.run_dir, d->run_arg);
	conf_not_reloadable(&d->conf, &fresh, &fixed);
	if (fixed.len)
		log_warn("config: %s changed: takes effect when gqd is started again", buf_c(&fixed));
	buf_clear(&fixed);
	conf_clear(&d->conf);
	d->conf = fresh;
	if (settings_operator(d, &err) < 0)
		log_warn("%s, ignoring", err.text);
	daemon_new_settings(d);
	report_cards_again(d); /* labels may differ */
	settings_services(d);
	log_info("config: read again");
}

void daemon_watch(struct daemon *d)
{
	d->exec_watch = loop_watch_fd(d->loop, exec_fd(d->exec), on_exec, d);
	d->gpu_watch = loop_watch_fd(d->loop, gpu_fd(d->gpu), on_gpu, d);
	d->deadline = loop_timer_new(d->loop, LOOP_WALL, on_deadline, d);
	d->gpu_deadline = loop_timer_new(d->loop, LOOP_MONOTONIC, on_gpu, d);
	d->minute = loop_timer_new(d->loop, LOOP_MONOTONIC, on_minute, d);
	d->store_retry = loop_timer_new(d->loop, LOOP_MONOTONIC, store_retry, d);
	d->lazy = loop_timer_new(d->loop, LOOP_MONOTONIC, on_lazy, d);
	loop_timer_at(d->minute, gq_monotonic() + MINUTE);
	loop_after_turn(d->loop, daemon_turn, d);
}
