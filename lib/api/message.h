/* SPDX-License-Identifier: MIT
 * message.h - the messages between gqd and its clients: one struct and one table per object
 * The table of an object (objects.c) is read by the encoder (gqd), the decoder (clients), the strict
 * reader of request bodies (gqd/api/body.c), the OpenAPI description, the manual and the tests.
 *
 * On the wire: times are ISO 8601 UTC with milliseconds, null = never; durations are seconds with
 * milliseconds (names end in _s) or whole milliseconds (_ms); sizes are MiB (_mib). Fields are only
 * ever added, and a reader skips those it does not know. */
#ifndef GQ_API_MESSAGE_H
#define GQ_API_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gqtime.h"
#include "json.h"

#define API_CARDS_MAX 16
#define API_NONE      INT64_MIN /* an API_INT that is null */

enum api_type {
	API_STR,   /* const char *; NULL = null */
	API_BOOL,  /* bool */
	API_UINT,  /* uint32_t */
	API_ID,    /* uint32_t; 0 = null */
	API_INT,   /* int64_t; API_NONE = null */
	API_TIME,  /* gq_time; 0 or GQ_NEVER = null */
	API_SECS,  /* gq_time, a duration; GQ_NEVER = null */
	API_MS,    /* gq_time, a duration; GQ_NEVER = null */
	API_CARDS, /* struct api_cards */
	API_WORDS, /* struct api_words */
	API_RAW,   /* const char *: JSON as it is; NULL = null */
};

struct api_cards {
	uint32_t n;
	uint16_t index[API_CARDS_MAX];
};

struct api_words {
	uint32_t n;
	const char *word[API_CARDS_MAX]; /* borrowed */
};

struct api_field {
	const char *name;
	enum api_type type;
	size_t offset;
	const char *unit; /* of a number, for people; "" = none */
	const char *help;
};

struct api_object {
	const char *name;
	const char *help;
	size_t size; /* of the struct */
	const struct api_field *fields;
	size_t n_fields; /* ≤ 64 */
};

/* How well a job can be snapshotted, and why not better. */
struct api_grade {
	const char *grade; /* C0 … C3 */
	struct api_words findings;
};

struct api_job {
	uint32_t job_id, incarnation, image, uid, priority, evictions, requeues;
	const char *name, *user, *account, *state, *state_name, *reason, *reason_text,
		*gpu_type, *qos, *checkpoint, *cause, *error, *spec;
	struct api_cards cards;
	const char *grade;
	struct api_words gpu_uuids, findings;
	uint32_t gpus;
	int64_t vram_mib, rss_mib, exit_code, exit_signal, version;
	bool ended, requeue;
	gq_time submit_time, begin_time, start_time, end_time, notice_time, due_time;
	gq_time run_s, lost_s, time_limit_s, time_min_s, grace_s, promise_s, store_s,
		restore_s;
};

struct api_gpu {
	uint32_t index, job_id, foreign_pid;
	const char *uuid, *model, *labels, *state, *service, *foreign_name;
	int64_t vram_total_mib, vram_used_mib, vram_lendable_mib, foreign_mib,
		util_percent, temperature_c;
	bool present, fault, busy;
	gq_time idle_since;
};

struct api_window {
	uint32_t card, reservation_id;
	const char *uuid, *state, *why;
	gq_time idle_since, until, length_s;
	int64_t vram_mib;
	bool lendable;
};

struct api_reservation {
	uint32_t reservation_id, uid;
	const char *service, *user, *state, *repeat;
	struct api_cards cards;
	int64_t vram_mib;
	bool sudden;
	gq_time created_time, start_time, end_time, free_time, late_ms;
};

struct api_service {
	uint32_t service_id, uid;
	const char *name, *user, *state;
	struct api_cards cards;
	int64_t reserve_vram_mib;
	bool from_config, lease_lost;
	gq_time lease_s, lease_until, notice_s, changed_time;
};

struct api_eviction {
	uint32_t eviction_id, job, incarnation, cause_id;
	const char *cause, *how, *error;
	struct api_cards cards;
	gq_time notice_at, due_at, predicted_free_at, free_at, late_ms, lost_s;
	bool sudden;
};

struct api_history {
	gq_time time;
	const char *kind, *user, *text;
	uint32_t id;
};

struct api_finding {
	const char *what, *text, *cure;
	bool ok, essential;
};

struct api_ping {
	const char *version;
	uint32_t api, pid, cards, jobs, jobs_waiting, jobs_running;
	gq_time time, started_time;
	bool is_operator;
	int64_t jobs_version;
};

struct api_conf {
	bool unified, online_priority, offline_fill, can_store;
	int64_t vram_permille, max_requeue, max_jobs, max_jobs_per_user;
	const char *online_reserve_vram;
	gq_time graceful_exit_s, min_window_s, idle_hold_s, margin_s, keep_ended_s;
};

struct api_made { /* the answer to what makes something */
	uint32_t job_id, reservation_id, service_id;
	const char *message;
};

struct api_error {
	const char *code, *message;
};

/* Bodies of requests; numbers and times as people write them. */
struct api_reserve_body {
	const char *service, *start, *in, *end, *duration, *label, *vram, *repeat,
		*notice;
	struct api_words cards;
	int64_t count;
};

struct api_service_body {
	const char *reserve_vram, *lease, *notice, *state;
	struct api_words cards;
};

struct api_renew_body {
	const char *state;
};

struct api_evict_body {
	const char *mode, *grace;
};

/* One const struct api_object api_NAME_object each. */
#define API_OBJECTS(X)                                                                   \
	X(job)                                                                           \
	X(gpu) X(window) X(reservation) X(service) X(eviction) X(history) X(finding)     \
		X(ping) X(conf) X(made) X(error) X(reserve_body) X(service_body)         \
			X(renew_body) X(evict_body)
#define API_DECLARE(name) extern const struct api_object api_##name##_object;
API_OBJECTS(API_DECLARE)
#undef API_DECLARE
extern const struct api_object *const api_objects[]; /* all of them, NULL-terminated */

/* Bit i = field i. */
#define API_ALL_FIELDS UINT64_MAX
uint64_t api_field_bit(
	const struct api_object *o, const char *name); /* 0 = no such field */
/* "job_id,name" → bits; -EINVAL names the unknown field. */
int api_fields_parse(
	const struct api_object *o, const char *list, uint64_t *ret, struct gq_err *err);

/* Appends {…} with the fields of @mask. */
void api_encode(
	struct buf *out, const struct api_object *o, const void *row, uint64_t mask);
/* Reads {…}; strings point into the text. Fields that are absent are null, false or 0.
 * -EBADMSG names the field. */
int api_decode(
	struct json_in *in, const struct api_object *o, void *row, struct gq_err *err);
void api_row_init(
	const struct api_object *o, void *row); /* every field null, false or 0 */

/* Routes: routes.def. */
struct api_route {
	const char *method, *path, *query;     /* query: names, comma separated */
	const struct api_object *body, *reply; /* NULL = none, or described in words */
	bool list;                             /* an array of @reply */
	const char *help;
};
extern const struct api_route api_routes[];
extern const size_t api_n_routes;

void api_openapi(struct buf *out, const char *version); /* OpenAPI 3.0 as JSON */
void api_manual(struct buf *out);                       /* API.md */

#endif
