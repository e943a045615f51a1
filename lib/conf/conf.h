/* SPDX-License-Identifier: MIT
 * conf.h - gq.conf as one plain struct: parsed, range-checked, complete
 * Every option stands once in options.def with type, range, default, reloadable or not, and help; the
 * struct, the checks, the sample file and gq.conf(5) follow from it. Names in the file as in the
 * comments below; see gq.conf(5).
 * Promises: conf_load() gives a whole new struct or an error with file, line, option, value and what
 * is allowed; nothing is half read. Only conf.c includes <libconfig.h>.
 * Leaves to others: using the values (daemon.c hands each room its own small settings struct). */
#ifndef GQ_CONF_CONF_H
#define GQ_CONF_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gqtime.h"
#include "base/log.h"

enum conf_reserve_vram { CONF_RESERVE_ALWAYS, CONF_RESERVE_BUSY, CONF_RESERVE_NEVER };

struct conf_service { /* services: { NAME: { cards = ["0"]; reserve_vram = "30G"; … } } */
	char *name;          /* owned */
	char **cards;        /* owned; index, UUID or label each; NULL-terminated, may be empty */
	int64_t reserve_mib; /* reserve_vram */
	gq_time lease;       /* 0 = none */
	gq_time notice;      /* 0 = not said */
	bool busy;           /* state = "busy" */
	char *user;          /* owned, NULL = root: who may renew and reserve for it */
};

struct conf_card { /* cards: ( { card = "0"; labels = ["a100"]; } ) */
	char *card;   /* owned; index or UUID */
	char *labels; /* owned; comma separated */
};

struct gq_conf {
	/* pool */
	bool unified, online_priority, offline_fill;
	gq_time min_window; /* min_fill_granularity, at top level */
	/* quota */
	double offline_max_vram_ratio;        /* 0.001 … 1 */
	enum conf_reserve_vram reserve_vram;  /* online_reserve_vram */
	/* preempt */
	gq_time graceful_exit;                /* graceful_exit_sec: seconds or a duration */
	gq_time sudden_grace, kill_wait;
	int preempt_level;                    /* level: "priority" is all there is */
	/* monitor */
	gq_time online_p99_latency_alert;     /* 0 = none; accepted, not acted upon yet */
	int idle_percent;                     /* utilisation below which a card is idle */
	gq_time idle_hold, sample_period;
	/* checkpoint */
	char *image_dir;                      /* dir; owned; NULL = STATE_DIR/images */
	char *criu;                           /* owned; NULL = as configured at build time */
	gq_time dump_timeout, restore_timeout;
	int store_tries, restore_tries;
	gq_time retry_wait;
	gq_time margin;                       /* smallest safety margin of an exit promise */
	int cost_factor;                      /* a window must be this many times the cost of using it */
	/* limits */
	int max_jobs, max_jobs_per_user, max_requeue;
	gq_time keep_ended;                   /* ended jobs stay in memory so long */
	gq_time keep_history;                 /* rows of ended jobs, evictions and audit in the store */
	/* top level */
	char *operator_group;                 /* owned, NULL = none */
	char *state_dir, *run_dir;            /* owned; NULL = as configured at build time */
	char *nvml_library;                   /* owned; NULL = libnvidia-ml.so.1 */
	/* log */
	enum log_level log_level;             /* level = "error|warning|info|debug" */
	char *log_file;                       /* file; owned; NULL = stderr */
	struct conf_service *services;        /* owned */
	size_t n_services;
	struct conf_card *cards;              /* owned */
	size_t n_cards;
};

void conf_default(struct gq_conf *c);
/* One option from text, as from a command line: conf_set(&c, "state_dir", "/srv/gq", &err). */
int conf_set(struct gq_conf *c, const char *option, const char *text, struct gq_err *err);
void conf_clear(struct gq_conf *c);

/* @path NULL: all defaults. *ret is set only on success. Expected: -ENOENT, -EINVAL. */
int conf_load(const char *path, struct gq_conf *ret, struct gq_err *err);
int conf_load_string(const char *name, const char *text, struct gq_conf *ret, struct gq_err *err);

/* Comma-separated names of options that differ and need a restart; empty = none. */
void conf_not_reloadable(const struct gq_conf *old, const struct gq_conf *new, struct buf *ret);

void conf_print(const struct gq_conf *c, struct buf *out); /* as a file that gives the same struct */
void conf_print_sample(struct buf *out); /* a commented gq.conf with every default */
void conf_print_man(struct buf *out);    /* the OPTIONS of gq.conf(5), man(7) source */

#endif
