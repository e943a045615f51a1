/* SPDX-License-Identifier: MIT
 * store.h - remembers: rows and the audit trail, one transaction per loop turn
 * A table of functions: SQLite now, something for many machines later. SQL lives in gqd/store alone.
 * Promises: what store_commit() returned 0 for survives kill -9 and power loss; a failed commit
 * left the file as it was; every version reads the files of all earlier ones.
 * Errors: -ENOSPC/-EIO/-EROFS as the file system says, -EBUSY another gqd holds the file,
 * -EPROTO the file is from a newer gqd or is no gq store; the text names the file. */
#ifndef GQD_STORE_STORE_H
#define GQD_STORE_STORE_H

#include <stddef.h>

#include "base/err.h"
#include "core/rows.h"

struct store; /* opaque; first member is const struct store_ops * */

/* Receives each row of a load; owned strings are handed over. */
struct store_load {
	void *ctx;
	void (*job)(void *ctx, const struct job *row); /* those that are not ended */
	void (*service)(void *ctx, const struct service *row);
	void (*reservation)(void *ctx, const struct reservation *row); /* not ENDED/DELETED */
	void (*eviction)(void *ctx, const struct eviction *row);       /* HOW_PENDING ones */
	void (*next_ids)(void *ctx, uint32_t job, uint32_t reservation, uint32_t service,
		uint32_t eviction); /* each one above the largest ever used */
};

struct store_filter {
	uint32_t job;            /* 0 = all */
	uid_t uid;               /* (uid_t)-1 = all */
	int kind;                /* history: enum audit_kind, -1 = all */
	uint32_t id;             /* history: of that kind, 0 = all */
	gq_time since, until;    /* 0 = no bound */
	uint32_t limit;          /* newest first; 0 = 1000 */
};

struct store_ops {
	const char *name;
	struct store *(*close)(struct store *s); /* NULL allowed; returns NULL */
	int (*load)(struct store *s, const struct store_load *to, struct gq_err *err);
	/* A turn: begin, any puts, commit (or rollback). Puts are upserts by id. Only begin and
	 * commit touch the disk for certain; an error of a put is returned again by commit. */
	int (*begin)(struct store *s, struct gq_err *err);
	int (*put_job)(struct store *s, const struct job *row, struct gq_err *err);
	int (*put_spec)(struct store *s, uint32_t job, const char *json, size_t len,
		struct gq_err *err); /* the whole submission: script, environment, … */
	int (*put_service)(struct store *s, const struct service *row, struct gq_err *err);
	int (*put_reservation)(struct store *s, const struct reservation *row, struct gq_err *err);
	int (*put_eviction)(struct store *s, const struct eviction *row, struct gq_err *err);
	int (*put_card)(struct store *s, const struct card *row, struct gq_err *err);
	int (*put_audit)(struct store *s, const struct audit *row, struct gq_err *err);
	int (*commit)(struct store *s, struct gq_err *err);
	void (*rollback)(struct store *s);
	/* Reading, any time. -ENOENT = no such row. The strings of *ret are the caller's; a row
	 * that @fn sees is lent for the call. each_job: those that have ended (filter->job: that
	 * one, ended or not), by ended_at; each_eviction by notice_at; newest first. */
	int (*get_job)(struct store *s, uint32_t id, struct job *ret, struct gq_err *err);
	int (*get_spec)(struct store *s, uint32_t job, char **ret, size_t *ret_len,
		struct gq_err *err);
	int (*each_job)(struct store *s, const struct store_filter *f,
		void (*fn)(void *ctx, const struct job *row), void *ctx, struct gq_err *err);
	int (*each_eviction)(struct store *s, const struct store_filter *f,
		void (*fn)(void *ctx, const struct eviction *row), void *ctx, struct gq_err *err);
	int (*each_audit)(struct store *s, const struct store_filter *f,
		void (*fn)(void *ctx, const struct audit *row), void *ctx, struct gq_err *err);
	/* Removes ended jobs, evictions, reservations and audit rows older than @before, a bounded
	 * number per call: how many it removed; again until 0. Not within a turn. */
	int (*prune)(struct store *s, gq_time before, struct gq_err *err);
	int (*probe)(struct store *s, struct gq_err *err); /* can it write now? changes nothing */
};

struct store {
	const struct store_ops *ops;
};

/* Opens or makes DIR/gq.db (WAL, synchronous=FULL), migrates older schemas. */
int store_sqlite_open(const char *dir, struct store **ret, struct gq_err *err);

#endif
