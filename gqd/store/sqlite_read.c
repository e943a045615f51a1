/* SPDX-License-Identifier: MIT
 * sqlite_read.c - reading the store: the load at start, single rows, and history
 * The numbers of a query are written into its text: they are integers and words of our own. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "store/schema.h"
#include "store/sqlite.h"

#define DEFAULT_LIMIT 1000

struct cursor {
	sqlite3 *db;
	sqlite3_stmt *stmt; /* owned */
	const struct table *table;
};

static void cursor_close(struct cursor *c)
{
	sqlite3_finalize(c->stmt);
}

#define _cleanup_cursor_ _cleanup_(cursor_close)

/* @tail: from WHERE on. */
static int cursor_open(struct store *base, enum table_id id, const char *tail, struct cursor *ret,
	struct gq_err *err)
{
	_cleanup_buf_ struct buf sql = BUF_INIT;
	sqlite3 *db = sqlite_of(base)->db;
	int rc;

	table_select_text(&tables[id], &sql);
	buf_str(&sql, tail);
	rc = sqlite3_prepare_v2(db, buf_c(&sql), (int)sql.len, &ret->stmt, NULL);
	if (rc != SQLITE_OK)
		return sql_err(db, rc, err, tables[id].name);
	ret->db = db;
	ret->table = &tables[id];
	return 0;
}

/* 1 = a row, 0 = no more, -errno. */
static int cursor_next(struct cursor *c, void *row, struct gq_err *err)
{
	int rc = sqlite3_step(c->stmt), r;

	if (rc == SQLITE_DONE)
		return 0;
	if (rc != SQLITE_ROW)
		return sql_err(c->db, rc, err, c->table->name);
	r = row_read(c->table, c->stmt, row, err);
	if (r)
		return gq_err_prefix(err, r, "%s", sqlite3_db_filename(c->db, "main"));
	return 1;
}

/* ---- load ---- */

/* The four loads differ in the type of the row alone. */
#define LOAD(fn_name, type, table_id, where, member)                                               \
	static int fn_name(struct store *s, const struct store_load *to, struct gq_err *err)       \
	{                                                                                          \
		_cleanup_cursor_ struct cursor c = {0};                                            \
		struct type row;                                                                   \
		int r = cursor_open(s, table_id, where " ORDER BY id", &c, err);                   \
                                                                                                   \
		while (!r && (r = cursor_next(&c, &row, err)) > 0) {                               \
			to->member(to->ctx, &row);                                                 \
			r = 0;                                                                     \
		}                                                                                  \
		return r;                                                                          \
	}

LOAD(load_jobs, job, TABLE_JOBS, " WHERE ended = 0", job)
LOAD(load_services, service, TABLE_SERVICES, "", service)
LOAD(load_reservations, reservation, TABLE_RESERVATIONS, " WHERE ended = 0", reservation)
LOAD(load_evictions, eviction, TABLE_EVICTIONS, " WHERE ended = 0", eviction)

static int next_id(sqlite3 *db, const char *table, uint32_t *ret, struct gq_err *err)
{
	char sql[200];
	int64_t id;
	int r;

	snprintf(sql, sizeof(sql),
		"SELECT 1 + max(coalesce((SELECT max(id) FROM %s), 0), "
		"coalesce((SELECT id FROM last_ids WHERE tbl = '%s'), 0))", table, table);
	r = sql_int(db, sql, &id, err);
	if (r)
		return r;
	if (id > UINT32_MAX)
		return gq_err_set(err, -EPROTO, "%s: table %s: ids are used up",
			sqlite3_db_filename(db, "main"), table);
	*ret = (uint32_t)id;
	return 0;
}

int sqlite_load(struct store *base, const struct store_load *to, struct gq_err *err)
{
	static const enum table_id order[] = {TABLE_JOBS, TABLE_RESERVATIONS, TABLE_SERVICES,
		TABLE_EVICTIONS};
	uint32_t next[ARRAY_LEN(order)];
	int r;

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		r = next_id(sqlite_of(base)->db, tables[order[i]].name, &next[i], err);
		if (r)
			return r;
	}
	to->next_ids(to->ctx, next[0], next[1], next[2], next[3]);
	r = load_services(base, to, err);
	if (!r)
		r = load_reservations(base, to, err);
	if (!r)
		r = load_evictions(base, to, err);
	if (!r)
		r = load_jobs(base, to, err);
	return r;
}

/* ---- single rows ---- */

int sqlite_get_job(struct store *base, uint32_t id, struct job *ret, struct gq_err *err)
{
	struct cursor c = {.db = sqlite_of(base)->db, .table = &tables[TABLE_JOBS]};
	int r = sqlite_stmt(sqlite_of(base), STMT_GET_JOB, &c.stmt, err);

	if (r)
		return r;
	sqlite3_bind_int64(c.stmt, 1, id);
	r = cursor_next(&c, ret, err);
	sqlite3_reset(c.stmt);
	if (!r)
		return gq_err_set(err, -ENOENT, "job %" PRIu32 ": no such job", id);
	return r < 0 ? r : 0;
}

int sqlite_get_spec(struct store *base, uint32_t job, char **ret, size_t *ret_len,
	struct gq_err *err)
{
	struct sqlite_store *s = sqlite_of(base);
	sqlite3_stmt *stmt;
	int rc, r = sqlite_stmt(s, STMT_GET_SPEC, &stmt, err);

	if (r)
		return r;
	sqlite3_bind_int64(stmt, 1, job);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		const char *json = sqlite3_column_blob(stmt, 0);

		*ret_len = (size_t)sqlite3_column_bytes(stmt, 0);
		*ret = xmalloc(*ret_len + 1);
		if (*ret_len)
			memcpy(*ret, json, *ret_len);
		(*ret)[*ret_len] = '\0';
	} else if (rc == SQLITE_DONE) {
		r = gq_err_set(err, -ENOENT, "job %" PRIu32 ": no such job", job);
	} else {
		r = sql_err(s->db, rc, err, "specs");
	}
	sqlite3_reset(stmt);
	return r;
}

/* ---- history ---- */

static void add_period(struct buf *sql, const char *column, const struct store_filter *f)
{
	if (f->since)
		buf_fmt(sql, " AND %s >= %" PRId64, column, f->since);
	if (f->until)
		buf_fmt(sql, " AND %s < %" PRId64, column, f->until);
}

static void add_order(struct buf *sql, const char *columns, const struct store_filter *f)
{
	buf_fmt(sql, " ORDER BY %s LIMIT %" PRIu32, columns, f->limit ? f->limit : DEFAULT_LIMIT);
}

/* As LOAD, but the row is lent. */
#define EACH(fn_name, type, table_id)                                                              \
	static int fn_name(struct store *s, const char *tail,                                      \
		void (*fn)(void *ctx, const struct type *row), void *ctx, struct gq_err *err)      \
	{                                                                                          \
		_cleanup_cursor_ struct cursor c = {0};                                            \
		struct type row;                                                                   \
		int r = cursor_open(s, table_id, tail, &c, err);                                   \
                                                                                                   \
		while (!r && (r = cursor_next(&c, &row, err)) > 0) {                               \
			fn(ctx, &row);                                                             \
			row_clear(&tables[table_id], &row);                                        \
			r = 0;                                                                     \
		}                                                                                  \
		return r;                                                                          \
	}

EACH(each_job, job, TABLE_JOBS)
EACH(each_eviction, eviction, TABLE_EVICTIONS)
EACH(each_audit, audit, TABLE_AUDIT)

int sqlite_each_job(struct store *s, const struct store_filter *f,
	void (*fn)(void *ctx, const struct job *row), void *ctx, struct gq_err *err)
{
	_cleanup_buf_ struct buf sql = BUF_INIT;

	if (f->job)
		buf_fmt(&sql, " WHERE id = %" PRIu32, f->job);
	else
		buf_str(&sql, " WHERE ended = 1");
	if (f->uid != (uid_t)-1)
		buf_fmt(&sql, " AND uid = %u", f->uid);
	add_period(&sql, "ended_at", f);
	add_order(&sql, "ended_at DESC, id DESC", f);
	return each_job(s, buf_c(&sql), fn, ctx, err);
}

int sqlite_each_eviction(struct store *s, const struct store_filter *f,
	void (*fn)(void *ctx, const struct eviction *row), void *ctx, struct gq_err *err)
{
	_cleanup_buf_ struct buf sql = BUF_INIT;

	buf_str(&sql, " WHERE 1");
	if (f->job)
		buf_fmt(&sql, " AND job = %" PRIu32, f->job);
	if (f->uid != (uid_t)-1)
		buf_fmt(&sql, " AND job IN (SELECT id FROM jobs WHERE uid = %u)", f->uid);
	add_period(&sql, "notice_at", f);
	add_order(&sql, "id DESC", f);
	return each_eviction(s, buf_c(&sql), fn, ctx, err);
}

int sqlite_each_audit(struct store *s, const struct store_filter *f,
	void (*fn)(void *ctx, const struct audit *row), void *ctx, struct gq_err *err)
{
	_cleanup_buf_ struct buf sql = BUF_INIT;

	buf_str(&sql, " WHERE 1");
	if (f->job)
		buf_fmt(&sql, " AND kind = '%s' AND id = %" PRIu32,
			sql_audit_kind.name(AUDIT_JOB), f->job);
	if (f->kind >= 0)
		buf_fmt(&sql, " AND kind = '%s'",
			f->kind < AUDIT_N ? sql_audit_kind.name(f->kind) : "");
	if (f->id)
		buf_fmt(&sql, " AND id = %" PRIu32, f->id);
	if (f->uid != (uid_t)-1)
		buf_fmt(&sql, " AND uid = %u", f->uid);
	add_period(&sql, "at", f);
	add_order(&sql, "rowid DESC", f);
	return each_audit(s, buf_c(&sql), fn, ctx, err);
}
