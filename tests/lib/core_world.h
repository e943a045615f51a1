/* SPDX-License-Identifier: MIT
 * core_world.h - a core with some cards and a clock of its own, for tests of gqd/core
 * Promises: every step is followed by core_check(), and a refused event is compared to have changed
 * no row; a broken promise prints what is broken and aborts.
 * Leaves to others: deciding what is right (the tests), random worlds (tests/sim). */
#ifndef TESTS_LIB_CORE_WORLD_H
#define TESTS_LIB_CORE_WORLD_H

#include "base/cleanup.h"
#include "core/core.h"

#define CW_START   GQ_SEC(1796000000) /* 2026-11-30T00:53:20Z */
#define CW_CARD_MIB 81920             /* 80 GiB */
#define CW_ROOT    0
#define CW_ALICE   1001
#define CW_BOB     1002

struct core_world {
	struct core *core; /* owned */
	struct core_conf conf;
	gq_time now;
	struct effects fx; /* since cw_forget() */
	struct gq_err err; /* of the last step */
	char last_audit[200];
	char eviction_error[256]; /* of the last eviction row that had one */
};

/* The default settings, and those that the tests reckon with, whatever the default is. */
void cw_conf_init(struct core_conf *c);
/* A core with @n_cards idle cards and the conf of cw_conf_init(), unless @conf says another. */
void cw_init(struct core_world *w, size_t n_cards, const struct core_conf *conf);
void cw_clear(struct core_world *w);

int cw_step(struct core_world *w, struct event *ev); /* as core_step() */
void cw_do(struct core_world *w, struct event *ev);  /* aborts if refused */
void cw_tick(struct core_world *w);
/* Goes to @t over every deadline on the way; aborts if one deadline does not pass. */
void cw_until(struct core_world *w, gq_time t);
void cw_conf(struct core_world *w); /* w->conf has changed */
/* A new core from the rows of the old one, as after a restart of gqd; @w->fx is what it resumes. */
void cw_restart(struct core_world *w);

/* Wishes. cw_job(): alice's, one card, no VRAM said, auto, no limit, default grace, requeue. */
struct event cw_job(void);
uint32_t cw_submit(struct core_world *w, struct event ev);
uint32_t cw_submit_one(struct core_world *w);     /* cw_job() as it is */
uint32_t cw_run(struct core_world *w, struct event ev); /* submitted, and started: it must fit now */
int cw_wish(struct core_world *w, enum event_type type, uint32_t job, uid_t uid);
int cw_evict(struct core_world *w, uint32_t job, enum evict_mode mode, gq_time grace);
struct event cw_reserve_event(uint16_t card, gq_time start, gq_time end, int64_t vram_mib);
uint32_t cw_reserve(struct core_world *w, uint16_t card, gq_time start, gq_time end,
	int64_t vram_mib);
int cw_unreserve(struct core_world *w, uint32_t id);
struct event cw_service_event(const char *name, uint16_t card, int64_t reserve_mib);
uint32_t cw_service(struct core_world *w, const char *name, uint16_t card, int64_t reserve_mib);
void cw_service_say(struct core_world *w, const char *name, enum service_state state);

/* Facts about a job's present incarnation. */
struct event cw_fact(const struct core_world *w, enum event_type type, uint32_t job);
void cw_started(struct core_world *w, uint32_t job);
void cw_exited(struct core_world *w, uint32_t job, int code, int signal);
void cw_stored(struct core_world *w, uint32_t job, gq_time took, int64_t mib);
void cw_failed(struct core_world *w, enum event_type type, uint32_t job, const char *text);
void cw_gone(struct core_world *w, uint32_t job);
struct event cw_card(uint16_t index); /* idle, 80 GiB, "Sim H100" */

/* Looking. */
const struct job *cw_look(const struct core_world *w, uint32_t job); /* aborts if not there */
enum job_state cw_state(const struct core_world *w, uint32_t job);
enum reason cw_reason(const struct core_world *w, uint32_t job);
const struct reservation *cw_reservation(const struct core_world *w, uint32_t id);
/* The newest effect of the type for the job; NULL = none. */
const struct effect *cw_fx(const struct core_world *w, enum effect_type type, uint32_t job);
void cw_forget(struct core_world *w);

/* The eviction rows that were closed or changed last, kept behind the core's back; by job, newest. */
const struct eviction *cw_eviction(const struct core_world *w, uint32_t job);

#endif
