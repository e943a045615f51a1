/* SPDX-License-Identifier: MIT
 * schema.h - the version of a database file: made, recognised, brought up to date
 * A file carries SCHEMA_APPLICATION_ID and its version in its header (PRAGMA application_id,
 * user_version), so a foreign or newer file is refused before anything in it is touched.
 * Promises: a file is at one version or the next, never between. */
#ifndef GQD_STORE_SCHEMA_H
#define GQD_STORE_SCHEMA_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SCHEMA_VERSION        1
#define SCHEMA_APPLICATION_ID 0x67716462 /* "gqdb" */

struct migration {
	int to; /* from to - 1 */
	const char *sql;
};

/* Reads only. Sets *ret_version, 0 = an empty file. -EPROTO: not a gq store, or newer than
 * SCHEMA_VERSION. */
int schema_check(sqlite3 *db, int *ret_version, struct gq_err *err);

/* From @version to SCHEMA_VERSION. */
int schema_upgrade(sqlite3 *db, int version, struct gq_err *err);

/* As schema_upgrade() with other steps; for tests. @list ends with to = 0. */
int schema_migrate(sqlite3 *db, int version, int target, const struct migration *list,
	struct gq_err *err);

/* -errno for a result of SQLite, with "<file>: <what>: <why>" in @err. */
int sql_err(sqlite3 *db, int rc, struct gq_err *err, const char *what);
int sql_exec(sqlite3 *db, const char *sql, const char *what, struct gq_err *err);
int sql_int(sqlite3 *db, const char *sql, int64_t *ret, struct gq_err *err); /* first column */

#endif
