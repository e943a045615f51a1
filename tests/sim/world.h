/* SPDX-License-Identifier: MIT
 * world.h - a world for the core in virtual time: jobs that compute, start, dump, fail and vanish at
 * random, a store that forgets nothing, and a gqd that dies between any two of its steps
 * Promises: a world is a function of its seed alone; the first rule that is broken is kept in `broken`.
 * Leaves to others: what people wish (wishes.c). */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include "base/buf.h"
#include "core/core.h"

#define WORLD_JOBS  512 /* ids stay below */
#define WORLD_CARDS 8
#define WORLD_PROCS 64
#define WORLD_ROWS  4096 /* reservations, services, evictions: ids stay below */
#define WORLD_START GQ_SEC(1796000000)

/* What a job is in truth. */
struct sim_job {
	gq_time work;     /* what it has to compute */
	gq_time computed; /* in all its incarnations, also what was lost */
	uint32_t started; /* highest incarnation that was ever started */
	bool finished;    /* ended by itself with 0 */
	bool stubborn;    /* ignores SIGTERM */
	int exit_code;    /* of its natural end */
	struct {
		uint32_t incarnation; /* 0 = no image */
		gq_time done;
	} images[4];
	struct event record; /* the last report, which exec repeats until it is told to forget */
	bool has_record;
};

enum phase { PROC_STARTING, PROC_RESTORING, PROC_RUNNING, PROC_STORING };

/* One living incarnation: a shim and its capsule. */
struct proc {
	uint32_t job, incarnation; /* job 0 = the slot is free */
	enum phase phase;
	bool fails;        /* the phase will end in a failure */
	bool excused;      /* its dump failed or took longer than promised */
	gq_time phase_end; /* started, dumped, or (running) done by itself */
	gq_time since;     /* computes since, 0 = not yet */
	gq_time done;      /* progress at `since` */
	gq_time dump_at;
	gq_time die_at, vanish_at; /* GQ_NEVER = not planned */
	int die_code, die_signal;
	gq_time promised; /* the longest dump that the exit promise covers, as of the notice */
	uint8_t n_cards;
	uint16_t cards[JOB_CARDS_MAX];
};

struct world {
	uint64_t seed, random;
	gq_time now;
	struct core *core; /* owned; NULL while gqd is dead */
	struct core_conf conf;
	size_t n_cards;
	bool calm;          /* nothing fails by chance any more */
	gq_time down_until; /* while gqd is dead */
	gq_time last_down;  /* when it came back last */
	gq_time slack;      /* how wrong the clocks of jobs may be: gqd was not looking */
	struct effects fx;
	struct sim_job jobs[WORLD_JOBS];
	struct proc procs[WORLD_PROCS];
	struct event *inbox; /* owned: facts on their way */
	size_t n_inbox, cap_inbox;
	/* the store's rows, by id; strings owned */
	struct job job_rows[WORLD_JOBS];
	struct service service_rows[WORLD_ROWS];
	struct reservation reservation_rows[WORLD_ROWS];
	struct eviction eviction_rows[WORLD_ROWS];
	uint32_t last_job, last_service, last_reservation, last_eviction;
	gq_time made_at[WORLD_ROWS]; /* reservations: when the wish was made or changed last */
	gq_time conf_at;             /* when the settings changed last */
	unsigned ticks_here;         /* since the time moved */
	unsigned steps, restarts, notices;
	struct buf trace;
	char broken[400]; /* "" = all rules hold */
};

void world_init(struct world *w, uint64_t seed);
void world_clear(struct world *w);

/* All chance comes from the seed. */
uint64_t world_random(struct world *w, uint64_t below); /* 0 if below is 0 */
bool world_chance(struct world *w, unsigned permille);  /* false while calm */
gq_time world_between(struct world *w, gq_time from, gq_time to);

/* One event into the core, commit, effects; by chance gqd dies on the way. The core's answer, or
 * -EAGAIN while gqd is dead. */
int world_step(struct world *w, struct event *ev);
/* The earliest of what happens by itself (a process, a deadline, gqd's return), GQ_NEVER = nothing. */
gq_time world_next(const struct world *w);
/* Goes to @t over everything that happens by itself; GQ_NEVER: until nothing does. */
void world_until(struct world *w, gq_time t);
struct event world_card(uint16_t index); /* present and idle */

void world_fail(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void world_say(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* world_exec.c: processes */
void exec_do(struct world *w, const struct effect *f);
void exec_adopt(struct world *w); /* after a restart: what is true of each pair */
gq_time exec_next(const struct world *w);
void exec_pass(struct world *w); /* what happens to processes until now */
const struct proc *exec_on_card(const struct world *w, uint16_t card);

/* world_store.c: rows */
void store_commit(struct world *w);
struct core *store_load(struct world *w);

/* world_check.c: rules */
void check_step(struct world *w);
uint64_t check_hash(const struct world *w);
void check_refused(struct world *w, uint64_t before); /* @before: check_hash() */
void check_end(struct world *w); /* all is over: nothing may be left */

/* wishes.c: what users, operators, services and drivers want */
void wish_something(struct world *w);
void wish_peace(struct world *w); /* every reason to wait goes away */

#endif
