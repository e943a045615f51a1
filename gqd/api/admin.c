/* SPDX-License-Identifier: MIT
 * admin.c - the daemon itself: ping, settings, doctor, shutdown, the description of the protocol */
#include <unistd.h>

#include "conn.h"
#include "gqd/core/core.h"

static void write_ping(struct req *q)
{
	const struct core *core = req_core(q);
	const struct card *const *cards;
	const struct job *const *jobs;
	size_t n = core_jobs(core, &jobs);
	struct api_ping m = {
		.version = PACKAGE_VERSION,
		.api = 1,
		.pid = (uint32_t)getpid(),
		.cards = (uint32_t)core_cards(core, &cards),
		.time = req_now(q),
		.started_time = q->api->started_at,
		.is_operator = req_is_operator(q),
		.jobs_version = (int64_t)core_version(core),
	};

	for (size_t i = 0; i < n; i++) {
		if (job_state_is_ended(jobs[i]->state))
			continue;
		m.jobs++;
		if (job_state_has_cards(jobs[i]->state))
			m.jobs_running++;
		else
			m.jobs_waiting++;
	}
	api_encode(&q->reply, &api_ping_object, &m, API_ALL_FIELDS);
	buf_chr(&q->reply, '\n');
	req_reply(q);
}

void api_do_ping(struct req *q)
{
	write_ping(q);
}

void api_do_conf(struct req *q)
{
	static const char *const reserve[] = {"always", "busy", "never"};
	const struct core_conf *c = core_settings(req_core(q));
	struct api_conf m = {
		.unified = c->unified,
		.online_priority = c->online_priority,
		.offline_fill = c->offline_fill,
		.can_store = c->can_store,
		.vram_permille = c->vram_permille,
		.max_requeue = c->max_requeue,
		.max_jobs = c->max_jobs,
		.max_jobs_per_user = c->max_jobs_per_user,
		.online_reserve_vram = c->reserve_vram < RESERVE_VRAM_N
					       ? reserve[c->reserve_vram]
					       : NULL,
		.graceful_exit_s = c->graceful_exit,
		.min_window_s = c->min_window,
		.idle_hold_s = c->idle_hold,
		.margin_s = c->margin,
		.keep_ended_s = c->keep_ended,
	};

	api_encode(&q->reply, &api_conf_object, &m, API_ALL_FIELDS);
	buf_chr(&q->reply, '\n');
	req_reply(q);
}

static void write_finding(void *ctx, const char *what, bool ok, bool essential,
	const char *text, const char *cure)
{
	struct req *q = ctx;
	struct api_finding m = {.what = what,
		.ok = ok,
		.essential = essential,
		.text = text,
		.cure = cure};

	buf_chr(&q->reply, q->reply.len ? ',' : '[');
	api_encode(&q->reply, &api_finding_object, &m, API_ALL_FIELDS);
}

void api_do_doctor(struct req *q)
{
	req_host(q)->doctor(req_host(q)->ctx, write_finding, q);
	buf_str(&q->reply, q->reply.len ? "]\n" : "[]\n");
	req_reply(q);
}

void api_do_shutdown(struct req *q)
{
	if (!req_is_operator(q)) {
		req_error(q, 403, "EPERM",
			"shutdown: only root and the operator group may stop gqd");
		return;
	}
	write_ping(q);
	q->keep_alive = false;
	req_host(q)->shutdown(req_host(q)->ctx);
}

void api_do_openapi(struct req *q)
{
	api_openapi(&q->reply, PACKAGE_VERSION);
	req_reply(q);
}
