/* SPDX-License-Identifier: MIT
 * main.c - gqsub: submit an offline job */
#include "gqsub.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "client/field.h"

static const char usage_line[] = "usage: gqsub [OPTION…] [SCRIPT [ARG…]]\n";

static int put(int fd, const struct buf *text)
{
	return write_all(fd, buf_c(text), text->len) < 0 ? EXIT_REFUSED : 0;
}

static int fail(int status, const struct gq_err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_fmt(&line, "gqsub: %s\n", err->text);
	put(STDERR_FILENO, &line);
	return status;
}

static void put_warnings(const struct submission *sub)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	const char *end;

	if (sub->quiet)
		return;
	for (const char *p = buf_c(&sub->warnings); (end = strchr(p, '\n')); p = end + 1)
		buf_fmt(&out, "gqsub: %.*s\n", (int)(end - p), p);
	if (out.len)
		put(STDERR_FILENO, &out);
}

/* --help and the like: true when it was one of them. */
static bool inform(const struct submission *sub)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (sub->help_man) {
		usage_man(job_options, JOB_OPTION_N, &out);
	} else if (sub->version) {
		buf_str(&out, "gqsub " PACKAGE_VERSION "\n");
	} else if (sub->help) {
		buf_str(&out, usage_line);
		buf_str(&out, "Submits an offline job: it runs on cards that online services leave idle.\n"
			"SCRIPT may hold options in #GQ or #SBATCH lines; without it, it is read from "
			"standard input.\n\n");
		usage_help(job_options, JOB_OPTION_N, &out);
	} else if (sub->usage) {
		buf_str(&out, usage_line);
	} else {
		return false;
	}
	put(STDOUT_FILENO, &out);
	return true;
}

/* Everything that is decided without gqd. Returns 0 or the exit status. */
static int prepare(struct submission *sub, struct gq_err *err)
{
	if (options_from_env(sub, err) < 0)
		return EXIT_USAGE;
	if (script_read(sub, err) < 0)
		return EXIT_REFUSED;
	if (options_from_script(sub, err) < 0)
		return EXIT_USAGE;
	if (capture(sub, err) < 0)
		return EXIT_REFUSED;
	if (!sub->spec.name)
		sub->spec.name = xstrdup(sub->default_name);
	return job_spec_check(&sub->spec, err) < 0 ? EXIT_USAGE : 0;
}

static int report(const struct submission *sub, const char *reply, int64_t *ret_id,
	struct gq_err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT, message = BUF_INIT;

	if (sub->test_only) {
		if (field_text(field_find(reply, "message", NULL), &message) < 0)
			buf_str(&message, "the job would be accepted; nothing was submitted");
		buf_fmt(&out, "gqsub: %s\n", buf_c(&message));
		return put(STDERR_FILENO, &out);
	}
	if (field_int(field_find(reply, "job_id", NULL), ret_id) < 0) {
		gq_err_set(err, -EPROTO, "gqd took the job but its answer names no job_id");
		return EXIT_REFUSED;
	}
	if (sub->quiet)
		return 0;
	buf_fmt(&out, sub->parsable ? "%lld\n" : "Submitted batch job %lld\n", (long long)*ret_id);
	return put(STDOUT_FILENO, &out);
}

static int submit(const struct submission *sub, struct gq_err *err)
{
	struct buf body = BUF_INIT, reply = BUF_INIT;
	struct client *c;
	int64_t id = 0;
	int status;

	job_spec_to_json(&sub->spec, &body);
	if (sub->print_json) {
		buf_chr(&body, '\n');
		return put(STDOUT_FILENO, &body);
	}
	if (client_open(NULL, &c, err) < 0 ||
		client_call(c, "POST", sub->test_only ? "/v1/jobs?test_only=1" : "/v1/jobs", body.data,
			body.len, &status, &reply, err) < 0)
		return EXIT_REFUSED;
	status = report(sub, buf_c(&reply), &id, err);
	if (status == 0 && sub->wait && id)
		status = watch(c, id, sub->quiet);
	return status;
}

int main(int argc, char **argv)
{
	struct submission sub = {.now = gq_now()};
	struct gq_err err = {0};
	int status;

	job_spec_init(&sub.spec);
	if (options_from_argv(&sub, argc, argv, &err) < 0)
		return fail(EXIT_USAGE, &err);
	if (inform(&sub))
		return 0;
	status = prepare(&sub, &err);
	put_warnings(&sub);
	if (status == 0)
		status = submit(&sub, &err);
	return err.code ? fail(status, &err) : status;
}
