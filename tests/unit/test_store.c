/* SPDX-License-Identifier: MIT
 * test_store.c - rows come back as they were put, history, ids, versions of the file, prune */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "store/rows_sql.h"
#include "store/schema.h"
#include "store_rows.h"

#define NO_FILTER {.uid = (uid_t)-1, .kind = -1}

static struct gq_err err;

static void check_ok(int r, const char *file, int line)
{
	if (r < 0)
		print_error("%s\n", err.text);
	_assert_int_equal(r < 0 ? r : 0, 0, file, line);
}

#define ok(expr) check_ok((expr), __FILE__, __LINE__)

static struct store *open_in(const char *dir)
{
	struct store *s = NULL;

	ok(store_sqlite_open(dir, &s, &err));
	return s;
}

static void put_jobs(struct store *s, uint32_t from, uint32_t to, enum job_state state)
{
	ok(s->ops->begin(s, &err));
	for (uint32_t id = from; id < to; id++) {
		struct job j = job_row(id, state);

		ok(s->ops->put_job(s, &j, &err));
		ok(s->ops->put_spec(s, id, "{\"script\":\"#!/bin/sh\"}", 22, &err));
		job_clear(&j);
	}
	ok(s->ops->commit(s, &err));
}

/* ---- what a load gave ---- */

struct loaded {
	struct job jobs[64];
	struct service services[4];
	struct reservation reservations[8];
	struct eviction evictions[8];
	size_t n_jobs, n_services, n_reservations, n_evictions;
	uint32_t next[4];
};

static void on_job(void *ctx, const struct job *row)
{
	struct loaded *l = ctx;

	if (l->n_jobs < ARRAY_LEN(l->jobs))
		l->jobs[l->n_jobs] = *row;
	l->n_jobs++;
}

static void on_service(void *ctx, const struct service *row)
{
	struct loaded *l = ctx;

	l->services[l->n_services++] = *row;
}

static void on_reservation(void *ctx, const struct reservation *row)
{
	struct loaded *l = ctx;

	l->reservations[l->n_reservations++] = *row;
}

static void on_eviction(void *ctx, const struct eviction *row)
{
	struct loaded *l = ctx;

	l->evictions[l->n_evictions++] = *row;
}

static void on_ids(void *ctx, uint32_t job, uint32_t reservation, uint32_t service,
	uint32_t eviction)
{
	struct loaded *l = ctx;

	l->next[0] = job;
	l->next[1] = reservation;
	l->next[2] = service;
	l->next[3] = eviction;
}

static void load(struct store *s, struct loaded *l)
{
	struct store_load to = {l, on_job, on_service, on_reservation, on_eviction, on_ids};

	memset(l, 0, sizeof(*l));
	ok(s->ops->load(s, &to, &err));
}

static void loaded_clear(struct loaded *l)
{
	for (size_t i = 0; i < l->n_jobs && i < ARRAY_LEN(l->jobs); i++)
		job_clear(&l->jobs[i]);
	for (size_t i = 0; i < l->n_evictions; i++)
		free(l->evictions[i].error);
}

/* ---- rows ---- */

static void test_job_round_trip(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	_cleanup_store_ struct store *s = open_in(dir);

	(void)state;
	for (uint32_t id = 1; id <= 2 * MOVE_N; id++) {
		struct job j = job_row(id, (enum job_state)(id % JOB_STATE_N)), back;

		for (int twice = 0; twice < 2; twice++) {
			ok(s->ops->begin(s, &err));
			ok(s->ops->put_job(s, &j, &err));
			ok(s->ops->commit(s, &err));
			ok(s->ops->get_job(s, id, &back, &err));
			assert_true(job_same(&j, &back));
			job_clear(&back);
			j.state = (uint8_t)((j.state + 1) % JOB_STATE_N); /* the second is an update */
			j.requeues++;
		}
		job_clear(&j);
	}
	assert_int_equal(s->ops->get_job(s, 9999, &(struct job){0}, &err), -ENOENT);
}

static void test_load(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	_cleanup_store_ struct store *s = open_in(dir);
	struct service sv = {.id = 3, .name = "chat", .uid = 7, .from_config = true,
		.state = SERVICE_BUSY, .lease_lost = true, .n_cards = 2, .cards = {0, 5},
		.reserve_mib = 30720, .lease = GQ_SEC(30), .lease_until = GQ_NEVER,
		.notice = GQ_SEC(10), .changed_at = 12345};
	struct reservation rv = {.id = 4, .service = 3, .uid = 7, .state = RESERVATION_WAITING,
		.repeat = REPEAT_WEEKLY, .sudden = true, .n_cards = 1, .cards = {5}, .vram_mib = 9,
		.created_at = 1, .start = 2, .end = GQ_NEVER, .free_at = 3, .late = 4,
		.utc_offset_s = -3600};
	struct eviction ev = {.id = 6, .job = 1, .incarnation = 2, .cause = CAUSE_RESERVATION,
		.how = HOW_PENDING, .sudden = true, .n_cards = 1, .cards = {5}, .ref = 4,
		.notice_at = 5, .due_at = 6, .predicted_free_at = 7, .free_at = 8, .late = 9,
		.lost = 10, .error = (char *)"criu: no"};
	struct loaded l;

	(void)state;
	put_jobs(s, 1, 3, JOB_PENDING);
	put_jobs(s, 8, 9, JOB_COMPLETED);
	ok(s->ops->begin(s, &err));
	ok(s->ops->put_service(s, &sv, &err));
	ok(s->ops->put_reservation(s, &rv, &err));
	ok(s->ops->put_eviction(s, &ev, &err));
	rv.id = 5, rv.state = RESERVATION_DELETED;
	ok(s->ops->put_reservation(s, &rv, &err));
	ev.id = 7, ev.how = HOW_STORE;
	ok(s->ops->put_eviction(s, &ev, &err));
	ok(s->ops->commit(s, &err));

	store_close(&s);
	s = open_in(dir);
	load(s, &l);
	rv.id = 4, rv.state = RESERVATION_WAITING;
	ev.id = 6, ev.how = HOW_PENDING;
	assert_int_equal(l.n_jobs, 2);
	assert_int_equal(l.jobs[1].id, 2);
	assert_int_equal(l.n_services, 1);
	assert_memory_equal(&l.services[0], &sv, sizeof(sv));
	assert_int_equal(l.n_reservations, 1);
	assert_memory_equal(&l.reservations[0], &rv, sizeof(rv));
	assert_int_equal(l.n_evictions, 1);
	assert_string_equal(l.evictions[0].error, ev.error);
	assert_memory_equal(&l.evictions[0], &ev, offsetof(struct eviction, error));
	assert_int_equal(l.next[0], 9);
	assert_int_equal(l.next[1], 6);
	assert_int_equal(l.next[2], 4);
	assert_int_equal(l.next[3], 8);
	loaded_clear(&l);

	sv.name[0] = '\0'; /* deleted; its id is not given out again */
	ok(s->ops->begin(s, &err));
	ok(s->ops->put_service(s, &sv, &err));
	ok(s->ops->commit(s, &err));
	load(s, &l);
	assert_int_equal(l.n_services, 0);
	assert_int_equal(l.next[2], 4);
	loaded_clear(&l);
}

static void test_spec(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	_cleanup_store_ struct store *s = open_in(dir);
	size_t big = 4u << 20, len;
	_cleanup_free_ char *json = xmalloc(big);
	char *back;

	(void)state;
	memset(json, 'x', big);
	json[7] = '\0';
	ok(s->ops->begin(s, &err));
	ok(s->ops->put_spec(s, 1, json, big, &err));
	ok(s->ops->put_spec(s, 2, "", 0, &err));
	ok(s->ops->commit(s, &err));
	ok(s->ops->get_spec(s, 1, &back, &len, &err));
	assert_int_equal(len, big);
	assert_memory_equal(back, json, big);
	free(back);
	ok(s->ops->get_spec(s, 2, &back, &len, &err));
	assert_int_equal(len, 0);
	free(back);
	assert_int_equal(s->ops->get_spec(s, 3, &back, &len, &err), -ENOENT);
}

static void test_turn(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	_cleanup_store_ struct store *s = open_in(dir);
	struct job j = job_row(1, JOB_PENDING), back;

	(void)state;
	ok(s->ops->begin(s, &err));
	ok(s->ops->put_job(s, &j, &err));
	s->ops->rollback(s);
	s->ops->rollback(s); /* harmless */
	assert_int_equal(s->ops->get_job(s, 1, &back, &err), -ENOENT);

	/* A put that fails fails the whole turn, with its own words. */
	ok(s->ops->begin(s, &err));
	ok(s->ops->put_job(s, &j, &err));
	j.id = 2;
	j.reason = REASON_N;
	assert_int_equal(s->ops->put_job(s, &j, &err), -EINVAL);
	err.text[0] = '\0';
	assert_int_equal(s->ops->commit(s, &err), -EINVAL);
	assert_string_equal(err.text, "jobs.reason: the value has no name");
	assert_int_equal(s->ops->get_job(s, 1, &back, &err), -ENOENT);
	put_jobs(s, 1, 2, JOB_PENDING);
	job_clear(&j);
	ok(s->ops->probe(s, &err));
}

/* ---- history ---- */

static gq_time ended_at(uint32_t id)
{
	struct job j = job_row(id, JOB_COMPLETED);

	job_clear(&j);
	return j.ended_at;
}

static uint32_t seen[64];
static size_t n_seen;

static void see(uint32_t id)
{
	if (n_seen < ARRAY_LEN(seen))
		seen[n_seen] = id;
	n_seen++;
}

static void see_job(void *ctx, const struct job *row)
{
	(void)ctx;
	see(row->id);
}

static void see_eviction(void *ctx, const struct eviction *row)
{
	(void)ctx;
	see(row->id);
}

static void see_audit(void *ctx, const struct audit *row)
{
	(void)ctx;
	see((uint32_t)strtoul(row->text, NULL, 10));
}

static void test_each_job(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	_cleanup_store_ struct store *s = open_in(dir);
	struct store_filter f = NO_FILTER;

	(void)state;
	put_jobs(s, 1, 11, JOB_COMPLETED);
	put_jobs(s, 11, 21, JOB_RUNNING);
	n_seen = 0;
	ok(s->ops->each_job(s, &f, see_job, NULL, &err));
	assert_int_equal(n_seen, 10);
	assert_int_equal(seen[0], 10);
	f.limit = 3;
	f.until = ended_at(9);
	n_seen = 0;
	ok(s->ops->each_job(s, &f, see_job, NULL, &err));
	assert_int_equal(n_seen, 3);
	assert_int_equal(seen[0], 8);
	f = (struct store_filter){.uid = 1003, .kind = -1};
	n_seen = 0;
	ok(s->ops->each_job(s, &f, see_job, NULL, &err));
	assert_int_equal(n_seen, 2); /* 3 and 10 */
	f = (struct store_filter){.uid = (uid_t)-1, .kind = -1, .job = 15};
	n_seen = 0;
	ok(s->ops->each_job(s, &f, see_job, NULL, &err));
	assert_int_equal(n_seen, 1);
}

static void test_each_other(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	_cleanup_store_ struct store *s = open_in(dir);
	struct store_filter f = NO_FILTER;

	(void)state;
	put_jobs(s, 1, 3, JOB_RUNNING);
	ok(s->ops->begin(s, &err));
	for (uint32_t i = 1; i <= 20; i++) {
		struct eviction ev = {.id = i, .job = 1 + i % 2, .notice_at = i};
		struct audit a = {.at = i, .kind = (uint8_t)(i % AUDIT_N), .id = 1 + i % 2,
			.uid = i % 3};

		snprintf(a.text, sizeof(a.text), "%u", i);
		ok(s->ops->put_eviction(s, &ev, &err));
		ok(s->ops->put_audit(s, &a, &err));
	}
	ok(s->ops->commit(s, &err));
	f.job = 2;
	f.since = 5;
	n_seen = 0;
	ok(s->ops->each_eviction(s, &f, see_eviction, NULL, &err));
	assert_int_equal(n_seen, 8); /* 5, 7, … 19 */
	assert_int_equal(seen[0], 19);
	f = (struct store_filter){.uid = 1001, .kind = -1}; /* jobs of that user: 1 */
	n_seen = 0;
	ok(s->ops->each_eviction(s, &f, see_eviction, NULL, &err));
	assert_int_equal(n_seen, 10);
	f = (struct store_filter){.uid = (uid_t)-1, .kind = AUDIT_SERVICE, .id = 1};
	n_seen = 0;
	ok(s->ops->each_audit(s, &f, see_audit, NULL, &err));
	assert_int_equal(n_seen, 2); /* 12 and 2 */
	assert_int_equal(seen[0], 12);
	f = (struct store_filter){.uid = 0, .kind = -1, .until = 10};
	n_seen = 0;
	ok(s->ops->each_audit(s, &f, see_audit, NULL, &err));
	assert_int_equal(n_seen, 3);
}

static void test_prune(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	_cleanup_store_ struct store *s = open_in(dir);
	struct store_filter f = NO_FILTER;
	struct loaded l;
	size_t len;
	int total = 0, n, calls = 0;
	char *json;

	(void)state;
	put_jobs(s, 1, 1000, JOB_COMPLETED);
	put_jobs(s, 1000, 1005, JOB_RUNNING);
	put_jobs(s, 1005, 1006, JOB_FAILED);
	while ((n = s->ops->prune(s, ended_at(1005), &err)) > 0) {
		total += n;
		calls++;
	}
	assert_int_equal(n, 0);
	assert_int_equal(total, 2 * 999); /* job and specification */
	assert_true(calls > 1);
	ok(s->ops->each_job(s, &f, see_job, NULL, &err));
	assert_int_equal(s->ops->get_spec(s, 1, &json, &len, &err), -ENOENT);
	ok(s->ops->get_spec(s, 1000, &json, &len, &err));
	free(json);
	while ((n = s->ops->prune(s, GQ_NEVER, &err)) > 0)
		;
	load(s, &l);
	assert_int_equal(l.n_jobs, 5);
	assert_int_equal(l.next[0], 1006); /* 1005 is gone and stays used */
	loaded_clear(&l);
}

/* ---- the file ---- */

static sqlite3 *raw_open(const char *dir)
{
	_cleanup_free_ char *path = xasprintf("%s/gq.db", dir);
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	return db;
}

static void raw_exec(const char *dir, const char *sql)
{
	sqlite3 *db = raw_open(dir);

	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void test_refused(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	_cleanup_free_ char *path = xasprintf("%s/gq.db", dir);
	struct store *s = open_in(dir), *other = NULL;
	struct stat st;

	(void)state;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(store_sqlite_open(dir, &other, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another gqd"));
	store_close(&s);

	raw_exec(dir, "PRAGMA user_version = 99");
	assert_int_equal(store_sqlite_open(dir, &s, &err), -EPROTO);
	assert_non_null(strstr(err.text, "newer gqd (schema 99, this one knows"));
	raw_exec(dir, "PRAGMA user_version = 1; PRAGMA application_id = 7");
	assert_int_equal(store_sqlite_open(dir, &s, &err), -EPROTO);
	assert_non_null(strstr(err.text, "is no gq store"));

	ok(file_write_atomic(path, "hello, this is no database at all", 33, 0600, &err));
	assert_int_equal(store_sqlite_open(dir, &s, &err), -EPROTO);
	assert_non_null(strstr(err.text, "gq.db: is no gq store"));
	assert_int_equal(store_sqlite_open("/nonexistent", &s, &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/gq.db: No such file or directory");
}

static void test_unknown_word(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	struct store *s = open_in(dir);
	struct job back;

	(void)state;
	put_jobs(s, 1, 2, JOB_PENDING);
	store_close(&s);
	raw_exec(dir, "UPDATE jobs SET reason = 'Moonlight'");
	s = open_in(dir);
	assert_int_equal(s->ops->get_job(s, 1, &back, &err), -EPROTO);
	assert_non_null(strstr(err.text, "'Moonlight' is no reason"));
	store_close(&s);
}

/* schema.sql and the column tables name the same columns. */
static void test_columns(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	struct store *s = open_in(dir);
	sqlite3 *db;

	(void)state;
	store_close(&s);
	db = raw_open(dir);
	for (size_t i = 0; i < TABLE_N; i++) {
		_cleanup_free_ char *sql = xasprintf("SELECT count(*) FROM pragma_table_info('%s')",
			tables[i].name);
		int64_t n = 0;

		ok(sql_int(db, sql, &n, &err));
		assert_int_equal(n, tables[i].n_columns);
	}
	sqlite3_close(db);
}

static void test_words(void **state)
{
	static const struct sql_names *const all[] = {&sql_job_state, &sql_job_move, &sql_reason,
		&sql_checkpoint, &sql_cause, &sql_how, &sql_service_state, &sql_reservation_state,
		&sql_repeat, &sql_audit_kind};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		for (int v = 0; v < all[i]->n; v++)
			assert_int_equal(sql_names_find(all[i], all[i]->name(v)), v);
	assert_int_equal(sql_names_find(&sql_how, "?"), -ENOENT);
}

/* A file of every released version loads for ever; these are dumps of what it wrote, with every
 * word that it knew in it, so that a word that was renamed shows too. */
static void test_fixtures(void **state)
{
	(void)state;
	for (int v = 1; v <= SCHEMA_VERSION; v++) {
		_cleanup_free_ char *path = xasprintf("%s/store/v%d.sql", GQ_FIXTURES, v);
		_cleanup_dir_ char *dir = store_dir_new(NULL);
		_cleanup_free_ char *sql = NULL;
		struct store_filter f = NO_FILTER;
		struct store *s;
		struct loaded l;
		size_t len;
		char *json;

		ok(file_read(path, 1 << 20, &sql, &len, &err));
		raw_exec(dir, sql);
		s = open_in(dir);
		load(s, &l);
		assert_int_equal(l.n_jobs, 20);
		assert_int_equal(l.next[0], 31);
		assert_int_equal(l.n_services, 2);
		assert_int_equal(l.n_reservations, 3);
		assert_int_equal(l.n_evictions, 1);
		assert_string_equal(l.jobs[0].name, "job 1 ü'\"\\;");
		loaded_clear(&l);
		n_seen = 0;
		ok(s->ops->each_job(s, &f, see_job, NULL, &err));
		ok(s->ops->each_eviction(s, &f, see_eviction, NULL, &err));
		ok(s->ops->each_audit(s, &f, see_audit, NULL, &err));
		assert_int_equal(n_seen, 10 + 6 + 5);
		ok(s->ops->get_spec(s, 1, &json, &len, &err));
		free(json);
		put_jobs(s, 31, 32, JOB_PENDING);
		store_close(&s);
	}
}

static void test_migrate(void **state)
{
	static const struct migration good[] = {{1, "never run"},
		{2, "ALTER TABLE services ADD COLUMN tier INTEGER NOT NULL DEFAULT 3"},
		{3, "UPDATE services SET tier = tier + 1"}, {0, NULL}};
	static const struct migration bad[] = {{4, "CREATE TABLE half (x); SELECT nonsense"},
		{0, NULL}};
	static const struct migration gap[] = {{5, "CREATE TABLE x (y)"}, {0, NULL}};
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	struct store *s = open_in(dir);
	struct service sv = {.id = 1, .name = "chat"};
	int64_t v = 0;
	sqlite3 *db;

	(void)state;
	ok(s->ops->begin(s, &err));
	ok(s->ops->put_service(s, &sv, &err));
	ok(s->ops->commit(s, &err));
	store_close(&s);
	db = raw_open(dir);
	ok(schema_migrate(db, 1, 3, good, &err));
	ok(sql_int(db, "SELECT tier FROM services", &v, &err));
	assert_int_equal(v, 4);
	assert_int_equal(schema_migrate(db, 3, 4, bad, &err), -EIO);
	assert_non_null(strstr(err.text, "making schema 4: no such column: nonsense"));
	ok(sql_int(db, "SELECT count(*) FROM sqlite_master WHERE name = 'half'", &v, &err));
	assert_int_equal(v, 0);
	ok(sql_int(db, "PRAGMA user_version", &v, &err));
	assert_int_equal(v, 3);
	assert_int_equal(schema_migrate(db, 3, 4, gap, &err), -EPROTO);
	sqlite3_close(db);
}

/* With a directory: leaves there the file that becomes the fixture of this version, and prints
 * nothing. See gqd/store/migrations/README. */
static int write_fixture(const char *dir)
{
	struct store *s = open_in(dir);

	ok(s->ops->begin(s, &err));
	for (uint32_t i = 1; i <= 30; i++) {
		enum job_state state = i <= 20 ? i % JOB_COMPLETED :
						 JOB_COMPLETED + i % (JOB_STATE_N - JOB_COMPLETED);
		struct job j = job_row(i, state);

		ok(s->ops->put_job(s, &j, &err));
		ok(s->ops->put_spec(s, i, "{}", 2, &err));
	}
	for (uint32_t i = 0; i < 6; i++) {
		struct eviction e = {.id = i + 1, .how = (uint8_t)(i % HOW_N),
			.cause = (uint8_t)(i % CAUSE_N), .job = i, .n_cards = 1, .cards = {1}};
		struct reservation v = {.id = i + 1, .state = (uint8_t)(i % RESERVATION_STATE_N),
			.repeat = (uint8_t)(i % REPEAT_N), .start = GQ_SEC(i), .end = GQ_NEVER};
		struct audit a = {.kind = (uint8_t)(i % AUDIT_N), .at = i, .text = "what"};
		struct service sv = {.id = i + 1, .name = "chat", .state = (uint8_t)i};
		struct card c = {.index = (uint16_t)i, .uuid = "GPU-1", .model = "A100"};

		ok(s->ops->put_eviction(s, &e, &err));
		if (i < RESERVATION_STATE_N)
			ok(s->ops->put_reservation(s, &v, &err));
		if (i < AUDIT_N)
			ok(s->ops->put_audit(s, &a, &err));
		if (i < SERVICE_STATE_N)
			ok(s->ops->put_service(s, &sv, &err));
		ok(s->ops->put_card(s, &c, &err));
	}
	ok(s->ops->commit(s, &err));
	store_close(&s);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_job_round_trip),
		cmocka_unit_test(test_load), cmocka_unit_test(test_spec), cmocka_unit_test(test_turn),
		cmocka_unit_test(test_each_job), cmocka_unit_test(test_each_other),
		cmocka_unit_test(test_prune), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unknown_word), cmocka_unit_test(test_columns),
		cmocka_unit_test(test_words), cmocka_unit_test(test_fixtures),
		cmocka_unit_test(test_migrate)};

	if (argc == 2)
		return write_fixture(argv[1]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
