/* SPDX-License-Identifier: MIT
 * schema.c - the version of a database file: made, recognised, brought up to date */
#include "store/schema.h"

#include "base/cleanup.h"
#include "gqd/store/schema_sql.h"

static int sql_errno(sqlite3 *db, int rc)
{
	int sys = db ? sqlite3_system_errno(db) : 0;

	switch (rc & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_NOTADB:
		return -EPROTO;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return sys ? -sys : -EIO;
	default:
		return -EIO;
	}
}

int sql_err(sqlite3 *db, int rc, struct gq_err *err, const char *what)
{
	const char *path = db ? sqlite3_db_filename(db, "main") : NULL;
	int code = sql_errno(db, rc);

	if (!path)
		path = "gq.db";
	switch (code) {
	case -EBUSY:
		return gq_err_set(err, code, "%s: another gqd, or a tool, holds it open", path);
	case -EPROTO:
		return gq_err_set(err, code, "%s: is no gq store", path);
	case -EIO:
		return gq_err_set(err, code, "%s: %s: %s", path, what, sqlite3_errmsg(db));
	default:
		return gq_err_sys(err, code, "%s: %s", path, what);
	}
}

int sql_exec(sqlite3 *db, const char *sql, const char *what, struct gq_err *err)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : sql_err(db, rc, err, what);
}

int sql_int(sqlite3 *db, const char *sql, int64_t *ret, struct gq_err *err)
{
	sqlite3_stmt *stmt;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc != SQLITE_OK)
		return sql_err(db, rc, err, sql);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? 0 : sql_err(db, rc, err, sql);
}

int schema_check(sqlite3 *db, int *ret_version, struct gq_err *err)
{
	const char *path = sqlite3_db_filename(db, "main");
	int64_t application, version, objects;
	int r;

	r = sql_int(db, "PRAGMA application_id", &application, err);
	if (!r)
		r = sql_int(db, "PRAGMA user_version", &version, err);
	if (!r)
		r = sql_int(db, "SELECT count(*) FROM sqlite_master", &objects, err);
	if (r)
		return r;
	if (!application && !version && !objects) {
		*ret_version = 0;
		return 0;
	}
	if (application != SCHEMA_APPLICATION_ID || version < 1)
		return gq_err_set(err, -EPROTO, "%s: is no gq store", path);
	if (version > SCHEMA_VERSION)
		return gq_err_set(err, -EPROTO,
			"%s: was written by a newer gqd (schema %lld, this one knows %d): install that gqd",
			path, (long long)version, SCHEMA_VERSION);
	*ret_version = (int)version;
	return 0;
}

/* One step and its new version number, or nothing. */
static int schema_step(sqlite3 *db, int to, const char *sql, struct gq_err *err)
{
	char stamp[96], what[40];
	int r;

	snprintf(stamp, sizeof(stamp), "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		SCHEMA_APPLICATION_ID, to);
	snprintf(what, sizeof(what), "making schema %d", to);
	r = sql_exec(db, "BEGIN IMMEDIATE", what, err);
	if (r)
		return r;
	r = sql_exec(db, sql, what, err);
	if (!r)
		r = sql_exec(db, stamp, what, err);
	if (r && !sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

int schema_migrate(sqlite3 *db, int version, int target, const struct migration *list,
	struct gq_err *err)
{
	for (; list->to && version < target; list++) {
		int r;

		if (list->to != version + 1)
			continue;
		r = schema_step(db, list->to, list->sql, err);
		if (r)
			return r;
		version++;
	}
	if (version < target)
		return gq_err_set(err, -EPROTO, "%s: no way from schema %d to %d",
			sqlite3_db_filename(db, "main"), version, target);
	return 0;
}

int schema_upgrade(sqlite3 *db, int version, struct gq_err *err)
{
	if (!version)
		return schema_step(db, SCHEMA_VERSION, schema_sql, err);
	return schema_migrate(db, version, SCHEMA_VERSION, schema_migrations, err);
}
