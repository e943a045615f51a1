/* SPDX-License-Identifier: MIT
 * test_api_message.c - every table: what is encoded is JSON and decodes to the same row */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "api/message.h"
#include "base/cleanup.h"
#include "base/mem.h"

#define TRICKY "quote \" back \\ tab\t nl\n \x01 \xc3\xa9 \xf0\x9f\x98\x80 end"

static void fill(const struct api_object *o, char *row, int salt)
{
	for (size_t i = 0; i < o->n_fields; i++) {
		void *at = row + o->fields[i].offset;
		int v = salt + (int)i;

		switch (o->fields[i].type) {
		case API_STR: *(const char **)at = v % 3 ? TRICKY : ""; break;
		case API_RAW: *(const char **)at = "{\"a\":[1,\"]}\",{}]}"; break;
		case API_BOOL: *(bool *)at = v % 2; break;
		case API_UINT:
		case API_ID: *(uint32_t *)at = UINT32_MAX - (uint32_t)v; break;
		case API_INT: *(int64_t *)at = v % 2 ? -v : INT64_MAX - v; break;
		case API_TIME:
			*(gq_time *)at =
				GQ_SEC(1796076000 + v * 86400) + GQ_MSEC(v % 1000);
			break;
		case API_SECS:
		case API_MS: *(gq_time *)at = GQ_MSEC(1234567 * v); break;
		case API_CARDS:
			*(struct api_cards *)at = (struct api_cards){2, {0, 15}};
			break;
		case API_WORDS:
			*(struct api_words *)at =
				(struct api_words){2, {"GPU-1", TRICKY}};
			break;
		}
	}
}

static void assert_same_field(enum api_type type, const void *a, const void *b)
{
	const struct api_cards *ca = a, *cb = b;
	const struct api_words *wa = a, *wb = b;

	switch (type) {
	case API_STR: assert_string_equal(*(char *const *)a, *(char *const *)b); break;
	case API_RAW:
		assert_memory_equal(
			*(char *const *)a, *(char *const *)b, strlen(*(char *const *)a));
		break;
	case API_BOOL: assert_int_equal(*(const bool *)a, *(const bool *)b); break;
	case API_UINT:
	case API_ID: assert_int_equal(*(const uint32_t *)a, *(const uint32_t *)b); break;
	case API_INT:
	case API_TIME:
	case API_SECS:
	case API_MS: assert_int_equal(*(const int64_t *)a, *(const int64_t *)b); break;
	case API_CARDS:
		assert_int_equal(ca->n, cb->n);
		for (uint32_t i = 0; i < ca->n; i++)
			assert_int_equal(ca->index[i], cb->index[i]);
		break;
	case API_WORDS:
		assert_int_equal(wa->n, wb->n);
		for (uint32_t i = 0; i < wa->n; i++)
			assert_string_equal(wa->word[i], wb->word[i]);
		break;
	}
}

static void test_round_trip(void **state)
{
	(void)state;
	for (size_t k = 0; api_objects[k]; k++) {
		const struct api_object *o = api_objects[k];
		_cleanup_free_ char *row = xcalloc(1, o->size),
				    *back = xcalloc(1, o->size);
		_cleanup_buf_ struct buf text = BUF_INIT;
		json_t *tree;
		struct json_in in;

		fill(o, row, (int)k);
		api_encode(&text, o, row, API_ALL_FIELDS);
		tree = json_loads(text.data, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(tree);
		assert_int_equal(json_object_size(tree), o->n_fields);
		json_decref(tree);
		in = (struct json_in){text.data, text.data + text.len};
		assert_int_equal(api_decode(&in, o, back, NULL), 0);
		assert_true(json_at_end(&in));
		for (size_t i = 0; i < o->n_fields; i++)
			assert_same_field(o->fields[i].type, row + o->fields[i].offset,
				back + o->fields[i].offset);
	}
}

/* An object of nothing, and an empty row: null everywhere, and that again. */
static void test_nulls(void **state)
{
	(void)state;
	for (size_t k = 0; api_objects[k]; k++) {
		const struct api_object *o = api_objects[k];
		_cleanup_free_ char *row = xcalloc(1, o->size),
				    *back = xcalloc(1, o->size);
		_cleanup_buf_ struct buf text = BUF_INIT;
		char empty[] = " { } ";
		struct json_in in = {empty, empty + 5};

		assert_int_equal(api_decode(&in, o, row, NULL), 0);
		api_encode(&text, o, row, API_ALL_FIELDS);
		in = (struct json_in){text.data, text.data + text.len};
		assert_int_equal(api_decode(&in, o, back, NULL), 0);
		assert_memory_equal(row, back, o->size);
	}
}

static void test_bad_utf8(void **state)
{
	static const char *const bad[] = {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80",
		"\xf5\x80\x80\x80", "\xe2\x82", "x\x80y"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		json_t *tree;

		json_write_str(&text, bad[i]);
		tree = json_loads(text.data, JSON_DECODE_ANY, NULL);
		assert_non_null(tree);
		json_decref(tree);
	}
}

static void test_broken_answers(void **state)
{
	static const char *const bad[] = {"", "{", "[]", "{\"job_id\":", "{\"job_id\":1",
		"{\"job_id\":-1}", "{\"job_id\":\"1\"}", "{\"name\":1}", "{\"name\":\"x",
		"{\"name\":\"\\u00\"}", "{\"name\":\"\\ud800\"}", "{\"cards\":[1,2",
		"{\"cards\":[70000]}", "{\"x\":[1,{}", "{\"job_id\":99999999999}",
		"{\"cards\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}", "{\"ended\":1}",
		"{\"job_id\" 1}", "{\"a\":1 \"b\":2}", "{\"run_s\":99999999999999}"};
	struct api_job job;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char text[128];
		struct json_in in = {text, text + strlen(bad[i])};
		struct gq_err err = {0};

		str_copy(text, sizeof(text), bad[i]);
		assert_int_equal(api_decode(&in, &api_job_object, &job, &err), -EBADMSG);
		assert_true(err.text[0] != '\0');
	}
}

static void test_skips_unknown(void **state)
{
	char text[] =
		"[ {\"new\": {\"a\":[\"]\",{}],\"b\":\"\\\"}\"} ,\"job_id\": 7, \"z\":true}, {\"job_id\":8,\"n\":-1.5e3} ]";
	struct json_in in = {text, text + strlen(text)};
	struct api_job job;

	(void)state;
	assert_int_equal(json_open(&in, '['), 0);
	assert_int_equal(json_more(&in, ']', true), 1);
	assert_int_equal(api_decode(&in, &api_job_object, &job, NULL), 0);
	assert_int_equal(job.job_id, 7);
	assert_int_equal(json_more(&in, ']', false), 1);
	assert_int_equal(api_decode(&in, &api_job_object, &job, NULL), 0);
	assert_int_equal(job.job_id, 8);
	assert_int_equal(json_more(&in, ']', false), 0);
	assert_true(json_at_end(&in));
}

static void test_fields(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct api_job job;
	uint64_t mask;
	struct gq_err err;

	(void)state;
	assert_int_equal(
		api_fields_parse(&api_job_object, "job_id,name", &mask, NULL), 0);
	api_row_init(&api_job_object, &job);
	job.job_id = 42;
	api_encode(&text, &api_job_object, &job, mask);
	assert_string_equal(text.data, "{\"job_id\":42,\"name\":null}");
	assert_int_equal(
		api_fields_parse(&api_job_object, "job_id,nam", &mask, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'nam'"));
	assert_int_equal(api_fields_parse(&api_job_object, "", &mask, &err), -EINVAL);
}

static void test_description(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT, manual = BUF_INIT;
	json_t *tree, *paths;

	(void)state;
	api_openapi(&text, "1.2.3");
	tree = json_loads(text.data, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(tree);
	paths = json_object_get(tree, "paths");
	assert_non_null(
		json_object_get(json_object_get(paths, "/v1/jobs/{id}/evict"), "post"));
	assert_non_null(
		json_object_get(json_object_get(paths, "/v1/services/{id}"), "delete"));
	json_decref(tree);
	api_manual(&manual);
	for (size_t i = 0; i < api_job_object.n_fields; i++)
		assert_non_null(strstr(manual.data, api_job_object.fields[i].name));
}

static gq_time encode_many(struct buf *text, const struct api_job *job, uint64_t mask)
{
	gq_time start = gq_monotonic();

	buf_reset(text);
	for (int i = 0; i < 10000; i++)
		api_encode(text, &api_job_object, job, mask);
	return gq_monotonic() - start;
}

/* The cost of the longest list, for people; no test fails on a time. */
static void test_speed(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct api_job job, back;
	uint64_t masks[2] = {0, API_ALL_FIELDS};

	(void)state;
	api_row_init(&api_job_object, &job);
	fill(&api_job_object, (char *)&job, 1);
	job.name = job.user = job.account = job.gpu_type = job.error = job.cause =
		job.reason = "word";
	job.state = job.state_name = job.checkpoint = job.qos = job.reason_text = "word";
	job.cards.n = job.gpu_uuids.n = 1;
	api_fields_parse(&api_job_object,
		"job_id,name,user,state,run_s,gpus,cards,reason", masks, NULL);
	for (int k = 0; k < 2; k++) {
		gq_time encoded, start;
		struct json_in in;

		encode_many(&text, &job, masks[k]); /* the server's buffer is warm, too */
		encoded = encode_many(&text, &job, masks[k]);
		in = (struct json_in){text.data, text.data + text.len};
		start = gq_monotonic();
		for (int i = 0; i < 10000; i++)
			assert_int_equal(
				api_decode(&in, &api_job_object, &back, NULL), 0);
		print_message(
			"# 10,000 jobs, %s fields, %zu KiB: encoded in %.1f ms, decoded in %.1f ms\n",
			k ? "all" : "list", text.len / 1024, (double)encoded / 1e6,
			(double)(gq_monotonic() - start) / 1e6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_nulls),
		cmocka_unit_test(test_bad_utf8),
		cmocka_unit_test(test_broken_answers),
		cmocka_unit_test(test_skips_unknown),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_description),
		cmocka_unit_test(test_speed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
