/* SPDX-License-Identifier: MIT
 * world.c - time, chance, gqd's heartbeat, and its death in the middle of it */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TICKS_PER_INSTANT 40

void world_init(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	w->now = WORLD_START;
	core_conf_default(&w->conf);
	w->core = core_new(&w->conf);
	for (int i = 0; i < 8; i++) /* small seeds begin alike */
		world_random(w, 1);
	w->n_cards = 1 + world_random(w, WORLD_CARDS);
}

void world_clear(struct world *w)
{
	core_free(w->core);
	effects_clear(&w->fx);
	free(w->inbox);
	buf_clear(&w->trace);
	for (size_t i = 0; i < WORLD_JOBS; i++)
		job_clear(&w->job_rows[i]);
	for (size_t i = 0; i < WORLD_ROWS; i++)
		free(w->eviction_rows[i].error);
}

uint64_t world_random(struct world *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return below ? (w->random >> 11) % below : 0;
}

bool world_chance(struct world *w, unsigned permille)
{
	return world_random(w, 1000) < permille && !w->calm;
}

gq_time world_between(struct world *w, gq_time from, gq_time to)
{
	return from + (gq_time)world_random(w, (uint64_t)(to - from + 1));
}

void world_say(struct world *w, const char *fmt, ...)
{
	va_list ap;

	buf_fmt(&w->trace, "+%.3f ", (double)(w->now - WORLD_START) / 1e9);
	va_start(ap, fmt);
	buf_vfmt(&w->trace, fmt, ap);
	va_end(ap);
	buf_chr(&w->trace, '\n');
}

void world_fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->broken[0])
		return;
	va_start(ap, fmt);
	vsnprintf(w->broken, sizeof(w->broken), fmt, ap);
	va_end(ap);
	world_say(w, "BROKEN: %s", w->broken);
}

/* gqd is gone with all it had in memory and had not done. */
static void world_die(struct world *w, const char *when)
{
	gq_time down = world_chance(w, 300) ? world_between(w, GQ_MSEC(10), GQ_SEC(120)) : 0;

	w->core = core_free(w->core);
	w->fx.len = 0;
	w->n_inbox = 0;
	w->restarts++;
	w->slack += down;
	w->down_until = w->now + down;
	world_say(w, "gqd dies %s, back in %.3f s", when, (double)down / 1e9);
}

static void world_do_effects(struct world *w, size_t n)
{
	for (size_t i = 0; i < n && !w->broken[0]; i++)
		exec_do(w, &w->fx.list[i]);
	w->fx.len = 0;
}

/* What a turn of the heartbeat does after the core has decided. */
static void world_turn(struct world *w)
{
	if (world_chance(w, 4)) {
		world_die(w, "before the commit");
		return;
	}
	store_commit(w);
	if (world_chance(w, 6)) {
		world_do_effects(w, world_random(w, w->fx.len + 1));
		world_die(w, "between commit and effects");
		return;
	}
	world_do_effects(w, w->fx.len);
	check_step(w);
}

static void world_count_step(struct world *w, const struct event *ev)
{
	w->steps++;
	w->ticks_here += ev->type == EV_TICK;
	if (w->ticks_here > TICKS_PER_INSTANT)
		world_fail(w, "%u ticks at one instant; the deadline lies %.3f s ahead", w->ticks_here,
			(double)(core_next_deadline(w->core) - w->now) / 1e9);
}

int world_step(struct world *w, struct event *ev)
{
	struct gq_err err = {0};
	uint64_t before;
	int r;

	if (!w->core)
		return -EAGAIN;
	world_count_step(w, ev);
	before = check_hash(w);
	r = core_step(w->core, w->now, ev, &w->fx, &err);
	if (r < 0) {
		check_refused(w, before);
		return r;
	}
	if (core_check(w->core, w->now, &err) < 0)
		world_fail(w, "core_check: %s", err.text);
	world_turn(w);
	return 0;
}

struct event world_card(uint16_t index)
{
	static const char *const uuids[WORLD_CARDS] = {"GPU-0", "GPU-1", "GPU-2", "GPU-3", "GPU-4",
		"GPU-5", "GPU-6", "GPU-7"};

	return (struct event){.type = EV_CARD, .uid = (uid_t)-1,
		.card = {.index = index, .present = true, .uuid = uuids[index], .model = "Sim",
			.mem_total_mib = 81920}};
}

static void world_revive(struct world *w)
{
	w->last_down = w->now;
	w->core = store_load(w);
	core_resume(w->core, w->now, &w->fx);
	world_say(w, "gqd is back with %zu effects", w->fx.len);
	world_do_effects(w, w->fx.len);
	exec_adopt(w);
	for (uint16_t i = 0; i < w->n_cards; i++) {
		struct event ev = world_card(i);

		world_step(w, &ev);
	}
}

static void world_deliver(struct world *w)
{
	for (size_t i = 0; i < w->n_inbox && !w->broken[0]; i++) {
		struct event ev = w->inbox[i];

		world_step(w, &ev);
	}
	w->n_inbox = 0;
}

gq_time world_next(const struct world *w)
{
	gq_time at = exec_next(w);
	gq_time deadline = w->core ? core_next_deadline(w->core) : w->down_until;

	return at < deadline ? at : deadline;
}

static void world_move(struct world *w, gq_time to)
{
	if (to <= w->now)
		return;
	w->now = to;
	w->ticks_here = 0;
}

void world_until(struct world *w, gq_time t)
{
	struct event tick = {.type = EV_TICK, .uid = (uid_t)-1};

	while (!w->broken[0]) {
		if (!w->n_inbox && (world_next(w) == GQ_NEVER || world_next(w) > t))
			break;
		if (!w->n_inbox)
			world_move(w, world_next(w));
		if (!w->core && w->down_until <= w->now) {
			world_revive(w);
			continue;
		}
		exec_pass(w);
		world_deliver(w);
		if (w->core && core_next_deadline(w->core) <= w->now)
			world_step(w, &tick);
	}
	if (t != GQ_NEVER)
		world_move(w, t);
}
