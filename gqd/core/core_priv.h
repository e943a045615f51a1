/* SPDX-License-Identifier: MIT
 * core_priv.h - what the files of gqd/core share; nobody else includes it */
#ifndef GQD_CORE_CORE_PRIV_H
#define GQD_CORE_CORE_PRIV_H

#include <stddef.h>

#include "base/map.h"
#include "core.h"

/* Something that wants a card at a time. */
struct claim {
	gq_time at;   /* GQ_NEVER = none */
	uint8_t cause;
	uint32_t ref; /* reservation or service */
};

/* One job in memory. The row comes first: a pointer to the one is a pointer to the other. */
struct entry {
	struct job row;
	struct entry *next, *prev; /* in its bucket of the queue */
	struct bucket *bucket;     /* NULL = not waiting in the queue */
	struct claim claim;        /* on its cards, as of the present pass (evict.c) */
	bool dirty;
	bool signalled;       /* --signal was sent for this eviction */
	gq_time store_began;  /* when its dump was ordered, 0 = not since gqd started */
	bool limit_signalled; /* --signal was sent for the time limit */
};

/* What a waiting job asks for. */
struct wish {
	int64_t rank; /* level, then stored before new, then priority */
	int64_t vram_mib;
	gq_time time_min, grace, time_limit;
	uint32_t own; /* job id: its wish is its own; 0 = others may wish the same */
	uint16_t gpus;
	uint8_t checkpoint;
};

/* Waiting jobs with the same wish, by id; never empty. */
struct bucket {
	struct wish wish;
	uint64_t hash;
	struct entry *head, *tail;
};

/* What a job asks of a card: the time to leave it, and the smallest window before that. */
struct need {
	gq_time promise, window;
};

/* What a card offers to any job, as seen at one moment (admit.c). */
struct offer {
	bool free;    /* but for the job on it */
	bool shared;  /* its window depends on the job's VRAM */
	bool service; /* a service owns it */
	int64_t lendable_mib;
	gq_time until, notice;
};

struct ptrs {
	void **list; /* owned; what it points to is not */
	size_t len, cap;
};

struct core {
	struct core_conf conf;
	struct map by_id;      /* job id → entry */
	struct ptrs jobs;      /* entries by id */
	struct ptrs holding;   /* entries with cards, in no order */
	struct ptrs buckets;   /* by rank, highest first, then by their first job */
	struct map by_wish;    /* hash of a wish → its bucket */
	struct offer *offers;  /* owned; by card index */
	size_t n_offers;
	gq_time offers_at;     /* 0 = to be made anew */
	struct ptrs cards;     /* struct card, by index; no gaps */
	bool cards_seen;       /* the driver has answered since gqd started */
	struct ptrs services, reservations; /* by id */
	struct ptrs dirty_jobs, dirty_services, dirty_reservations, dirty_evictions;
	struct ptrs evictions; /* not finished, or not yet on disk */
	struct ptrs buried;    /* deleted services, until they are on disk */
	struct audit *audits;
	size_t n_audits, cap_audits;
	uint32_t next_job, next_reservation, next_service, next_eviction;
	uint64_t version;
	size_t n_waiting, n_alive; /* queued; not ended */
	struct map per_user;       /* uid → number of jobs that are not ended, as a pointer */
	bool replan;               /* a card or window may have opened: look at all waiting jobs */
	gq_time next_begin;        /* when the last look would come out otherwise: a --begin, a gang's window */
	bool gang_waits;       /* the last look stopped at a job that waits for several cards */
	gq_time next_sweep;    /* ended jobs leave memory; GQ_NEVER = none there */
	gq_time sweep_before;  /* those that ended before, at the next core_dirty_done() */
	gq_time deadline;
	gq_time seen_small;        /* learned cost of storing a small job, 0 = none yet */
	gq_time seen_spread;       /* mean distance of such costs from what was expected */
	int64_t seen_store_rate, seen_restore_rate; /* MiB/s, learned; 0 = none yet */
	gq_time seen_restore_small;
};

#define EACH(type, var, ptrs, i)                                                               \
	(size_t i = 0; i < (ptrs).len; i++)                                                    \
		for (type *var = (ptrs).list[i]; var; var = NULL)

/* core.c */
void core_sweep_later(struct core *c, gq_time now);

/* ptrs.c: arrays of pointers */
void ptrs_add(struct ptrs *p, void *item);
void ptrs_insert(struct ptrs *p, size_t at, void *item);
void ptrs_remove(struct ptrs *p, size_t at); /* keeps the order */
bool ptrs_drop(struct ptrs *p, const void *item);
void ptrs_clear(struct ptrs *p);

/* note.c: what changed, what to do */
void note_job(struct core *c, struct entry *e);
void note_service(struct core *c, struct service *s);
void note_reservation(struct core *c, struct reservation *r);
void note_eviction(struct core *c, struct eviction *v);
void note_audit(struct core *c, gq_time now, enum audit_kind kind, uint32_t id, uid_t uid,
	const char *fmt, ...) __attribute__((format(printf, 6, 7)));
struct effect *fx_add(struct effects *fx, enum effect_type type, const struct job *j);

/* queue.c: the order of waiting jobs */
void queue_add(struct core *c, struct entry *e);
void queue_remove(struct core *c, struct entry *e);
struct entry *queue_first(const struct core *c);
size_t queue_ahead(const struct core *c, const struct entry *e, size_t max); /* waiting before it */

/* job.c: one job's life */
struct entry *job_entry(const struct core *c, uint32_t id);
int job_move(struct core *c, struct entry *e, enum job_move move, struct gq_err *err);
void job_move_or_die(struct core *c, struct entry *e, enum job_move move);
void job_take_cards(struct core *c, struct entry *e, const uint16_t *cards, size_t n);
void job_release_cards(struct core *c, struct entry *e, gq_time now);
void job_set_error(struct entry *e, const char *text);
void job_stop_clock(struct entry *e, gq_time at);
void job_end(struct core *c, struct entry *e, gq_time now, struct effects *fx);
int job_wish(struct core *c, gq_time now, struct event *ev, struct effects *fx, struct gq_err *err);
int job_submit(struct core *c, gq_time now, struct event *ev, struct effects *fx,
	struct gq_err *err);
void job_start_ending(struct core *c, struct entry *e, gq_time now, enum job_move after,
	gq_time kill_at, struct effects *fx);

/* fact.c: what exec reported */
void fact_apply(struct core *c, gq_time now, const struct event *ev, struct effects *fx);

/* window.c: how long is this card idle, how much of it may be lent */
struct claim window_claim(const struct core *c, const struct card *card, const struct job *j,
	gq_time now);
struct claim window_claim_all(const struct core *c, const struct job *j, gq_time now);
bool window_is_foreign(const struct core *c, const struct card *card);
bool window_card_is_free_of_online(const struct core *c, const struct card *card, gq_time now);
bool window_card_is_free(const struct core *c, const struct card *card, gq_time now);
int64_t window_cap_mib(const struct core *c, const struct card *card);
int64_t window_ever_mib(const struct core *c, const struct card *card);
bool window_is_full(const struct core *c, const struct card *card, const struct job *j, gq_time at);
bool window_card_suits(const struct core *c, const struct card *card, const struct job *j);

/* fill.c: who of those that wait is started */
void fill_pass(struct core *c, gq_time now, struct effects *fx);
void fill_new(struct core *c, struct entry *e, gq_time now, struct effects *fx);

/* admit.c: does a job get a card now */
struct need admit_needs(const struct core *c, const struct job *j);
const struct offer *admit_offers(const struct core *c, gq_time now);
enum reason admit_find(const struct core *c, const struct job *j, const struct need *need, gq_time now,
	uint16_t *cards, size_t *ret_n);
enum reason admit_place(const struct core *c, const struct job *j, gq_time now, uint16_t *cards,
	size_t *ret_n);
gq_time admit_need(const struct core *c, const struct job *j);
int admit_check_ever(const struct core *c, const struct job *j, struct gq_err *err);

/* cost.c: what leaving and coming back takes, learned from what it took */
gq_time cost_store(const struct core *c, const struct job *j);
gq_time cost_restore(const struct core *c, const struct job *j);
gq_time cost_margin(const struct core *c, gq_time cost);
gq_time cost_grace(const struct core *c, const struct job *j);
gq_time cost_leave(const struct core *c, const struct job *j); /* after the exit period */
bool cost_can_store(const struct core *c, const struct job *j);
void cost_learn_store(struct core *c, struct job *j, gq_time took, int64_t bytes);
void cost_learn_restore(struct core *c, struct job *j, gq_time took);

/* evict.c: who has to leave, when and how */
void evict_pass(struct core *c, gq_time now, struct effects *fx);
int evict_wish(struct core *c, gq_time now, const struct event *ev, struct effects *fx,
	struct gq_err *err);
void evict_left(struct core *c, struct entry *e, gq_time now, enum how how, gq_time lost);
void evict_store_failed(struct core *c, struct entry *e, gq_time now, const char *text,
	struct effects *fx);
gq_time evict_deadline(struct core *c, gq_time now);
struct eviction *evict_row(const struct core *c, uint32_t id);
enum job_move evict_exit_move(const struct job *j);
int evict_signal(const struct job *j);
void evict_resume(struct core *c, struct entry *e, gq_time now, struct effects *fx);

/* service.c, reserve.c, card.c */
int service_wish(struct core *c, gq_time now, struct event *ev, struct gq_err *err);
void service_pass(struct core *c, gq_time now);
struct service *service_by_id(const struct core *c, uint32_t id);
bool service_claims(const struct service *s);
bool service_has_card(const struct service *s, uint16_t card);
int reserve_wish(struct core *c, gq_time now, struct event *ev, struct gq_err *err);
void reserve_pass(struct core *c, gq_time now);
void reserve_set_clocks(struct core *c, gq_time now);
bool reserve_is_live(const struct reservation *r);
bool reserve_has_card(const struct reservation *r, uint16_t card);
int card_event(struct core *c, gq_time now, const struct event *ev, struct gq_err *err);
struct card *card_at(const struct core *c, size_t index); /* NULL = unknown */
struct card *card_make(struct core *c, uint16_t index);

#endif
