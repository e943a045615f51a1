/* SPDX-License-Identifier: MIT
 * test_sim_random.c - many random worlds, each a night of a GPU box; the rules must hold in all of them
 *
 *   GQ_SEEDS=1-200   which worlds (this is the default); GQ_SEEDS=42 is that one alone
 *   GQ_WISHES=400    wishes per world
 *   GQ_TRACE=1       print what happened, also where no rule was broken
 * A world in which a rule is broken is printed with its seed and its last lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define TRACE_LINES 120
#define PEACE_TRIES 5

static struct world w; /* too large for a stack */

static bool all_ended(void)
{
	for (uint32_t id = 1; id <= w.last_job; id++)
		if (!job_state_is_ended(w.job_rows[id].state))
			return false;
	return true;
}

static void run_world(uint64_t seed, unsigned wishes)
{
	world_init(&w, seed);
	for (uint16_t i = 0; i < w.n_cards; i++) {
		struct event ev = world_card(i);

		world_step(&w, &ev);
	}
	gq_time pace = GQ_SEC(1 + world_random(&w, 200));
	for (unsigned i = 0; i < wishes && !w.broken[0]; i++) {
		world_until(&w, w.now + world_between(&w, 0, pace));
		if (!w.broken[0])
			wish_something(&w);
	}
	/* what an operator holds or a failed restore keeps is released again and again */
	for (int i = 0; i < PEACE_TRIES && !w.broken[0] && (!i || !all_ended()); i++) {
		w.calm = true;
		world_until(&w, w.core ? w.now : w.down_until);
		wish_peace(&w);
		world_until(&w, GQ_NEVER);
	}
	check_end(&w);
}

static void print_trace(void)
{
	const char *text = buf_c(&w.trace), *from = text + w.trace.len;
	int lines = getenv("GQ_TRACE") ? 1000000 : TRACE_LINES;

	while (from > text && lines >= 0)
		if (*--from == '\n')
			lines--;
	for (const char *p = from; *p;) {
		size_t n = strcspn(p, "\n");

		printf("# %.*s\n", (int)n, p);
		p += n + (p[n] == '\n');
	}
}

static void parse_seeds(const char *text, uint64_t *first, uint64_t *last)
{
	char *rest;

	if (!text || !*text)
		return;
	*first = *last = strtoull(text, &rest, 10);
	if (*rest == '-')
		*last = strtoull(rest + 1, NULL, 10);
}

int main(void)
{
	uint64_t first = 1, last = 200, steps = 0, restarts = 0, notices = 0, bad = 0;
	unsigned wishes = getenv("GQ_WISHES") ? (unsigned)strtoul(getenv("GQ_WISHES"), NULL, 10) : 400;

	parse_seeds(getenv("GQ_SEEDS"), &first, &last);
	printf("1..1\n");
	for (uint64_t seed = first; seed <= last; seed++) {
		run_world(seed, wishes);
		steps += w.steps;
		restarts += w.restarts;
		notices += w.notices;
		if (w.broken[0] || getenv("GQ_TRACE"))
			print_trace();
		if (w.broken[0])
			printf("# seed %llu: %s\n", (unsigned long long)seed, w.broken);
		bad += w.broken[0] != '\0';
		world_clear(&w);
		if (bad >= 5)
			break;
	}
	printf("%sok 1 - seeds %llu-%llu: %llu steps, %llu notices, %llu deaths of gqd\n",
		bad ? "not " : "", (unsigned long long)first, (unsigned long long)last,
		(unsigned long long)steps, (unsigned long long)notices, (unsigned long long)restarts);
	return bad ? 1 : 0;
}
