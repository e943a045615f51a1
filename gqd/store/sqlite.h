/* SPDX-License-Identifier: MIT
 * sqlite.h - what the files of the SQLite store share */
#ifndef GQD_STORE_SQLITE_H
#define GQD_STORE_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "store/rows_sql.h"
#include "store/store.h"

enum statement {
	STMT_BEGIN, STMT_COMMIT, STMT_PUT_SPEC, STMT_GET_SPEC, STMT_GET_JOB, STMT_DEL_SERVICE,
	STMT_KEEP_SERVICE_ID, STMT_N
};

struct sqlite_store {
	struct store base; /* first */
	sqlite3 *db;       /* owned */
	sqlite3_stmt *put[TABLE_N]; /* owned, made at first use, as below */
	sqlite3_stmt *stmts[STMT_N];
	bool in_turn;
	struct gq_err failed; /* first error of this turn; code 0 = none */
};

static inline struct sqlite_store *sqlite_of(struct store *s)
{
	return (struct sqlite_store *)s;
}

/* The statement, ready for binding, and kept for the next time. */
int sqlite_stmt(struct sqlite_store *s, enum statement which, sqlite3_stmt **ret,
	struct gq_err *err);
/* Steps a statement that gives no rows, and makes it ready again. */
int sqlite_run(struct sqlite_store *s, sqlite3_stmt *stmt, const char *what, struct gq_err *err);
void sqlite_rollback(struct sqlite_store *s);

/* sqlite_read.c, the functions of struct store_ops */
int sqlite_load(struct store *s, const struct store_load *to, struct gq_err *err);
int sqlite_get_job(struct store *s, uint32_t id, struct job *ret, struct gq_err *err);
int sqlite_get_spec(struct store *s, uint32_t job, char **ret, size_t *ret_len,
	struct gq_err *err);
int sqlite_each_job(struct store *s, const struct store_filter *f,
	void (*fn)(void *ctx, const struct job *row), void *ctx, struct gq_err *err);
int sqlite_each_eviction(struct store *s, const struct store_filter *f,
	void (*fn)(void *ctx, const struct eviction *row), void *ctx, struct gq_err *err);
int sqlite_each_audit(struct store *s, const struct store_filter *f,
	void (*fn)(void *ctx, const struct audit *row), void *ctx, struct gq_err *err);

/* sqlite_prune.c */
int sqlite_prune(struct store *s, gq_time before, struct gq_err *err);

#endif
