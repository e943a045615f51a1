/* SPDX-License-Identifier: MIT
 * rows_sql.c - the column tables, and the statements, binding and reading that follow from them */
#include "store/rows_sql.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/rows.h"

#define FIELD(f)     ((ROW *)0)->f
#define IS_SIGNED(f) _Generic(FIELD(f), int8_t: true, int: true, int64_t: true, default: false)

#define INT(f)      {#f, COLUMN_INT, IS_SIGNED(f), offsetof(ROW, f), 0, sizeof(FIELD(f)), NULL}
#define WORD(f, w)  {#f, COLUMN_WORD, false, offsetof(ROW, f), 0, sizeof(FIELD(f)), &(w)}
#define TEXT(f)     {#f, COLUMN_TEXT, false, offsetof(ROW, f), 0, sizeof(FIELD(f)), NULL}
#define OWNED(f)    {#f, COLUMN_OWNED, false, offsetof(ROW, f), 0, sizeof(FIELD(f)), NULL}
#define CARDS(f, n) {#f, COLUMN_CARDS, false, offsetof(ROW, f), offsetof(ROW, n), sizeof(FIELD(f)), NULL}
#define ENDED()     {"ended", COLUMN_ENDED, false, 0, 0, 0, NULL}

#define ROW struct job
static const struct column job_columns[] = {
	INT(id), ENDED(), INT(incarnation), INT(image), WORD(state, sql_job_state),
	WORD(reason, sql_reason), WORD(checkpoint, sql_checkpoint), INT(exit_saved), INT(signal),
	WORD(cause, sql_cause), WORD(after, sql_job_move), INT(requeue), INT(restored), INT(sudden),
	INT(hold_after), INT(level), INT(store_tries), INT(restore_tries), INT(start_tries),
	INT(gpus), CARDS(cards, n_cards), INT(uid), INT(gid), INT(priority), INT(exit_code),
	INT(exit_signal), INT(vram_mib), INT(rss_mib), INT(signal_before), INT(time_limit),
	INT(time_min), INT(grace), INT(begin_at), INT(submitted_at), INT(started_at), INT(ended_at),
	INT(run_since), INT(ran), INT(ran_saved), INT(lost), INT(store_cost), INT(restore_cost),
	INT(evictions), INT(requeues), INT(eviction), INT(notice_at), INT(store_at), INT(due_at),
	INT(kill_at), INT(version), OWNED(name), OWNED(account), OWNED(gpu_type), OWNED(error),
};
#undef ROW

#define ROW struct service
static const struct column service_columns[] = {
	INT(id), TEXT(name), INT(uid), INT(from_config), WORD(state, sql_service_state),
	INT(lease_lost), CARDS(cards, n_cards), INT(reserve_mib), INT(lease), INT(lease_until),
	INT(notice), INT(changed_at),
};
#undef ROW

#define ROW struct reservation
static const struct column reservation_columns[] = {
	INT(id), ENDED(), INT(service), INT(uid), WORD(state, sql_reservation_state),
	WORD(repeat, sql_repeat), INT(sudden), CARDS(cards, n_cards), INT(vram_mib),
	INT(created_at), INT(start), INT(end), INT(free_at), INT(late), INT(utc_offset_s),
};
#undef ROW

#define ROW struct eviction
static const struct column eviction_columns[] = {
	INT(id), ENDED(), INT(job), INT(incarnation), WORD(cause, sql_cause), WORD(how, sql_how),
	INT(sudden), CARDS(cards, n_cards), INT(ref), INT(notice_at), INT(due_at),
	INT(predicted_free_at), INT(free_at), INT(late), INT(lost), OWNED(error),
};
#undef ROW

#define ROW struct card
static const struct column card_columns[] = {
	INT(index), TEXT(uuid), TEXT(model), OWNED(labels), INT(mem_total_mib), INT(present),
	INT(fault), INT(busy), INT(foreign_pid), INT(foreign_mib), TEXT(foreign_name),
	INT(idle_since),
};
#undef ROW

#define ROW struct audit
static const struct column audit_columns[] = {
	INT(at), WORD(kind, sql_audit_kind), INT(id), INT(uid), TEXT(text),
};
#undef ROW

static bool job_ended(const void *row)
{
	return job_state_is_ended(((const struct job *)row)->state);
}

static bool reservation_ended(const void *row)
{
	const struct reservation *r = row;

	return r->state == RESERVATION_ENDED || r->state == RESERVATION_DELETED;
}

static bool eviction_ended(const void *row)
{
	return ((const struct eviction *)row)->how != HOW_PENDING;
}

#define TABLE(name, key, columns, type, ended)                                                     \
	{name, key, columns, ARRAY_LEN(columns), sizeof(struct type), ended}

const struct table tables[TABLE_N] = {
	[TABLE_JOBS] = TABLE("jobs", "id", job_columns, job, job_ended),
	[TABLE_SERVICES] = TABLE("services", "id", service_columns, service, NULL),
	[TABLE_RESERVATIONS] = TABLE("reservations", "id", reservation_columns, reservation,
		reservation_ended),
	[TABLE_EVICTIONS] = TABLE("evictions", "id", eviction_columns, eviction, eviction_ended),
	[TABLE_CARDS] = TABLE("cards", "index", card_columns, card, NULL),
	[TABLE_AUDIT] = TABLE("audit", NULL, audit_columns, audit, NULL),
};

static void add_names(const struct table *t, const char *fmt, struct buf *ret)
{
	for (int i = 0; i < t->n_columns; i++) {
		if (i)
			buf_str(ret, ", ");
		for (const char *p = fmt; *p; p++)
			if (*p == '%')
				buf_fmt(ret, "\"%s\"", t->columns[i].name);
			else
				buf_chr(ret, *p);
	}
}

void table_put_text(const struct table *t, struct buf *ret)
{
	buf_fmt(ret, "INSERT INTO %s (", t->name);
	add_names(t, "%", ret);
	buf_str(ret, ") VALUES (?");
	for (int i = 1; i < t->n_columns; i++)
		buf_str(ret, ", ?");
	buf_chr(ret, ')');
	if (!t->key)
		return;
	/* UPDATE, not REPLACE: an index is touched only where its columns changed. */
	buf_fmt(ret, " ON CONFLICT (\"%s\") DO UPDATE SET ", t->key);
	add_names(t, "% = excluded.%", ret);
}

void table_select_text(const struct table *t, struct buf *ret)
{
	buf_str(ret, "SELECT ");
	add_names(t, "%", ret);
	buf_fmt(ret, " FROM %s", t->name);
}

static int64_t int_get(const struct column *c, const void *p)
{
	switch (c->size) {
	case 1:
		return c->is_signed ? *(const int8_t *)p : *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	case 4:
		return c->is_signed ? (int64_t)*(const int32_t *)p : *(const uint32_t *)p;
	default:
		return *(const int64_t *)p;
	}
}

/* False if the field cannot hold @v. */
static bool int_set(const struct column *c, void *p, int64_t v)
{
	switch (c->size) {
	case 1:
		*(uint8_t *)p = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)p = (uint16_t)v;
		break;
	case 4:
		*(uint32_t *)p = (uint32_t)v;
		break;
	default:
		*(int64_t *)p = v;
	}
	return int_get(c, p) == v;
}

static int cards_bind(sqlite3_stmt *stmt, int i, const uint16_t *cards, unsigned n)
{
	char text[JOB_CARDS_MAX * 6 + 1] = "";
	size_t len = 0;

	for (unsigned k = 0; k < n && k < JOB_CARDS_MAX; k++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, k ? ",%u" : "%u", cards[k]);
	return sqlite3_bind_text(stmt, i, text, (int)len, SQLITE_TRANSIENT);
}

static bool cards_read(const char *text, uint16_t *cards, uint8_t *ret_n)
{
	uint8_t n = 0;

	while (*text && n < JOB_CARDS_MAX) {
		char *end;
		unsigned long v = strtoul(text, &end, 10);

		if (end == text || v > UINT16_MAX || (*end && *end != ','))
			return false;
		cards[n++] = (uint16_t)v;
		text = *end ? end + 1 : end;
	}
	*ret_n = n;
	return !*text;
}

static int column_bind(const struct table *t, const struct column *c, sqlite3_stmt *stmt, int i,
	const char *row)
{
	const void *p = row + c->offset;
	const char *text = p;

	switch (c->kind) {
	case COLUMN_INT:
		return sqlite3_bind_int64(stmt, i, int_get(c, p));
	case COLUMN_WORD:
		if (*(const uint8_t *)p >= c->words->n)
			return SQLITE_RANGE;
		return sqlite3_bind_text(stmt, i, c->words->name(*(const uint8_t *)p), -1,
			SQLITE_STATIC);
	case COLUMN_OWNED:
		text = *(char *const *)p;
		/* fallthrough */
	case COLUMN_TEXT:
		return sqlite3_bind_text(stmt, i, text, -1, SQLITE_STATIC); /* NULL binds NULL */
	case COLUMN_CARDS:
		return cards_bind(stmt, i, p, *(const uint8_t *)(row + c->offset_n));
	case COLUMN_ENDED:
		return sqlite3_bind_int(stmt, i, t->ended(row));
	}
	return SQLITE_MISUSE;
}

int row_bind(const struct table *t, sqlite3_stmt *stmt, const void *row, struct gq_err *err)
{
	for (int i = 0; i < t->n_columns; i++) {
		int r = column_bind(t, &t->columns[i], stmt, i + 1, row);

		if (r == SQLITE_RANGE)
			return gq_err_set(err, -EINVAL, "%s.%s: the value has no name", t->name,
				t->columns[i].name);
		if (r != SQLITE_OK)
			return gq_err_set(err, -ENOMEM, "%s.%s: %s", t->name, t->columns[i].name,
				sqlite3_errstr(r));
	}
	return 0;
}

static bool column_read(const struct column *c, sqlite3_stmt *stmt, int i, char *row)
{
	const char *text;
	int v;

	if (c->kind == COLUMN_ENDED)
		return true;
	if (c->kind == COLUMN_INT)
		return int_set(c, row + c->offset, sqlite3_column_int64(stmt, i));
	text = (const char *)sqlite3_column_text(stmt, i);
	if (c->kind == COLUMN_OWNED) {
		*(char **)(row + c->offset) = xstrdup(text);
		return true;
	}
	if (!text)
		return false;
	switch (c->kind) {
	case COLUMN_WORD:
		v = sql_names_find(c->words, text);
		*(uint8_t *)(row + c->offset) = (uint8_t)v;
		return v >= 0;
	case COLUMN_TEXT:
		str_copy(row + c->offset, c->size, text);
		return true;
	default:
		return cards_read(text, (uint16_t *)(row + c->offset),
			(uint8_t *)(row + c->offset_n));
	}
}

int row_read(const struct table *t, sqlite3_stmt *stmt, void *row, struct gq_err *err)
{
	memset(row, 0, t->row_size);
	for (int i = 0; i < t->n_columns; i++) {
		const char *text;

		if (column_read(&t->columns[i], stmt, i, row))
			continue;
		row_clear(t, row);
		text = (const char *)sqlite3_column_text(stmt, i);
		return gq_err_set(err, -EPROTO, "table %s: '%.40s' is no %s that this gqd knows",
			t->name, text ? text : "NULL", t->columns[i].name);
	}
	return 0;
}

void row_clear(const struct table *t, void *row)
{
	for (int i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		if (c->kind == COLUMN_OWNED) {
			char **p = (char **)((char *)row + c->offset);

			free(*p);
			*p = NULL;
		}
	}
}
