/* SPDX-License-Identifier: MIT
 * private.h - what the files of this room share
 *
 *   STATE_DIR/spool/mark              what marks are links to                    (0600)
 *   STATE_DIR/spool/<job>/            script, mark.<incarnation>, logs of criu   (0711)
 *   STATE_DIR/exit/<job>.<inc>        exit record, until exec_forget()           (0700)
 *   RUN_DIR/shim/<job>.<inc>.sock     where a shim listens                       (0700)
 *   RUN_DIR/jobs/<job>/               notice, incarnation: for the job to read   (0755)
 *   IMAGE_DIR/<job>/<inc>/            images                                     (0700)
 *   <cgroup2>/gq/<tag>/<job>.<inc>    tag = hash of STATE_DIR
 */
#ifndef GQD_EXEC_PRIVATE_H
#define GQD_EXEC_PRIVATE_H

#include <limits.h>

#include "base/buf.h"
#include "base/map.h"
#include "exec.h"
#include "gqd/shim/link.h"

enum pair_state {
	PAIR_SPARE, /* a shim that waits for its launch; not in the map, no job yet */
	PAIR_LIVE,  /* its shim runs; mostly connected */
	PAIR_LOST,  /* its shim is gone or going; its record, or nothing, will say what happened */
	PAIR_ENDED, /* reported; waits for exec_forget() */
};

enum source_kind { SOURCE_TIMER, SOURCE_LINK, SOURCE_PROCESS, SOURCE_HELPER };

struct source { /* what an epoll event points to */
	enum source_kind kind;
	struct pair *pair; /* borrowed; NULL for the timer and helpers */
	int fd;            /* of a helper: its pidfd */
};

struct pair {
	uint32_t job, incarnation;
	enum pair_state state;
	bool child;        /* the shim is our own child */
	bool stays;        /* its job has ended, and the shim could run another */
	bool dead;         /* freed at the end of exec_dispatch() */
	bool again;        /* STARTED has to be reported once more */
	gq_time started_at, started_took; /* 0 = not yet */
	int link_fd, pidfd; /* -1 = none */
	struct source link, process;
	struct pair *next; /* in exec.dead or exec.spares */
};

struct exec {
	struct exec_conf conf; /* strings owned */
	exec_report_fn report;
	void *ctx;
	int epoll_fd, timer_fd;
	struct source timer;
	struct map pairs; /* owns struct pair */
	struct pair *dead;
	struct pair *spares; /* owned */
	size_t n_spares;
	gq_time spare_at;    /* monotonic: when to make one; GQ_NEVER */
	char *cgroup;     /* owned; <cgroup2>/gq/<tag>, NULL = none */
	char *cgroup_in_proc; /* owned; the same as /proc/PID/cgroup shows it: "/gq/<tag>/" */
	char boot_id[40];
	struct criu_check *check; /* owned; NULL without capsule */
};

/* layout.c: names, each into a buffer of PATH_MAX; returns it */
char *path_spool(const struct exec *x, char *buf, uint32_t job);
char *path_script(const struct exec *x, char *buf, uint32_t job);
char *path_mark(const struct exec *x, char *buf, uint32_t job, uint32_t inc);
char *path_record(const struct exec *x, char *buf, uint32_t job, uint32_t inc);
char *path_socket(const struct exec *x, char *buf, uint32_t job, uint32_t inc);
char *path_job(const struct exec *x, char *buf, uint32_t job);
char *path_notice(const struct exec *x, char *buf, uint32_t job);
char *path_images(const struct exec *x, char *buf, uint32_t job);
char *path_image(const struct exec *x, char *buf, uint32_t job, uint32_t image);
char *path_cgroup(const struct exec *x, char *buf, uint32_t job, uint32_t inc); /* "" = none */
int layout_make(struct exec *x, struct gq_err *err);
int layout_find_cgroup(struct exec *x, struct gq_err *err);

/* launch.c */
int launch_prepare(struct exec *x, const struct exec_job *j, struct gq_err *err); /* files */
int launch_describe(struct exec *x, const struct exec_job *j, int *ret_fd, struct gq_err *err);
int launch_mark(struct exec *x, const struct exec_job *j, struct gq_err *err); /* -EEXIST */
int launch_mark_file(const struct exec *x); /* at each start of gqd */
bool launch_is_marked(const struct exec *x, uint32_t job, uint32_t inc);

/* spawn.c */
int spawn_shim(struct exec *x, int *ret_link_fd, int *ret_pidfd, struct gq_err *err);
int spawn_remove(const struct exec *x, const char *path); /* a helper removes it: its pidfd */

int spawn_output(const char *program, char *const *argv, int out_fd); /* its pidfd */

/* doctor.c: `criu check`, running or ended */
struct criu_check *criu_check_begin(struct exec *x);
struct criu_check *criu_check_free(struct criu_check *c);
const char *criu_check_version(struct criu_check *c); /* NULL = not known (yet) */

/* spare.c */
void spare_plan(struct exec *x); /* one is made soon, if there is none */
void spare_due(struct exec *x);  /* the timer went off */
int spare_launch(struct exec *x, int launch_fd, struct pair **ret, struct gq_err *err);
bool spare_keep(struct exec *x, struct pair *p); /* takes over the shim of an ended pair */
void spare_gone(struct exec *x, struct pair *p);

/* pair.c */
struct pair *pair_get(const struct exec *x, uint32_t job, uint32_t inc);
struct pair *pair_alloc(enum pair_state state);
struct pair *pair_new(struct exec *x, uint32_t job, uint32_t inc);
void pair_name(struct exec *x, struct pair *p, uint32_t job, uint32_t inc); /* a spare's job */
void pair_drop(struct exec *x, struct pair *p); /* freed at the end of exec_dispatch() */
void pair_del(struct exec *x, struct pair *p);
void pair_watch(struct exec *x, struct pair *p, int link_fd, int pidfd);
void pair_close_link(struct exec *x, struct pair *p);
void pair_close_process(struct exec *x, struct pair *p);
int pair_connect(struct exec *x, struct pair *p); /* 0 or -errno */
void pair_lost(struct exec *x, struct pair *p);
bool pair_record(struct exec *x, struct pair *p); /* reports the record, if there is one */
void pair_started(struct exec *x, struct pair *p); /* reports STARTED */
void pair_settle(struct exec *x, struct pair *p); /* one look at a lost pair */
uint32_t job_in_environ(const struct exec *x, pid_t pid);
int pair_tell(struct exec *x, struct pair *p, const struct buf *message);
void pair_message(struct exec *x, struct pair *p, const char *data, size_t len);

void exec_wake(struct exec *x, gq_time in);      /* dispatch again after so long */
void exec_remove(struct exec *x, const char *path); /* a folder, in the background */
int exec_watch(struct exec *x, int fd, struct source *source);
/* Closes it. Closing alone leaves the entry, and its pointer, for as long as another copy of the
 * descriptor is open: a duplicate, or that of a child that has not got through its exec. */
void exec_rewatch(struct exec *x, int fd, struct source *source);
void exec_unwatch(struct exec *x, int fd);
void message_begin(struct buf *b, const char *message);

#endif
