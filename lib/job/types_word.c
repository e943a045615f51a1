/* SPDX-License-Identifier: MIT
 * types_word.c - values that are one of a few words, and yes or no */
#include "job/types.h"

#include <string.h>

#include "base/cleanup.h"
#include "job/job_spec.h"

static int word_find(const char *const *words, size_t n, const char *text, struct gq_err *err)
{
	_cleanup_buf_ struct buf all = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(words[i], text))
			return (int)i;
	for (size_t i = 0; i < n; i++)
		buf_fmt(&all, "%s%s", i ? i + 1 == n ? " or " : ", " : "", words[i]);
	return gq_err_set(err, -EINVAL, "'%.60s' is not %s", text, buf_c(&all));
}

static void add_word(const char *word, struct buf *out)
{
	job_json_quote(word, strlen(word), out);
}

static const char *const checkpoint_words[] = {
	[JOB_CHECKPOINT_AUTO] = "auto", [JOB_CHECKPOINT_APP] = "app", [JOB_CHECKPOINT_NONE] = "none"};
static const char *const qos_words[] = {"low", "normal", "high"};
static const char *const open_mode_words[] = {"append", "truncate"};

static int checkpoint_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	int i = word_find(checkpoint_words, ARRAY_LEN(checkpoint_words), text, err);

	(void)now;
	if (i < 0)
		return i;
	*(enum job_checkpoint *)field = (enum job_checkpoint)i;
	return 0;
}

static void checkpoint_encode(const void *field, struct buf *out)
{
	add_word(checkpoint_words[*(const enum job_checkpoint *)field], out);
}

const struct job_type job_type_checkpoint = {"auto, app or none", FORM_SCALAR,
	sizeof(enum job_checkpoint), checkpoint_from_text, NULL, checkpoint_encode};

static int qos_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	int i = word_find(qos_words, ARRAY_LEN(qos_words), text, err);

	(void)now;
	if (i < 0)
		return i;
	*(int *)field = i - 1;
	return 0;
}

static void qos_encode(const void *field, struct buf *out)
{
	add_word(qos_words[*(const int *)field + 1], out);
}

const struct job_type job_type_qos = {"low, normal or high", FORM_SCALAR, sizeof(int),
	qos_from_text, NULL, qos_encode};

static int open_mode_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	int i = word_find(open_mode_words, ARRAY_LEN(open_mode_words), text, err);

	(void)now;
	if (i < 0)
		return i;
	*(bool *)field = i == 1;
	return 0;
}

static void open_mode_encode(const void *field, struct buf *out)
{
	add_word(open_mode_words[*(const bool *)field], out);
}

const struct job_type job_type_open_mode = {"append or truncate", FORM_SCALAR, sizeof(bool),
	open_mode_from_text, NULL, open_mode_encode};

static int yes_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	(void)text, (void)now, (void)err;
	*(bool *)field = true;
	return 0;
}

static int no_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	(void)text, (void)now, (void)err;
	*(bool *)field = false;
	return 0;
}

static void bool_encode(const void *field, struct buf *out)
{
	buf_str(out, *(const bool *)field ? "true" : "false");
}

const struct job_type job_type_bool = {"true or false", FORM_BOOL, sizeof(bool), NULL, NULL,
	bool_encode};
const struct job_type job_type_yes = {NULL, FORM_BOOL, sizeof(bool), yes_from_text, NULL, NULL};
const struct job_type job_type_no = {NULL, FORM_BOOL, sizeof(bool), no_from_text, NULL, NULL};
