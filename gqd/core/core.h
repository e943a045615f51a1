/* SPDX-License-Identifier: MIT
 * core.h - decides: which job gets which card, who has to leave, when
 * Pure: reads no clock, does no I/O, logs nothing. core_step() is the only way in.
 * Promises: a card has at most one holder; a job has all its cards or none; every waiting job has
 * a reason; an event that is refused changed nothing; core_next_deadline() is never missed by itself.
 * Leaves to others: remembering (store), doing (exec), telling (api). */
#ifndef GQD_CORE_CORE_H
#define GQD_CORE_CORE_H

#include "base/err.h"
#include "event.h"

struct core;

enum reserve_vram { RESERVE_ALWAYS, RESERVE_BUSY, RESERVE_NEVER, RESERVE_VRAM_N };

struct core_conf {
	bool unified;         /* false: cards of a service are never lent */
	bool online_priority; /* false: a reservation waits for the jobs instead of evicting them */
	bool offline_fill;    /* false: nothing is lent */
	int vram_permille;    /* offline share of a card's VRAM at most, 1..1000 */
	uint8_t reserve_vram; /* enum reserve_vram */
	gq_time graceful_exit; /* longest exit period */
	gq_time sudden_grace;  /* exit period of app and none jobs when there is no time at all */
	gq_time kill_wait;     /* from SIGTERM to SIGKILL: cancel and time limit */
	gq_time min_window;    /* min_fill_granularity */
	gq_time idle_hold;     /* a card is idle only after this long without load */
	int cost_factor;       /* k: window ≥ k × (start + store + restore cost), 1..100 */
	gq_time margin;        /* smallest safety margin of an exit promise */
	gq_time store_base;    /* store cost of a small job before anything was measured */
	int64_t store_mib_per_s, restore_mib_per_s; /* assumed rates before anything was measured */
	uint32_t max_requeue;  /* then JobHoldMaxRequeue */
	int restore_tries, store_tries;
	gq_time retry_wait;    /* back-off after a failed restore, doubled each time */
	gq_time keep_ended;    /* how long an ended job stays in memory */
	uint32_t max_jobs, max_jobs_per_user; /* pending + running */
	int32_t utc_offset_s;  /* local time now; for recurring reservations */
	bool can_store;        /* false: no capsule or no CRIU; auto jobs leave by the none road */
};

void core_conf_default(struct core_conf *c);

struct core *core_new(const struct core_conf *conf);
struct core *core_free(struct core *c); /* returns NULL */

/* Before the first step: rows as the store has them. The core takes the owned strings over. */
void core_load_job(struct core *c, const struct job *row);
void core_load_service(struct core *c, const struct service *row);
void core_load_reservation(struct core *c, const struct reservation *row);
void core_load_eviction(struct core *c, const struct eviction *row); /* pending ones only */
void core_load_next_ids(struct core *c, uint32_t job, uint32_t reservation, uint32_t service,
	uint32_t eviction);

/* After a load, once: leases get one more period, and every effect that a job still needs is
 * listed again. exec then reports what it found (EV_STARTED, EV_EXITED, EV_GONE …). */
void core_resume(struct core *c, gq_time now, struct effects *fx);

/* One event. 0, or -errno with the user's line in err (then nothing changed):
 * -EINVAL bad value, -EPERM not yours, -ENOENT no such thing, -EPROTO not in this state,
 * -E2BIG no card can ever hold it, -EDQUOT too many jobs, -EEXIST.
 * @fx grows; rows that changed are listed by core_dirty(). */
int core_step(struct core *c, gq_time now, struct event *ev, struct effects *fx,
	struct gq_err *err);

gq_time core_next_deadline(const struct core *c); /* GQ_NEVER = none */

/* What changed since core_dirty_done(). Pointers are lent until the next step. */
struct dirty {
	const struct job *const *jobs;
	size_t n_jobs;
	const struct service *const *services; /* deleted ones have an empty name and their id */
	size_t n_services;
	const struct reservation *const *reservations;
	size_t n_reservations;
	const struct eviction *const *evictions;
	size_t n_evictions;
	const struct audit *audits;
	size_t n_audits;
};
void core_dirty(struct core *c, struct dirty *ret);
void core_dirty_done(struct core *c); /* they are on disk; old ended jobs leave memory */

/* Reading. Rows are lent until the next step. */
const struct job *core_job(const struct core *c, uint32_t id); /* NULL = not in memory */
size_t core_jobs(const struct core *c, const struct job *const **ret); /* by id */
size_t core_cards(const struct core *c, const struct card *const **ret); /* by index */
size_t core_services(const struct core *c, const struct service *const **ret);
size_t core_reservations(const struct core *c, const struct reservation *const **ret);
const struct service *core_service_by_name(const struct core *c, const char *name);
const struct service *core_service(const struct core *c, uint32_t id);
const struct core_conf *core_settings(const struct core *c);
uint64_t core_version(const struct core *c); /* of the newest job change */

enum card_state core_card_state(const struct core *c, const struct card *card, gq_time now);
int64_t core_card_lendable_mib(const struct core *c, const struct card *card, gq_time now);

struct window {
	gq_time idle_since;   /* 0 = in use */
	gq_time until;        /* next reservation start, GQ_NEVER = none known */
	uint32_t reservation; /* that one; 0 = none */
	int64_t vram_mib;     /* that may be lent */
	bool offered;         /* would an average job be admitted now? */
	char why[120];        /* one line: why (not) */
};
void core_window(const struct core *c, const struct card *card, gq_time now, struct window *ret);

/* Why a job waits now (computed, not stored), or the reason in its row. */
enum reason core_reason(const struct core *c, const struct job *j, gq_time now);
gq_time core_promise(const struct core *c, const struct job *j); /* time it needs to leave */
/* One line why a waiting job waits, with the numbers; "" for others. @buf ≥ 200 bytes. */
char *core_explain(const struct core *c, const struct job *j, gq_time now, char *buf, size_t size);

/* Invariants; 0 or -EPROTO with the first that is broken. Debug builds and the simulator. */
int core_check(const struct core *c, gq_time now, struct gq_err *err);

/* The transition table, for tests: JOB_STATE_N where the pair is not listed. */
enum job_state job_move_target(enum job_state from, enum job_move move);

#endif
