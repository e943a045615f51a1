/* SPDX-License-Identifier: MIT
 * exec.h - carries out: one shim per job incarnation, started, told, adopted again
 * Promises: never blocks; an incarnation is started at most once, whoever asks how often; a report
 * is repeated (also after gqd died and came back) until exec_forget(); every process of a capsule
 * is gone before EXITED, STORED, RESTORE_FAILED or START_FAILED is reported.
 * Leaves to others: what to do about a report (core), the snapshot itself (shim + checkpoint/). */
#ifndef GQD_EXEC_EXEC_H
#define GQD_EXEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/gqtime.h"

struct exec;

struct exec_conf {
	const char *run_dir;    /* sockets, notices; may vanish at reboot */
	const char *state_dir;  /* scripts, exit records, incarnation marks: survives */
	const char *image_dir;  /* snapshots, 0700 root */
	const char *shim;       /* path of gq-shim */
	const char *criu;       /* path or name of criu */
	bool capsule;           /* root: namespaces, cgroups, CRIU */
	gq_time dump_timeout, restore_timeout;
};

/* Everything needed to start or restore; strings borrowed for the call. */
struct exec_job {
	uint32_t job, incarnation;
	uint32_t image;      /* restore this one; 0 = start from the script */
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* supplementary */
	size_t n_groups;
	mode_t umask;
	const struct rlimit *rlimits; /* index = resource number; count below */
	size_t n_rlimits;
	const char *cwd;
	const char *const *env;  /* "NAME=value", NULL-terminated: the job's whole environment
	                          * but for what exec adds: GQ_NOTICE, GQ_RUN_DIR */
	const char *script;      /* its bytes; kept in state_dir for the job's life */
	size_t script_len;
	const char *const *argv; /* arguments behind the script, NULL-terminated; may be empty */
	const char *stdin_path;  /* absolute; NULL = /dev/null */
	const char *stdout_path; /* absolute, patterns already expanded */
	const char *stderr_path; /* NULL = with stdout */
	bool truncate;           /* --open-mode=truncate: only at incarnation 1 */
	bool fresh_output;       /* first start: truncate applies */
};

enum exec_report_type {
	EXEC_STARTED,        /* the job's program was exec'ed, or the restored tree runs; took */
	EXEC_START_FAILED,   /* text */
	EXEC_EXITED,         /* exit_code, exit_signal of the job's root process */
	EXEC_STORED,         /* took, bytes, and frozen time in took2 */
	EXEC_STORE_FAILED,   /* text = cause with CRIU's own last error line; the job runs on */
	EXEC_RESTORE_FAILED, /* text */
	EXEC_GONE,           /* the shim is dead and left no record */
	EXEC_GRADE,          /* grade, findings: how well it can be snapshotted */
	EXEC_SIZE,           /* rss_mib of the whole capsule, about every 5 s and when it changed much */
};

#define EXEC_FINDINGS_MAX 8

struct exec_report {
	enum exec_report_type type;
	uint32_t job, incarnation;
	int exit_code, exit_signal;
	gq_time at;   /* when it happened */
	gq_time took, took2;
	int64_t bytes, rss_mib;
	const char *text; /* one line, borrowed; NULL if none */
	int grade;        /* 0 … 3 as checkpoint/findings.h */
	const char *findings[EXEC_FINDINGS_MAX]; /* borrowed; "what - cure" */
	size_t n_findings;
};

typedef void (*exec_report_fn)(void *ctx, const struct exec_report *r);

int exec_new(const struct exec_conf *conf, exec_report_fn report, void *ctx, struct exec **ret,
	struct gq_err *err);
struct exec *exec_free(struct exec *x); /* shims and jobs run on; returns NULL */

/* One descriptor to poll for reading (an epoll); exec_dispatch() when it is ready, and it calls
 * report. SIGCHLD must not be ignored; exec reaps its own children by pidfd only. */
int exec_fd(const struct exec *x);
void exec_dispatch(struct exec *x);

/* Looks at run_dir and state_dir for (job, incarnation) that the core believes to be there and
 * connects to its shim; the reports that follow say what is true (at the least one of STARTED,
 * EXITED, STORED, GONE …, before exec_adopt returns or from exec_dispatch). A pair that was never
 * started (no incarnation mark) is -ENOENT: the caller starts it. */
int exec_adopt(struct exec *x, uint32_t job, uint32_t incarnation, struct gq_err *err);
/* After all adoptions: shims in run_dir whose pair nobody adopted are told to kill their capsule and
 * go; returns their number. */
int exec_adopt_done(struct exec *x);

/* Every job that has a folder for its script or its images. */
void exec_each_left(struct exec *x, void (*fn)(void *ctx, uint32_t job), void *ctx);

/* 0, or -errno when nothing could be started (then START_FAILED/RESTORE_FAILED is NOT reported).
 * A pair seen before is adopted instead of started. */
int exec_start(struct exec *x, const struct exec_job *j, struct gq_err *err);

/* Each returns 0 when the shim was told or will be when it is reached, -ENOENT for an unknown pair. */
int exec_notice(struct exec *x, uint32_t job, uint32_t incarnation, const char *reason,
	const char *text, gq_time deadline, int signal); /* signal 0 = file only */
int exec_notice_off(struct exec *x, uint32_t job, uint32_t incarnation);
int exec_store(struct exec *x, uint32_t job, uint32_t incarnation, gq_time deadline);
int exec_signal(struct exec *x, uint32_t job, uint32_t incarnation, int signal);
int exec_kill(struct exec *x, uint32_t job, uint32_t incarnation);
int exec_forget(struct exec *x, uint32_t job, uint32_t incarnation);
/* All traces of an ended job but its output: spool, notices, and every image. */
int exec_forget_job(struct exec *x, uint32_t job);
int exec_drop_image(struct exec *x, uint32_t job, uint32_t image);
bool exec_has_image(const struct exec *x, uint32_t job, uint32_t image);

/* The job that a process of this host belongs to (by cgroup, else by environment), 0 = none of ours. */
uint32_t exec_job_of_pid(const struct exec *x, pid_t pid);

/* What works here, for gqctl doctor: one call per finding. */
void exec_doctor(const struct exec *x,
	void (*fn)(void *ctx, const char *what, bool ok, const char *text, const char *cure),
	void *ctx);

#endif
