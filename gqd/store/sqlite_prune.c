/* SPDX-License-Identifier: MIT
 * sqlite_prune.c - forgetting what is old, a bounded piece at a time so that a turn never stalls */
#include <inttypes.h>

#include "store/schema.h"
#include "store/sqlite.h"

/* Rows per table and call; a call stays within a few milliseconds. */
#define PRUNE_STEP "250"

#define KEEP_ID(table)                                                                             \
	"INSERT INTO last_ids (tbl, id) SELECT '" table "', coalesce(max(id), 0) FROM " table      \
	" WHERE true ON CONFLICT (tbl) DO UPDATE SET id = max(id, excluded.id)"

/* Each removes at most a step of rows. Audit and evictions are looked through from their oldest
 * rows on, which costs the same whether there is something to remove or not. */
static const char *const prune_texts[] = {
	KEEP_ID("jobs"), KEEP_ID("evictions"), KEEP_ID("reservations"),
	"DELETE FROM specs WHERE job IN (SELECT id FROM jobs WHERE ended = 1 AND ended_at < ?1 "
	"ORDER BY ended_at LIMIT " PRUNE_STEP ")",
	"DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE ended = 1 AND ended_at < ?1 "
	"ORDER BY ended_at LIMIT " PRUNE_STEP ")",
	"DELETE FROM evictions WHERE id IN (SELECT id FROM evictions ORDER BY id LIMIT " PRUNE_STEP
	") AND ended = 1 AND notice_at < ?1",
	"DELETE FROM reservations WHERE id IN (SELECT id FROM reservations ORDER BY id "
	"LIMIT " PRUNE_STEP ") AND ended = 1 AND start < ?1 AND created_at < ?1",
	"DELETE FROM audit WHERE rowid IN (SELECT rowid FROM audit WHERE at < ?1 ORDER BY at "
	"LIMIT " PRUNE_STEP ")",
};

static int prune_one(sqlite3 *db, const char *sql, gq_time before, int *removed, struct gq_err *err)
{
	sqlite3_stmt *stmt;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK) {
		if (sqlite3_bind_parameter_count(stmt))
			sqlite3_bind_int64(stmt, 1, before);
		rc = sqlite3_step(stmt);
		if (rc == SQLITE_DONE && sqlite3_bind_parameter_count(stmt))
			*removed += sqlite3_changes(db);
		sqlite3_finalize(stmt);
	}
	return rc == SQLITE_DONE ? 0 : sql_err(db, rc, err, "prune");
}

int sqlite_prune(struct store *base, gq_time before, struct gq_err *err)
{
	struct sqlite_store *s = sqlite_of(base);
	int removed = 0;
	int r = sql_exec(s->db, "BEGIN IMMEDIATE", "prune", err);

	for (size_t i = 0; !r && i < sizeof(prune_texts) / sizeof(prune_texts[0]); i++)
		r = prune_one(s->db, prune_texts[i], before, &removed, err);
	if (!r && !removed) { /* nothing to do costs no write */
		sqlite_rollback(s);
		return 0;
	}
	if (!r)
		r = sql_exec(s->db, "COMMIT", "prune", err);
	if (r)
		sqlite_rollback(s);
	return r ? r : removed;
}
