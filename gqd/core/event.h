/* SPDX-License-Identifier: MIT
 * event.h - what can happen to the core, and what it wants done
 * An event is a fact or a wish that daemon.c carries in; strings in it are borrowed for the call.
 * An effect names job and incarnation and may be carried out twice without harm. */
#ifndef GQD_CORE_EVENT_H
#define GQD_CORE_EVENT_H

#include "rows.h"

enum event_type {
	/* wishes; may be refused with an error, then nothing changed */
	EV_SUBMIT,           /* submit */
	EV_CANCEL,           /* job */
	EV_HOLD,             /* job */
	EV_RELEASE,          /* job: HELD → PENDING, STORED_HELD → STORED (also `gqctl resume`) */
	EV_EVICT,            /* evict */
	EV_SERVICE_PUT,      /* service: register or change */
	EV_SERVICE_RENEW,    /* service.name, and .state if has_state */
	EV_SERVICE_DELETE,   /* service.name */
	EV_RESERVE,          /* reserve: new one (id 0), or change of id */
	EV_UNRESERVE,        /* id */
	/* facts from exec and checkpoint, about (job, incarnation); a stale pair is ignored */
	EV_STARTED,          /* it computes; for a restore: took = restore time */
	EV_START_FAILED,     /* text, again; never ran */
	EV_EXITED,           /* exit_code, exit_signal; every process of the capsule is gone */
	EV_STORED,           /* image published, capsule gone; took, bytes */
	EV_STORE_FAILED,     /* text; the job computes on */
	EV_RESTORE_FAILED,   /* text; nothing of it runs */
	EV_GONE,             /* no shim and no exit record: killed with the machine or by force */
	EV_JOB_SIZE,         /* rss_mib */
	/* facts from gpu */
	EV_CARD,             /* card: an edge, or (sample_only) numbers for people */
	/* others */
	EV_CONF,             /* conf: new settings */
	EV_TICK,             /* a deadline has passed */
	EV_N
};

struct event_submit {
	const char *name, *account, *gpu_type;
	uid_t uid;
	gid_t gid;
	bool privileged; /* root or operator group: may raise priority */
	uint16_t gpus;
	int64_t vram_mib;
	gq_time time_limit, time_min, grace, begin_at, signal_before;
	uint8_t checkpoint, exit_saved, signal;
	bool requeue, hold, test_only; /* test_only: check and answer, change nothing */
	int8_t level;
	int64_t priority; /* -1 = the default */
};

struct event_card {
	uint16_t index;
	bool sample_only;
	bool present, fault, busy;
	int foreign_pid;
	int64_t foreign_mib;
	const char *foreign_name;
	const char *uuid, *model, *labels;
	int64_t mem_total_mib, mem_used_mib;
	int util_percent, temperature_c;
};

struct event_reserve {
	uint32_t id;         /* 0 = new */
	const char *service; /* NULL = an operator's own */
	uid_t uid;
	gq_time start, end;
	uint8_t n_cards, count; /* either cards[] or a count to choose from the service's, else all */
	uint16_t cards[JOB_CARDS_MAX];
	const char *label;   /* with count: only cards with this label or model part; NULL = any */
	int64_t vram_mib;
	uint8_t repeat;
};

enum evict_mode { EVICT_DEFAULT, EVICT_STORE, EVICT_REQUEUE };

struct core_conf;

struct event {
	enum event_type type;
	uint32_t job, incarnation, id;
	uid_t uid;       /* who wishes; (uid_t)-1 = gqd */
	bool privileged; /* root or the operator group */
	int exit_code, exit_signal;
	const char *text;
	gq_time took, at;  /* EV_EXITED, EV_STORED: when it happened, gqd may have been away; 0 = now */
	int64_t bytes, rss_mib;
	bool again;              /* EV_START_FAILED: the machine's fault, not the job's: try later */
	bool has_state;          /* EV_SERVICE_RENEW: service.state is set */
	uint8_t evict_mode;      /* EV_EVICT */
	gq_time evict_grace;     /* EV_EVICT: GQ_NEVER = the job's own */
	union {
		struct event_submit submit;
		struct event_card card;
		struct event_reserve reserve;
		struct service service; /* id, lease_lost, lease_until, changed_at are ignored */
		const struct core_conf *conf;
	};
	uint32_t ret_id;         /* out: job, service or reservation id that was made */
	uint8_t ret_reason;      /* out, test_only: why it would wait; REASON_NONE = starts now */
	uint16_t ret_card;       /* out, test_only: on this card */
};

enum effect_type {
	FX_START,   /* make a capsule and run (job, incarnation) from its script */
	FX_RESTORE, /* make a capsule and restore image `image` as (job, incarnation) */
	FX_NOTICE,  /* tell the job: reason text, deadline, signal (0 = file only) */
	FX_NOTICE_OFF, /* called off: remove the notice */
	FX_STORE,   /* freeze and dump; deadline = when the card must be free */
	FX_SIGNAL,  /* send `signal` to the job's processes */
	FX_KILL,    /* SIGKILL everything in the capsule */
	FX_FORGET,  /* its end is on disk: the shim may go, its records are removed */
	FX_DROP_IMAGE, /* remove image `image` of the job */
	FX_FORGET_JOB, /* the job has ended: nothing of it stays but its output */
	FX_N
};

struct effect {
	enum effect_type type;
	uint32_t job, incarnation, image;
	int signal;
	uint8_t cause;    /* FX_NOTICE, FX_STORE: enum cause */
	gq_time deadline; /* FX_NOTICE: the exit period ends; FX_STORE: the card is due */
	char text[160];   /* FX_NOTICE: why, one line */
};

struct effects {
	struct effect *list; /* owned */
	size_t len, cap;
};

void effects_clear(struct effects *fx); /* frees */

#endif
