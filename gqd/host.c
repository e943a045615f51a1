/* SPDX-License-Identifier: MIT
 * host.c - answers what gqd/api asks: the core to read, one way to change it, the store's past */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon.h"
#include "job/job_spec.h"

static const struct core *host_core(void *ctx)
{
	return ((struct daemon *)ctx)->core;
}

static int host_step(void *ctx, struct event *ev, struct gq_err *err)
{
	((struct daemon *)ctx)->awaited = true;
	return daemon_step(ctx, ev, err);
}

static bool host_is_operator(void *ctx, const struct api_peer *peer)
{
	const struct daemon *d = ctx;

	if (peer->uid == 0)
		return true;
	if (!d->capsule && peer->uid == geteuid())
		return true; /* a person's own gqd */
	if (d->operator_gid == (gid_t)-1)
		return false;
	if (peer->gid == d->operator_gid)
		return true;
	for (size_t i = 0; i < peer->n_groups; i++)
		if (peer->groups[i] == d->operator_gid)
			return true;
	return false;
}

static void submit_event(struct event *ev, const struct job_spec *s, const struct api_peer *peer,
	bool operator, bool test_only)
{
	*ev = (struct event){.type = EV_SUBMIT, .uid = peer->uid, .privileged = operator};
	ev->submit = (struct event_submit){.name = s->name, .account = s->account,
		.gpu_type = s->gpu_type, .uid = peer->uid, .gid = peer->gid, .privileged = operator,
		.gpus = (uint16_t)s->gpus, .vram_mib = s->vram_mib, .time_limit = s->time_limit,
		.time_min = s->time_min, .grace = s->grace, .begin_at = s->begin_at,
		.signal_before = s->signal_before, .checkpoint = (uint8_t)s->checkpoint,
		.exit_saved = (uint8_t)s->checkpoint_exit_code, .signal = (uint8_t)s->signal,
		.requeue = s->requeue, .hold = s->hold, .test_only = test_only,
		.level = (int8_t)s->level, .priority = s->priority};
}

static int host_submit(void *ctx, const struct job_spec *spec, const struct api_peer *peer,
	bool test_only, uint32_t *ret_job, struct gq_err *err)
{
	struct daemon *d = ctx;
	struct buf json = BUF_INIT;
	struct event ev;
	char *text;
	size_t len;
	int r;

	r = launch_check_user(peer->uid, err);
	if (r < 0)
		return r;
	if (!d->capsule && peer->uid != geteuid())
		return gq_err_set(err, -EPERM,
			"gqd runs as uid %u and is not root: it can run only that user's jobs",
			(unsigned)geteuid());
	submit_event(&ev, spec, peer, host_is_operator(ctx, peer), test_only);
	r = host_step(d, &ev, err);
	if (r < 0)
		return r;
	*ret_job = ev.ret_id;
	if (test_only) {
		if (ev.ret_reason == REASON_NONE)
			gq_err_set(err, 0, "would start now on card %u", ev.ret_card);
		else
			gq_err_set(err, 0, "would wait: %s (%s)", reason_name(ev.ret_reason),
				reason_help(ev.ret_reason));
		return 0;
	}
	job_spec_to_json(spec, &json);
	text = launch_spec_text(peer, buf_c(&json), json.len, &len);
	buf_clear(&json);
	daemon_keep_spec(d, ev.ret_id, text, len);
	return 0;
}

static int host_stored_job(void *ctx, uint32_t id, struct job *ret, struct gq_err *err)
{
	struct daemon *d = ctx;

	return d->store->ops->get_job(d->store, id, ret, err);
}

static int host_spec_json(void *ctx, uint32_t id, char **ret, size_t *ret_len, struct gq_err *err)
{
	struct daemon *d = ctx;
	const char *json;
	char *text;
	size_t len;
	int r = d->store->ops->get_spec(d->store, id, &text, &len, err);

	if (r < 0)
		return r;
	json = launch_spec_json(text, len, ret_len);
	memmove(text, json, *ret_len);
	text[*ret_len] = '\0';
	*ret = text;
	return 0;
}

static struct store_filter host_filter(const struct api_filter *f)
{
	return (struct store_filter){.job = f->job, .uid = f->uid, .kind = f->kind, .id = f->id,
		.since = f->since, .until = f->until, .limit = f->limit};
}

static int host_each_job(void *ctx, const struct api_filter *f,
	void (*fn)(void *fn_ctx, const struct job *row), void *fn_ctx, struct gq_err *err)
{
	struct daemon *d = ctx;
	struct store_filter filter = host_filter(f);

	return d->store->ops->each_job(d->store, &filter, fn, fn_ctx, err);
}

static int host_each_eviction(void *ctx, const struct api_filter *f,
	void (*fn)(void *fn_ctx, const struct eviction *row), void *fn_ctx, struct gq_err *err)
{
	struct daemon *d = ctx;
	struct store_filter filter = host_filter(f);

	return d->store->ops->each_eviction(d->store, &filter, fn, fn_ctx, err);
}

static int host_each_audit(void *ctx, const struct api_filter *f,
	void (*fn)(void *fn_ctx, const struct audit *row), void *fn_ctx, struct gq_err *err)
{
	struct daemon *d = ctx;
	struct store_filter filter = host_filter(f);

	return d->store->ops->each_audit(d->store, &filter, fn, fn_ctx, err);
}

static void host_shutdown(void *ctx)
{
	struct daemon *d = ctx;

	log_info("asked to shut down; jobs go on");
	d->stopping = true;
	loop_quit(d->loop);
}

static gq_time host_now(void *ctx)
{
	(void)ctx;
	return gq_now();
}

const struct api_host host_template = {.core = host_core, .step = host_step,
	.submit = host_submit, .stored_job = host_stored_job, .spec_json = host_spec_json,
	.each_job = host_each_job, .each_eviction = host_each_eviction,
	.each_audit = host_each_audit, .doctor = findings, .shutdown = host_shutdown,
	.is_operator = host_is_operator, .now = host_now, .grade = grades_of};
