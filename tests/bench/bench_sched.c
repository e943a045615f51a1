/* SPDX-License-Identifier: MIT
 * bench_sched.c - time per event of gqd/core: 64 cards, and 1,000 to 100,000 jobs that wait
 * Every second card is lent; the others are idle, but none of the waiting jobs fits on them: the worst
 * case, since each look goes through all that wait. `alike`: all ask for the same; `mixed`: a hundred
 * different wishes; `all different`: each its own. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "core/core.h"

#define CARDS 64
#define START GQ_SEC(1796000000)
#define TURNS 200

static struct core *core;
static struct effects fx;
static gq_time now = START;

static int step(struct event *ev)
{
	int r = core_step(core, now, ev, &fx, NULL);

	core_dirty_done(core);
	return r;
}

static void add_cards(void)
{
	for (uint16_t i = 0; i < CARDS; i++) {
		struct event ev = {.type = EV_CARD,
			.card = {.index = i, .present = true, .uuid = "GPU", .model = "Bench",
				.mem_total_mib = 81920}};

		step(&ev);
	}
}

static struct event job_event(uint32_t kind)
{
	return (struct event){.type = EV_SUBMIT,
		.submit = {.gpus = 1, .time_limit = GQ_NEVER, .grace = GQ_NEVER, .requeue = true,
			.priority = -1, .time_min = GQ_SEC(kind)}};
}

static void start_job(uint32_t id)
{
	struct event ev = {.type = EV_STARTED, .job = id, .incarnation = 1};

	step(&ev);
}

/* Jobs on every second card, then a reservation in an hour on all: too soon for who waits. */
static void build(uint32_t waiting, uint32_t kinds)
{
	struct core_conf conf;

	core_conf_default(&conf);
	conf.max_jobs = conf.max_jobs_per_user = 1000000;
	core = core_new(&conf);
	add_cards();
	for (uint32_t i = 0; i < CARDS; i++) {
		struct event ev = job_event(0);

		step(&ev);
		start_job(ev.ret_id);
	}
	for (uint32_t i = 0; i < CARDS; i++) {
		struct event ev = {.type = EV_RESERVE, .privileged = true,
			.reserve = {.start = now + GQ_SEC(3600), .end = now + GQ_SEC(7200), .n_cards = 1,
				.cards = {(uint16_t)i}}};

		step(&ev);
	}
	for (uint32_t i = 0; i < CARDS; i += 2) {
		struct event ev = {.type = EV_EXITED, .job = i + 1, .incarnation = 1};

		step(&ev);
	}
	for (uint32_t i = 0; i < waiting; i++) {
		struct event ev = job_event(3600 + i % kinds);

		step(&ev);
	}
}

static double millis(gq_time from)
{
	return (double)(gq_monotonic() - from) / 1e6;
}

/* One card is lent and comes back: each of its three events looks at the whole queue or at none. */
static double time_turn(void)
{
	gq_time from = gq_monotonic();

	for (int i = 0; i < TURNS; i++) {
		struct event submit = job_event(0), exit = {.type = EV_EXITED, .incarnation = 1};

		now += GQ_MSEC(1);
		step(&submit);
		start_job(submit.ret_id);
		exit.job = submit.ret_id;
		step(&exit);
	}
	return millis(from) / TURNS / 3;
}

static double time_submit(void)
{
	gq_time from = gq_monotonic();

	for (int i = 0; i < TURNS; i++) {
		struct event ev = job_event(3600);

		step(&ev);
	}
	return millis(from) / TURNS;
}

static double time_look(void)
{
	gq_time from = gq_monotonic();

	for (uint16_t i = 0; i < TURNS; i++) {
		struct event ev = {.type = EV_CARD,
			.card = {.index = i % CARDS, .present = true, .uuid = "GPU", .model = "Bench",
				.mem_total_mib = 81920}};

		step(&ev);
	}
	return millis(from) / TURNS;
}

static double time_tick(void)
{
	gq_time from = gq_monotonic();

	for (int i = 0; i < TURNS; i++) {
		struct event ev = {.type = EV_TICK};

		step(&ev);
	}
	return millis(from) / TURNS;
}

static double time_cancel(uint32_t waiting)
{
	gq_time from = gq_monotonic();

	for (uint32_t i = 0; i < TURNS; i++) {
		struct event ev = {.type = EV_CANCEL, .privileged = true,
			.job = CARDS + 1 + i * (waiting / TURNS)};

		step(&ev);
	}
	return millis(from) / TURNS;
}

int main(void)
{
	static const uint32_t sizes[] = {1000, 10000, 100000};
	static const struct {
		const char *name;
		uint32_t kinds;
	} mixes[] = {{"alike", 1}, {"mixed", 100}, {"all different", 1000000}};

	printf("time per event in ms, %d cards, half of them idle, no waiting job fits\n", CARDS);
	printf("%-14s %9s %9s %9s %9s %9s %9s\n", "waiting jobs", "", "tick", "submit", "look", "turn/3",
		"cancel");
	for (size_t m = 0; m < ARRAY_LEN(mixes); m++) {
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			build(sizes[i], mixes[m].kinds);
			printf("%-14s %9u", mixes[m].name, sizes[i]);
			printf(" %9.4f", time_tick());
			printf(" %9.4f", time_submit());
			printf(" %9.4f", time_look());
			printf(" %9.4f", time_turn());
			printf(" %9.4f\n", time_cancel(sizes[i]));
			core = core_free(core);
			effects_clear(&fx);
		}
	}
	return 0;
}
