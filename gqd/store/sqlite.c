/* SPDX-License-Identifier: MIT
 * sqlite.c - the store in one SQLite file: opening it, and the transaction of a turn */
#include "store/sqlite.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/schema.h"

#define PROBE_SPARE_BYTES (1u << 20) /* a turn may need this much at once */

static const char *const statement_texts[STMT_N] = {
	[STMT_BEGIN] = "BEGIN IMMEDIATE",
	[STMT_COMMIT] = "COMMIT",
	[STMT_PUT_SPEC] = "INSERT INTO specs (job, json) VALUES (?1, ?2) "
			  "ON CONFLICT (job) DO UPDATE SET json = excluded.json",
	[STMT_GET_SPEC] = "SELECT json FROM specs WHERE job = ?1",
	[STMT_DEL_SERVICE] = "DELETE FROM services WHERE id = ?1",
	[STMT_KEEP_SERVICE_ID] = "INSERT INTO last_ids (tbl, id) VALUES ('services', ?1) "
				 "ON CONFLICT (tbl) DO UPDATE SET id = max(id, excluded.id)",
};

static int prepare(struct sqlite_store *s, const char *sql, sqlite3_stmt **ret, struct gq_err *err)
{
	int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

	return rc == SQLITE_OK ? 0 : sql_err(s->db, rc, err, "preparing a statement");
}

int sqlite_stmt(struct sqlite_store *s, enum statement which, sqlite3_stmt **ret,
	struct gq_err *err)
{
	_cleanup_buf_ struct buf sql = BUF_INIT;
	int r = 0;

	if (!s->stmts[which] && which == STMT_GET_JOB) {
		table_select_text(&tables[TABLE_JOBS], &sql);
		buf_str(&sql, " WHERE id = ?1");
		r = prepare(s, buf_c(&sql), &s->stmts[which], err);
	} else if (!s->stmts[which]) {
		r = prepare(s, statement_texts[which], &s->stmts[which], err);
	}
	if (!r)
		*ret = s->stmts[which];
	return r;
}

int sqlite_run(struct sqlite_store *s, sqlite3_stmt *stmt, const char *what, struct gq_err *err)
{
	int rc = sqlite3_step(stmt), r = 0;

	if (rc != SQLITE_DONE)
		r = sql_err(s->db, rc, err, what);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt); /* they point into the caller's row */
	return r;
}

/* ---- a turn ---- */

void sqlite_rollback(struct sqlite_store *s)
{
	s->in_turn = false;
	/* A full disk or an I/O error has rolled back by itself. */
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

static void rollback(struct store *base)
{
	struct sqlite_store *s = sqlite_of(base);

	if (s->in_turn)
		sqlite_rollback(s);
}

static int begin(struct store *base, struct gq_err *err)
{
	struct sqlite_store *s = sqlite_of(base);
	sqlite3_stmt *stmt;
	int r;

	assert(!s->in_turn);
	r = gq_fault("store.begin");
	if (r)
		return gq_err_sys(err, r, "%s: begin", sqlite3_db_filename(s->db, "main"));
	r = sqlite_stmt(s, STMT_BEGIN, &stmt, err);
	if (!r)
		r = sqlite_run(s, stmt, "begin", err);
	if (r)
		return r;
	s->in_turn = true;
	s->failed.code = 0;
	return 0;
}

/* Every put ends here: the first failure decides the turn. */
static int put_result(struct sqlite_store *s, int r, const struct gq_err *local, struct gq_err *err)
{
	if (!r)
		return 0;
	if (!s->failed.code)
		s->failed = *local;
	return gq_err_set(err, r, "%s", local->text);
}

static int put_row(struct store *base, enum table_id id, const void *row, struct gq_err *err)
{
	struct sqlite_store *s = sqlite_of(base);
	const struct table *t = &tables[id];
	struct gq_err local = {0};
	int r = 0;

	assert(s->in_turn);
	if (!s->put[id]) {
		_cleanup_buf_ struct buf sql = BUF_INIT;

		table_put_text(t, &sql);
		r = prepare(s, buf_c(&sql), &s->put[id], &local);
	}
	if (!r)
		r = row_bind(t, s->put[id], row, &local);
	if (!r)
		r = sqlite_run(s, s->put[id], t->name, &local);
	return put_result(s, r, &local, err);
}

static int put_job(struct store *s, const struct job *row, struct gq_err *err)
{
	return put_row(s, TABLE_JOBS, row, err);
}

static int put_spec(struct store *base, uint32_t job, const char *json, size_t len,
	struct gq_err *err)
{
	struct sqlite_store *s = sqlite_of(base);
	struct gq_err local = {0};
	sqlite3_stmt *stmt;
	int r;

	assert(s->in_turn);
	r = sqlite_stmt(s, STMT_PUT_SPEC, &stmt, &local);
	if (!r) {
		sqlite3_bind_int64(stmt, 1, job);
		sqlite3_bind_blob64(stmt, 2, json, len, SQLITE_STATIC);
		r = sqlite_run(s, stmt, "specs", &local);
	}
	return put_result(s, r, &local, err);
}

static int delete_service(struct sqlite_store *s, uint32_t id, struct gq_err *err)
{
	static const enum statement steps[] = {STMT_KEEP_SERVICE_ID, STMT_DEL_SERVICE};

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		sqlite3_stmt *stmt;
		int r = sqlite_stmt(s, steps[i], &stmt, err);

		if (r)
			return r;
		sqlite3_bind_int64(stmt, 1, id);
		r = sqlite_run(s, stmt, "services", err);
		if (r)
			return r;
	}
	return 0;
}

static int put_service(struct store *base, const struct service *row, struct gq_err *err)
{
	struct sqlite_store *s = sqlite_of(base);
	struct gq_err local = {0};

	if (row->name[0])
		return put_row(base, TABLE_SERVICES, row, err);
	assert(s->in_turn);
	return put_result(s, delete_service(s, row->id, &local), &local, err);
}

static int put_reservation(struct store *s, const struct reservation *row, struct gq_err *err)
{
	return put_row(s, TABLE_RESERVATIONS, row, err);
}

static int put_eviction(struct store *s, const struct eviction *row, struct gq_err *err)
{
	return put_row(s, TABLE_EVICTIONS, row, err);
}

static int put_card(struct store *s, const struct card *row, struct gq_err *err)
{
	return put_row(s, TABLE_CARDS, row, err);
}

static int put_audit(struct store *s, const struct audit *row, struct gq_err *err)
{
	return put_row(s, TABLE_AUDIT, row, err);
}

static int commit(struct store *base, struct gq_err *err)
{
	struct sqlite_store *s = sqlite_of(base);
	sqlite3_stmt *stmt;
	int r;

	assert(s->in_turn);
	if (s->failed.code) {
		sqlite_rollback(s);
		return gq_err_set(err, s->failed.code, "%s", s->failed.text);
	}
	r = gq_fault("store.commit");
	if (r)
		gq_err_sys(err, r, "%s: commit", sqlite3_db_filename(s->db, "main"));
	else
		r = sqlite_stmt(s, STMT_COMMIT, &stmt, err);
	if (!r)
		r = sqlite_run(s, stmt, "commit", err);
	if (r) {
		sqlite_rollback(s);
		return r;
	}
	s->in_turn = false;
	(void)gq_fault("store.committed"); /* a place to die at; nothing is left to fail */
	return 0;
}

/* Writes and syncs a page that says nothing, and asks for spare room beside it. */
static int probe(struct store *base, struct gq_err *err)
{
	struct sqlite_store *s = sqlite_of(base);
	const char *path = sqlite3_db_filename(s->db, "main");
	struct statvfs fs;

	if (statvfs(path, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < PROBE_SPARE_BYTES)
		return gq_err_sys(err, -ENOSPC, "%s", path);
	return sql_exec(s->db,
		"INSERT INTO last_ids (tbl, id) VALUES ('probe', 0) "
		"ON CONFLICT (tbl) DO UPDATE SET id = 1 - id", "probe", err);
}

/* ---- opening and closing ---- */

static struct store *sqlite_close(struct store *base)
{
	struct sqlite_store *s = sqlite_of(base);

	if (!s)
		return NULL;
	rollback(base);
	for (size_t i = 0; i < TABLE_N; i++)
		sqlite3_finalize(s->put[i]);
	for (size_t i = 0; i < STMT_N; i++)
		sqlite3_finalize(s->stmts[i]);
	sqlite3_close(s->db);
	free(s);
	return NULL;
}

static const struct store_ops sqlite_ops = {
	.name = "sqlite", .close = sqlite_close, .load = sqlite_load, .begin = begin,
	.put_job = put_job, .put_spec = put_spec, .put_service = put_service,
	.put_reservation = put_reservation, .put_eviction = put_eviction, .put_card = put_card,
	.put_audit = put_audit, .commit = commit, .rollback = rollback, .get_job = sqlite_get_job,
	.get_spec = sqlite_get_spec, .each_job = sqlite_each_job,
	.each_eviction = sqlite_each_eviction, .each_audit = sqlite_each_audit,
	.prune = sqlite_prune, .probe = probe,
};

/* It holds what users had in their environments: nobody else reads it. SQLite gives the files
 * beside it the same mode. */
static int make_private(const char *path, struct gq_err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", path);
	close(fd);
	return 0;
}

/* The file is looked at before a pragma could change it. */
static int open_file(sqlite3 *db, const char *dir, struct gq_err *err)
{
	int64_t mode_rows;
	int version, r;

	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, 1000); /* a predecessor that is just closing */
	/* EXCLUSIVE: one gqd per file, and no shared-memory file to keep up with. */
	r = sql_exec(db, "PRAGMA locking_mode = EXCLUSIVE", "locking", err);
	if (!r)
		r = schema_check(db, &version, err);
	if (!r)
		r = sql_int(db, "PRAGMA journal_mode = WAL", &mode_rows, err);
	if (!r)
		r = sql_exec(db, "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000;"
				 "PRAGMA cache_size = -4000; PRAGMA temp_store = MEMORY;"
				 "PRAGMA secure_delete = FAST", "settings", err);
	if (!r && version < SCHEMA_VERSION)
		r = schema_upgrade(db, version, err);
	/* A write takes the lock now, not at the first job. */
	if (!r)
		r = sql_exec(db, "BEGIN IMMEDIATE; COMMIT", "locking", err);
	if (!r && !version) {
		r = dir_fsync(dir);
		if (r)
			gq_err_sys(err, r, "%s: fsync", dir);
	}
	return r;
}

int store_sqlite_open(const char *dir, struct store **ret, struct gq_err *err)
{
	_cleanup_free_ char *path = xasprintf("%s/gq.db", dir);
	struct sqlite_store *s;
	int rc, r;

	r = make_private(path, err);
	if (r)
		return r;
	s = xnew(struct sqlite_store);
	s->base.ops = &sqlite_ops;
	rc = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	r = rc == SQLITE_OK ? open_file(s->db, dir, err) : sql_err(s->db, rc, err, "open");
	if (r) {
		sqlite_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}
