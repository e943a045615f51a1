/* SPDX-License-Identifier: MIT
 * daemon.h - what gqd's top-level files share: the rooms, and the turn that is being made
 * daemon.c     the heartbeat: decide, remember, carry out
 * open.c       opens the rooms in their order, and closes them
 * effect.c     carries one effect out
 * launch.c     turns a stored submission into a launch
 * report.c     turns what exec and gpu saw into events
 * grades.c     how well jobs can be snapshotted
 * host.c       answers what gqd/api asks
 * settings.c   the config as each room's settings
 * findings.c   gqctl doctor */
#ifndef GQD_DAEMON_H
#define GQD_DAEMON_H

#include <stdbool.h>

#include "api/api.h"
#include "base/map.h"
#include "conf/conf.h"
#include "core/core.h"
#include "exec/exec.h"
#include "gpu/gpu.h"
#include "loop.h"
#include "store/store.h"

struct pending_spec {
	uint32_t job;
	char *text; /* owned: "G<gid>,<gid>…\n" and the specification's JSON */
	size_t len;
};

struct daemon {
	struct gq_conf conf;
	const char *conf_path; /* NULL = defaults only */
	const char *state_arg, *run_arg; /* from the command line: stronger than the config */
	char *state_dir, *run_dir, *image_dir, *socket; /* owned */
	int lock_fd;
	bool capsule;          /* root: namespaces, cgroups, CRIU */
	struct loop *loop;
	struct loop_timer *deadline, *gpu_deadline, *minute, *store_retry, *lazy;
	struct loop_watch *exec_watch, *gpu_watch;
	struct core *core;
	struct store *store;
	struct exec *exec;
	struct gpu *gpu;
	struct api *api;
	struct api_host host;  /* the server keeps a pointer to it */
	/* the turn */
	struct effects effects;      /* not carried out yet */
	struct pending_spec *specs;  /* owned */
	size_t n_specs, cap_specs;
	bool stepped;                /* something went through the core since the last commit */
	bool awaited;                /* a client waits for the answer: the commit is not put off */
	bool lazy_armed, lazy_over;  /* a commit that was put off; its time is up */
	/* others */
	struct map grades;           /* job → struct grade_row, owned (grades.c) */
	struct gpu_card *cards;      /* as last reported, to tell a new core */
	size_t n_cards;
	bool store_failed;           /* the disk does not take our rows: nothing is decided */
	char store_error[256];
	gid_t operator_gid;          /* (gid_t)-1 = none */
	gq_time started_at;
	bool stopping;
};

/* open.c */
int daemon_open(struct daemon *d, struct gq_err *err);
void daemon_close(struct daemon *d);

/* daemon.c */
int daemon_load(struct daemon *d, struct gq_err *err); /* a new core, from the store's rows */
void daemon_revive(struct daemon *d);                  /* it is told again what is there */
void daemon_watch(struct daemon *d);
void daemon_turn(void *ctx);
void daemon_clean(void *ctx, uint32_t job);
void daemon_drop_specs(struct daemon *d);
void daemon_override(char **field, const char *value); /* NULL: leaves it */
int daemon_step(struct daemon *d, struct event *ev, struct gq_err *err);
void daemon_fact(struct daemon *d, struct event *ev); /* one that cannot be refused */
void daemon_reload(struct daemon *d);
void daemon_keep_spec(struct daemon *d, uint32_t job, char *text, size_t len); /* takes text */

/* effect.c */
void effect_do(struct daemon *d, const struct effect *f);

/* launch.c */
int launch_job(struct daemon *d, const struct job *j, bool restore, struct gq_err *err);
int launch_check_user(uid_t uid, struct gq_err *err);
char *launch_spec_text(const struct api_peer *peer, const char *json, size_t len, size_t *ret_len);
const char *launch_spec_json(const char *text, size_t len, size_t *ret_len); /* behind the G line */

/* report.c */
void report_exec(void *ctx, const struct exec_report *r);
void report_gpu(void *ctx, const struct gpu_card *card, bool sample_only);
uint32_t report_owner(void *ctx, pid_t pid);
void report_cards_again(struct daemon *d); /* to a new core */

/* grades.c */
void grades_keep(struct daemon *d, const struct exec_report *r);
const struct api_grade *grades_of(void *ctx, uint32_t job); /* NULL = not known */
void grades_drop(struct daemon *d, uint32_t job);
void grades_clear(struct daemon *d);

/* host.c */
extern const struct api_host host_template;

/* settings.c */
void settings_core(const struct daemon *d, struct core_conf *ret);
int settings_operator(struct daemon *d, struct gq_err *err);
void settings_services(struct daemon *d); /* registers those of the config whose cards are known */
const char *settings_labels(const struct daemon *d, const struct gpu_card *card);

/* findings.c */
void findings(void *ctx, api_finding_fn fn, void *fn_ctx);

#endif
