/* SPDX-License-Identifier: MIT
 * rows.h - what the core keeps in memory and the store keeps on disk: plain structs
 * Times are gq_time (ns since the epoch, 0 = never happened); durations are ns.
 * Strings marked owned belong to the row; NULL means not given. */
#ifndef GQD_CORE_ROWS_H
#define GQD_CORE_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/gqtime.h"

#define JOB_CARDS_MAX 16 /* cards of one job or one reservation; no box holds more */
#define UUID_SIZE     48 /* "GPU-8-4-4-4-12" and its NUL, rounded up */
#define MODEL_SIZE    64
#define NAME_SIZE     48 /* service names */

enum job_state {
#define JOB_STATE(name, code, slurm, text) JOB_##name,
#include "job_state.def"
#undef JOB_STATE
	JOB_STATE_N
};

enum job_move {
	MOVE_HOLD, MOVE_RELEASE, MOVE_ADMIT, MOVE_CANCEL, MOVE_STARTED, MOVE_START_FAILED,
	MOVE_NOTICE, MOVE_CALLED_OFF, MOVE_STORE, MOVE_STORED, MOVE_STORED_HELD,
	MOVE_STORE_FAILED, MOVE_STORE_GIVEN_UP, MOVE_IMAGE_LOST, MOVE_RESTORE_FAILED,
	MOVE_RESTORE_HELD, MOVE_END, MOVE_EXIT_OK, MOVE_EXIT_BAD, MOVE_EXIT_SAVED,
	MOVE_EXIT_EVICTED, MOVE_EXIT_PREEMPTED, MOVE_EXIT_HELD, MOVE_EXIT_CANCELLED,
	MOVE_EXIT_TIMEOUT, MOVE_EXIT_RESTORE, MOVE_GONE, MOVE_GONE_HELD, MOVE_GONE_IMAGE, MOVE_LOST,
	MOVE_N
};

enum reason {
#define REASON(name, text, help) REASON_##name,
#include "reason.def"
#undef REASON
	REASON_N
};

enum checkpoint_mode { CHECKPOINT_AUTO, CHECKPOINT_APP, CHECKPOINT_NONE, CHECKPOINT_N };

/* Why a job has to leave its cards. */
enum cause {
	CAUSE_NONE,
	CAUSE_RESERVATION, /* a reservation starts; evict_ref = its id */
	CAUSE_SERVICE,     /* a service says that it is busy; evict_ref = its row id */
	CAUSE_LEASE,       /* a service's lease ran out: counts as in use */
	CAUSE_FOREIGN,     /* a process that is not ours took VRAM on the card */
	CAUSE_OPERATOR,    /* gqctl evict */
	CAUSE_CARD,        /* the card is gone or faulty */
	CAUSE_N
};

/* How it left. */
enum how { HOW_PENDING, HOW_EXIT, HOW_APP, HOW_STORE, HOW_REQUEUE, HOW_CALLED_OFF, HOW_N };

struct job {
	uint32_t id;
	uint32_t incarnation; /* of the running or last run; 0 before the first start */
	uint32_t image;       /* incarnation whose image can be restored; 0 = none */
	uint8_t state;        /* enum job_state */
	uint8_t reason;       /* enum reason */
	uint8_t checkpoint;   /* enum checkpoint_mode */
	uint8_t exit_saved;   /* --checkpoint-exit-code, 85 */
	uint8_t signal;       /* --signal; 0 = none asked */
	uint8_t cause;        /* enum cause, while it leaves */
	uint8_t after;        /* enum job_move that the exit of an ENDING job makes */
	bool requeue;         /* may be started again from its beginning */
	bool restored;        /* this incarnation came from the image */
	bool sudden;          /* this eviction came without enough notice */
	bool hold_after;      /* stays held after it left (gqctl evict) */
	int8_t level;         /* qos: -1 low, 0 normal, 1 high */
	uint8_t n_cards;
	uint8_t store_tries, restore_tries, start_tries;
	uint16_t gpus; /* cards asked for */
	uint16_t cards[JOB_CARDS_MAX];
	uid_t uid;
	gid_t gid;
	uint32_t priority;
	int exit_code;   /* of its end; -1 = it has not exited */
	int exit_signal; /* 0 if none */
	int64_t vram_mib; /* per card; 0 = what the card may lend */
	int64_t rss_mib;  /* host memory as last seen; 0 = not seen */
	gq_time signal_before; /* --signal's @seconds: before the end of the exit period */
	gq_time time_limit;    /* GQ_NEVER = none */
	gq_time time_min;      /* smallest useful window; 0 = the pool's */
	gq_time grace;         /* exit period asked for; GQ_NEVER = the pool's graceful_exit_sec */
	gq_time begin_at;      /* not before; also the back-off after a failed try */
	gq_time submitted_at, started_at, ended_at;
	gq_time run_since;     /* start of the present incarnation's computing, 0 if not */
	gq_time ran;           /* computing time of the earlier incarnations that counts */
	gq_time ran_saved;     /* how much of all computing is safe in an image or the job's own save */
	gq_time lost;          /* computing time that had to be done again */
	gq_time store_cost, restore_cost; /* last measured; 0 = never */
	uint32_t evictions;    /* times it was told to leave */
	uint32_t requeues;     /* times it was started from its beginning again */
	uint32_t eviction;     /* id of the eviction row while it leaves; 0 = none */
	gq_time notice_at, store_at, due_at; /* while it leaves */
	gq_time kill_at;       /* SIGKILL of the capsule, GQ_NEVER = not planned */
	uint64_t version;      /* grows with every change of any job; clients wait on it */
	char *name;            /* owned */
	char *account;         /* owned, NULL = none */
	char *gpu_type;        /* owned, NULL = any; matches a label or a part of the model */
	char *error;           /* owned, NULL = none: the last failure, one line */
};

enum card_state {
	CARD_IDLE,      /* nobody uses it, may be lent */
	CARD_OFFLINE,   /* lent to a job */
	CARD_ONLINE,    /* claimed by a service or a reservation, or busy */
	CARD_UNMANAGED, /* a process that is neither ours nor a service's holds it: never lent */
	CARD_DOWN,      /* not seen by the driver, or faulty */
	CARD_STATE_N
};

struct card {
	uint16_t index;
	char uuid[UUID_SIZE];
	char model[MODEL_SIZE];
	char *labels; /* owned, comma separated, from the config; NULL = none */
	int64_t mem_total_mib;
	/* edges from gqd/gpu */
	bool present, fault, busy;
	int foreign_pid;      /* 0 = none */
	int64_t foreign_mib;  /* VRAM of all processes that are not a job's */
	char foreign_name[32];
	gq_time idle_since; /* 0 while busy or not seen */
	/* last sample, for people only: no decision reads these */
	int util_percent, temperature_c;
	int64_t mem_used_mib;
	/* decisions */
	uint32_t job; /* holder, 0 = none; derived from the jobs at load */
};

enum service_state { SERVICE_IDLE, SERVICE_BUSY, SERVICE_STATE_N };

struct service {
	uint32_t id;
	char name[NAME_SIZE];
	uid_t uid;           /* who registered it */
	bool from_config;    /* stands in the config: cannot be deleted through the API */
	uint8_t state;       /* enum service_state, as it said last */
	bool lease_lost;
	uint8_t n_cards;
	uint16_t cards[JOB_CARDS_MAX];
	int64_t reserve_mib; /* VRAM per card that is always its own */
	gq_time lease;       /* 0 = none: it need not renew */
	gq_time lease_until; /* GQ_NEVER without a lease */
	gq_time notice;      /* the least notice its reservations give; 0 = not said */
	gq_time changed_at;
};

enum repeat { REPEAT_NONE, REPEAT_DAILY, REPEAT_WEEKLY, REPEAT_N };

enum reservation_state {
	RESERVATION_PLANNED,  /* starts later */
	RESERVATION_WAITING,  /* started, a card is not free yet: late */
	RESERVATION_HONOURED, /* started, all its cards are free of offline work */
	RESERVATION_ENDED,
	RESERVATION_DELETED,
	RESERVATION_STATE_N
};

struct reservation {
	uint32_t id;
	uint32_t service; /* row id; 0 = an operator's own */
	uid_t uid;
	uint8_t state;    /* enum reservation_state */
	uint8_t repeat;   /* enum repeat */
	bool sudden;      /* made with less notice than a job needed to leave */
	uint8_t n_cards;
	uint16_t cards[JOB_CARDS_MAX];
	int64_t vram_mib; /* per card; 0 = the whole card */
	gq_time created_at, start, end; /* of the present occurrence; end GQ_NEVER = open */
	gq_time free_at;  /* when its cards were free (of this occurrence); 0 = not yet */
	gq_time late;     /* of this occurrence: max(0, free_at - start) */
	int32_t utc_offset_s; /* local time minus UTC when it was made: a daily 08:00 stays 08:00 */
};

struct eviction {
	uint32_t id;
	uint32_t job, incarnation;
	uint8_t cause; /* enum cause */
	uint8_t how;   /* enum how; HOW_PENDING until it left */
	bool sudden;
	uint8_t n_cards;
	uint16_t cards[JOB_CARDS_MAX];
	uint32_t ref; /* reservation or service id */
	gq_time notice_at, due_at, predicted_free_at, free_at; /* due_at 0 = as soon as possible */
	gq_time late; /* max(0, free_at - due_at) */
	gq_time lost; /* computing time thrown away */
	char *error;  /* owned; why the first choice did not work */
};

enum audit_kind { AUDIT_JOB, AUDIT_CARD, AUDIT_SERVICE, AUDIT_RESERVATION, AUDIT_DAEMON, AUDIT_N };

struct audit {
	gq_time at;
	uint8_t kind; /* enum audit_kind */
	uint32_t id;  /* of the job, card index, service or reservation */
	uid_t uid;    /* who asked; (uid_t)-1 = gqd itself */
	char text[200];
};

const char *job_state_code(enum job_state s); /* "PD" */
const char *job_state_name(enum job_state s); /* "PENDING" */
const char *job_state_help(enum job_state s);
bool job_state_is_ended(enum job_state s);
bool job_state_has_cards(enum job_state s); /* STARTING RUNNING NOTICE STORING RESTORING ENDING */
const char *reason_name(enum reason r);
const char *reason_help(enum reason r);
const char *cause_name(enum cause c); /* "reservation", … */
const char *how_name(enum how h);     /* "pending", "exit", "app", "store", "requeue", "called-off" */
const char *card_state_name(enum card_state s);
const char *service_state_name(enum service_state s);
const char *reservation_state_name(enum reservation_state s);
const char *repeat_name(enum repeat r);
const char *audit_kind_name(enum audit_kind k);
const char *checkpoint_mode_name(enum checkpoint_mode m);

void job_clear(struct job *j); /* frees the owned strings */

#endif
