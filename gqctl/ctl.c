/* SPDX-License-Identifier: MIT
 * ctl.c - options, calls and lines that the commands share */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "gqctl.h"

const char *ctl_opt(const struct ctl *ctl, const char *name)
{
	for (size_t i = 0; i < ctl->n_options; i++) {
		if (strcmp(ctl->options[i].long_name, name) == 0)
			return ctl->values[i];
	}
	return NULL;
}

bool ctl_has(const struct ctl *ctl, const char *name)
{
	return ctl_opt(ctl, name) != NULL;
}

static void say(const char *text)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_fmt(&line, "gqctl: %s\n", text);
	if (write_all(STDERR_FILENO, line.data, line.len) < 0)
		return; /* nobody listens */
}

int ctl_say(const struct gq_err *err)
{
	say(err->text);
	return EXIT_REFUSED;
}

int ctl_usage(const char *fmt, ...)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&text, fmt, ap);
	va_end(ap);
	say(buf_c(&text));
	return EXIT_USAGE;
}

int ctl_call(struct ctl *ctl, const char *method, const char *path,
	const struct buf *body, struct buf *ret, struct gq_err *err)
{
	int status, r;

	if (!ctl->client) {
		r = client_open(ctl_opt(ctl, "socket"), &ctl->client, err);
		if (r < 0)
			return r;
	}
	return client_call(ctl->client, method, path, body ? body->data : NULL,
		body ? body->len : 0, &status, ret, err);
}

void ctl_query(struct buf *path, const char *name, const char *value)
{
	if (!value)
		return;
	buf_fmt(path, "%c%s=", strchr(buf_c(path), '?') ? '&' : '?', name);
	client_quote(value, path);
}

static void member(struct buf *body, const char *name)
{
	buf_chr(body, body->len ? ',' : '{');
	json_write_str(body, name);
	buf_chr(body, ':');
}

void ctl_member(struct buf *body, const char *name, const char *value)
{
	if (!value)
		return;
	member(body, name);
	json_write_str(body, value);
}

void ctl_member_list(struct buf *body, const char *name, const char *commas)
{
	if (!commas)
		return;
	member(body, name);
	for (char before = '[';; before = ',') {
		size_t n = strcspn(commas, ",");
		_cleanup_buf_ struct buf word = BUF_INIT;

		buf_add(&word, commas, n);
		buf_chr(body, before);
		json_write_str(body, buf_c(&word));
		if (commas[n] == '\0')
			break;
		commas += n + 1;
	}
	buf_chr(body, ']');
}

void ctl_close(struct buf *body)
{
	buf_str(body, body->len ? "}" : "{}");
}

int ctl_print(const struct buf *text)
{
	bool ends = text->len && text->data[text->len - 1] == '\n';
	struct gq_err err;
	int r = write_all(STDOUT_FILENO, buf_c(text), text->len);

	if (r == 0 && !ends)
		r = write_all(STDOUT_FILENO, "\n", 1);
	if (r < 0 && r != -EPIPE) {
		gq_err_sys(&err, r, "standard output");
		return ctl_say(&err);
	}
	return r < 0 ? EXIT_REFUSED : 0;
}

int ctl_job_id(const char *word, uint32_t *ret, struct gq_err *err)
{
	int64_t v;

	if (parse_int(word, 1, UINT32_MAX, &v, NULL) < 0)
		return gq_err_set(err, -EINVAL, "'%.40s' is not a job's number", word);
	*ret = (uint32_t)v;
	return 0;
}

int ctl_each_job(struct ctl *ctl, const char *verb, const struct buf *body)
{
	_cleanup_buf_ struct buf answer = BUF_INIT;
	struct gq_err err = {0};
	uint32_t ids[WORDS_MAX];
	char path[64];
	int status = 0;

	for (int i = 0; i < ctl->n_words; i++) {
		if (ctl_job_id(ctl->words[i], &ids[i], &err) < 0)
			return ctl_usage("%s: %s", ctl->command->name, err.text);
	}
	for (int i = 0; i < ctl->n_words; i++) {
		snprintf(path, sizeof(path), "/v1/jobs/%u/%s", ids[i], verb);
		if (ctl_call(ctl, "POST", path, body, &answer, &err) < 0)
			status = ctl_say(&err);
		if (!ctl->client)
			break; /* no gqd: once is enough */
	}
	return status;
}

int ctl_list(struct ctl *ctl, const char *path, const struct api_object *o, void *row,
	void (*fn)(void *ctx, const void *row), void *ctx)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct gq_err err = {0};
	struct json_in in;
	int r;

	if (ctl_call(ctl, "GET", path, NULL, &text, &err) < 0)
		return ctl_say(&err);
	if (ctl_has(ctl, "json"))
		return ctl_print(&text);
	in = (struct json_in){buf_reserve(&text, 1), text.data + text.len};
	in.p = text.data;
	*in.end = '\0';
	r = json_open(&in, '[');
	for (bool first = true; r >= 0 && (r = json_more(&in, ']', first)) > 0;
		first = false) {
		r = api_decode(&in, o, row, &err);
		if (r == 0)
			fn(ctx, row);
	}
	if (r < 0) {
		gq_err_set(&err, r,
			"gqd's answer cannot be read: is it of another version?");
		return ctl_say(&err);
	}
	return 0;
}
