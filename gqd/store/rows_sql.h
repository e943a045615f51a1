/* SPDX-License-Identifier: MIT
 * rows_sql.h - rows as structs, and as columns of a table
 * Each column is named once, in the table of rows_sql.c; statements, binding and reading follow.
 * Leaves to others: transactions and what to ask for (sqlite.c), the tables themselves (schema.sql). */
#ifndef GQD_STORE_ROWS_SQL_H
#define GQD_STORE_ROWS_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/sql_names.h"

enum column_kind {
	COLUMN_INT,   /* any whole number; is_signed and size say which */
	COLUMN_WORD,  /* uint8_t in memory, a name on disk */
	COLUMN_TEXT,  /* char[size] */
	COLUMN_OWNED, /* char *, owned by the row; NULL on both sides */
	COLUMN_CARDS, /* uint16_t[], its count in the uint8_t at offset_n; "0,3" on disk */
	COLUMN_ENDED, /* only on disk: table->ended(row) */
};

struct column {
	const char *name;
	enum column_kind kind;
	bool is_signed;
	unsigned short offset, offset_n, size;
	const struct sql_names *words;
};

enum table_id {
	TABLE_JOBS, TABLE_SERVICES, TABLE_RESERVATIONS, TABLE_EVICTIONS, TABLE_CARDS, TABLE_AUDIT,
	TABLE_N
};

struct table {
	const char *name;
	const char *key; /* column that an upsert goes by; NULL = rows are only added */
	const struct column *columns;
	int n_columns;
	size_t row_size;
	bool (*ended)(const void *row);
};

extern const struct table tables[TABLE_N];

void table_put_text(const struct table *t, struct buf *ret);    /* INSERT … ON CONFLICT … */
void table_select_text(const struct table *t, struct buf *ret); /* SELECT every column FROM it */

/* The row's strings must live until the statement was stepped. 0 or -errno; a number that names
 * no word is -EINVAL. */
int row_bind(const struct table *t, sqlite3_stmt *stmt, const void *row, struct gq_err *err);

/* Fills @row (row_size bytes) from a statement made of table_select_text(). Strings are new and
 * the caller's. -EPROTO: a value that this gqd cannot hold; then nothing is left to free. */
int row_read(const struct table *t, sqlite3_stmt *stmt, void *row, struct gq_err *err);

void row_clear(const struct table *t, void *row); /* frees the owned strings */

#endif
