/* SPDX-License-Identifier: MIT
 * gpu.c - the cards as gqd sees them: records of the worker in, reports out */
#include "gpu.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "edge.h"
#include "worker.h"

#define RECORDS 64 /* that are read at once */

struct gpu {
	struct gpu_conf conf;
	char *sampler, *library; /* owned; conf points at them */
	gpu_report_fn report;
	gpu_owner_fn owner;
	void *ctx;
	int epoll, timer;
	struct worker worker;
	struct gpu_record buf[RECORDS];
	size_t n_buf;       /* bytes */
	gq_time last_round; /* monotonic: when the cards were seen last, or the start */
	bool lost;          /* the cards were reported as not present */
	struct gpu_edge edges[GPU_CARDS_MAX];
	struct gpu_sample samples[GPU_CARDS_MAX]; /* of the round that is coming in */
	bool sampled[GPU_CARDS_MAX];
	unsigned n_cards;
	char text[256]; /* about the driver */
	bool simulated;
};

static void report(struct gpu *g, unsigned i, bool edge)
{
	g->report(g->ctx, &g->edges[i].card, !edge);
}

static void on_hello(struct gpu *g, const struct gpu_record *r)
{
	unsigned n = r->hello.n_cards;

	g->simulated = r->hello.simulated;
	g->n_cards = n < GPU_CARDS_MAX ? n : GPU_CARDS_MAX;
	snprintf(g->text, sizeof(g->text), "NVIDIA driver %.31s (CUDA %d.%d), %u card%s%s",
		r->hello.driver, r->hello.cuda / 1000, r->hello.cuda % 1000 / 10, n,
		n == 1 ? "" : "s", g->simulated ? ", simulated" : "");
	for (unsigned i = g->n_cards; i < GPU_CARDS_MAX; i++) {
		if (gpu_edge_lost(&g->edges[i]))
			report(g, i, true);
	}
}

static void on_proc(struct gpu *g, const struct gpu_record *r)
{
	bool ours = g->owner(g->ctx, r->proc.pid) != 0;

	if (g->sampled[r->card])
		gpu_sample_proc(&g->samples[r->card], r, ours);
}

static void on_end(struct gpu *g)
{
	g->last_round = gq_monotonic();
	g->lost = false;
	worker_is_well(&g->worker);
	for (unsigned i = 0; i < GPU_CARDS_MAX; i++) {
		struct gpu_edge *e = &g->edges[i];

		if (!g->sampled[i])
			continue;
		g->sampled[i] = false;
		e->card.index = i;
		report(g, i, gpu_edge_step(&g->conf, e, &g->samples[i]));
	}
}

static void on_xid(struct gpu *g, const struct gpu_record *r)
{
	struct gpu_edge *e = &g->edges[r->card];

	log_debug("gpu: card %u: XID %u: %s", r->card, r->xid.number, xid_text(r->xid.number));
	e->card.index = r->card;
	if (gpu_edge_xid(e, r->xid.number) && e->known)
		report(g, r->card, true);
}

/* False: not what our worker writes. */
static bool on_record(struct gpu *g, const struct gpu_record *r)
{
	if (r->magic != GPU_RECORD_MAGIC || r->version != GPU_RECORD_VERSION ||
		r->card >= GPU_CARDS_MAX)
		return false;
	switch ((enum gpu_record_type)r->type) {
	case GPU_HELLO: on_hello(g, r); break;
	case GPU_FAILED: snprintf(g->text, sizeof(g->text), "%.255s", r->failed.text); break;
	case GPU_CARD:
		gpu_sample_card(&g->samples[r->card], r);
		g->sampled[r->card] = true;
		break;
	case GPU_PROC: on_proc(g, r); break;
	case GPU_XID: on_xid(g, r); break;
	case GPU_END: on_end(g); break;
	}
	return true;
}

static void worker_lost(struct gpu *g, const char *why)
{
	log_debug("gpu: gq-sampler %s, another one in %lld ms", why,
		(long long)(g->worker.backoff / GQ_NS_PER_MS));
	worker_stop(&g->worker, gq_monotonic());
	g->n_buf = 0;
	memset(g->sampled, 0, sizeof(g->sampled));
}

static void read_records(struct gpu *g)
{
	while (g->worker.out >= 0) {
		ssize_t n = read(g->worker.out, (char *)g->buf + g->n_buf, sizeof(g->buf) - g->n_buf);
		size_t k, whole;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			worker_lost(g, "ended");
			return;
		}
		g->n_buf += n;
		whole = g->n_buf / sizeof(g->buf[0]);
		for (k = 0; k < whole; k++) {
			if (!on_record(g, &g->buf[k])) {
				worker_lost(g, "wrote something else than records");
				return;
			}
		}
		g->n_buf -= whole * sizeof(g->buf[0]);
		memmove(g->buf, &g->buf[whole], g->n_buf);
	}
}

/* The cards are worth nothing when nobody has looked at them. */
static void report_lost(struct gpu *g)
{
	g->lost = true;
	for (unsigned i = 0; i < GPU_CARDS_MAX; i++) {
		if (gpu_edge_lost(&g->edges[i]))
			report(g, i, true);
	}
}

static int start_worker(struct gpu *g, struct gq_err *err)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int r = worker_start(&g->worker, &g->conf, err);

	if (r < 0)
		return r;
	if (epoll_ctl(g->epoll, EPOLL_CTL_ADD, g->worker.out, &ev) < 0)
		return gq_err_sys(err, -errno, "gq-sampler: its pipe");
	return 0;
}

/* When a running worker that says nothing counts as hanging. */
static gq_time worker_deadline(const struct gpu *g)
{
	gq_time since = g->last_round > g->worker.started ? g->last_round : g->worker.started;

	return since + g->conf.lost_after;
}

gq_time gpu_next_deadline(const struct gpu *g)
{
	gq_time worker = g->worker.pid > 0 ? worker_deadline(g) : g->worker.restart_at;
	gq_time lost = g->lost ? GQ_NEVER : g->last_round + g->conf.lost_after;

	return worker < lost ? worker : lost;
}

static void arm(struct gpu *g)
{
	gq_time at = gpu_next_deadline(g);
	struct itimerspec t = {.it_value = {at / GQ_NS_PER_S, at % GQ_NS_PER_S}};

	timerfd_settime(g->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

void gpu_dispatch(struct gpu *g)
{
	gq_time now;
	uint64_t ticks;
	struct gq_err err = {0};

	if (read(g->timer, &ticks, sizeof(ticks)) < 0)
		ticks = 0; /* it has not come: the pipe woke us */
	worker_reap(&g->worker);
	read_records(g);
	now = gq_monotonic();
	if (g->worker.pid > 0 && now >= worker_deadline(g)) {
		snprintf(g->text, sizeof(g->text), "NVIDIA driver: it does not answer");
		worker_lost(g, "hangs");
	}
	if (!g->lost && now >= g->last_round + g->conf.lost_after)
		report_lost(g);
	if (g->worker.pid <= 0 && now >= g->worker.restart_at && start_worker(g, &err) < 0) {
		snprintf(g->text, sizeof(g->text), "%.255s", err.text);
		worker_lost(g, "cannot be started");
	}
	arm(g);
}

int gpu_new(const struct gpu_conf *conf, gpu_report_fn report_fn, gpu_owner_fn owner, void *ctx,
	struct gpu **ret, struct gq_err *err)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct gpu *g = xnew(struct gpu);
	int r = 0;

	g->conf = *conf;
	g->conf.sampler = g->sampler = xstrdup(conf->sampler);
	g->conf.nvml_library = g->library = xstrdup(conf->nvml_library);
	g->report = report_fn;
	g->owner = owner;
	g->ctx = ctx;
	g->last_round = gq_monotonic();
	worker_init(&g->worker);
	snprintf(g->text, sizeof(g->text), "NVIDIA driver: not asked yet");
	g->epoll = epoll_create1(EPOLL_CLOEXEC);
	g->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (g->epoll < 0 || g->timer < 0 || epoll_ctl(g->epoll, EPOLL_CTL_ADD, g->timer, &ev) < 0)
		r = gq_err_sys(err, -errno, "gpu");
	if (r == 0)
		r = start_worker(g, err);
	if (r < 0) {
		gpu_free(g);
		return r;
	}
	arm(g);
	*ret = g;
	return 0;
}

struct gpu *gpu_free(struct gpu *g)
{
	if (!g)
		return NULL;
	worker_clear(&g->worker);
	cleanup_close_p(&g->epoll);
	cleanup_close_p(&g->timer);
	free(g->sampler);
	free(g->library);
	free(g);
	return NULL;
}

int gpu_fd(const struct gpu *g)
{
	return g->epoll;
}

void gpu_poke(struct gpu *g)
{
	worker_poke(&g->worker);
}

void gpu_describe(const struct gpu *g, char *buf, size_t size, bool *ret_simulated)
{
	str_copy(buf, size, g->text);
	*ret_simulated = g->simulated;
}
