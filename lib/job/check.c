/* SPDX-License-Identifier: MIT
 * check.c - all that can be checked without the machine */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "job/job_spec.h"
#include "job/option.h"

#define SHEBANG_MAX 254 /* the kernel reads 256 bytes of a script's first line */
#define ARGS_MAX    4096
#define ARGS_BYTES  (1u << 20)
#define SIGNAL_BEFORE_MAX GQ_SEC(65535)

static int line_of(const char *script, const char *at)
{
	int line = 1;

	for (const char *p = script; (p = memchr(p, '\n', (size_t)(at - p))); p++)
		line++;
	return line;
}

static int check_first_line(const char *script, size_t len, struct gq_err *err)
{
	const char *end = memchr(script, '\n', len);
	size_t n = end ? (size_t)(end - script) : len;

	if (n < 2 || memcmp(script, "#!", 2))
		return gq_err_set(err, -EINVAL,
			"the first line does not say what runs it: begin with #!/bin/sh or the like");
	if (n > SHEBANG_MAX)
		return gq_err_set(err, -EINVAL, "line 1: #! line of %zu bytes, at most %d", n,
			SHEBANG_MAX);
	if (script[2 + strspn(script + 2, " \t")] != '/')
		return gq_err_set(err, -EINVAL, "line 1: #! needs an absolute path: #!/bin/sh");
	return 0;
}

int job_script_check(const char *script, size_t len, struct gq_err *err)
{
	const char *at;

	if (!len)
		return gq_err_set(err, -EINVAL, "is empty: it needs at least #!/bin/sh and a command");
	if (len > JOB_SCRIPT_MAX)
		return gq_err_set(err, -EINVAL, "is larger than %u MiB; keep data in files beside it",
			JOB_SCRIPT_MAX >> 20);
	at = memchr(script, '\0', len);
	if (at)
		return gq_err_set(err, -EINVAL,
			"is a binary (NUL byte at %zu): write a script that runs it, or use --wrap",
			(size_t)(at - script));
	at = memmem(script, len, "\r\n", 2);
	if (at)
		return gq_err_set(err, -EINVAL,
			"line %d ends in CR LF (DOS): convert it with sed -i 's/\\r$//' FILE",
			line_of(script, at));
	at = utf8_fault(script, len);
	if (at)
		return gq_err_set(err, -EINVAL,
			"line %d is not UTF-8 (byte 0x%02x): convert it with iconv -t utf-8",
			line_of(script, at), (unsigned char)*at);
	return check_first_line(script, len, err);
}

static int check_text(const char *field, const char *s, size_t max, struct gq_err *err)
{
	if (!s)
		return 0;
	if (!s[0])
		return gq_err_set(err, -EINVAL, "%s: is empty", field);
	if (strlen(s) > max)
		return gq_err_set(err, -EINVAL, "%s: %zu bytes, at most %zu", field, strlen(s), max);
	if (!str_is_clean(s))
		return gq_err_set(err, -EINVAL, "%s: has control characters or is not UTF-8", field);
	return 0;
}

static int check_texts(const struct job_spec *s, struct gq_err *err)
{
	const struct {
		const char *field, *text;
		size_t max;
	} rows[] = {{"name", s->name, JOB_NAME_MAX}, {"account", s->account, JOB_NAME_MAX},
		{"comment", s->comment, 1024}, {"gpu_type", s->gpu_type, 63},
		{"cwd", s->cwd, PATH_MAX - 1}, {"input", s->input, PATH_MAX - 1},
		{"output", s->output, PATH_MAX - 1}, {"error", s->error, PATH_MAX - 1}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (check_text(rows[i].field, rows[i].text, rows[i].max, err) < 0)
			return -EINVAL;
	return 0;
}

static int check_pattern(const char *field, const char *pattern, struct gq_err *err)
{
	_cleanup_free_ char *path = NULL;

	if (!pattern || job_path_expand(pattern, "/", 1, 1, "u", "x", "n", &path, err) == 0)
		return 0;
	return gq_err_prefix(err, -EINVAL, "%s", field);
}

static int check_paths(const struct job_spec *s, struct gq_err *err)
{
	if (!s->cwd)
		return gq_err_set(err, -EINVAL, "cwd: is missing: the working directory");
	if (s->cwd[0] != '/')
		return gq_err_set(err, -EINVAL, "cwd: '%.60s' is not an absolute path", s->cwd);
	if (check_pattern("input", s->input, err) < 0 || check_pattern("output", s->output, err) < 0)
		return -EINVAL;
	return check_pattern("error", s->error, err);
}

static int check_strings(const char *field, char *const *list, size_t n_max, size_t bytes_max,
	struct gq_err *err)
{
	size_t n = 0, bytes = 0, len;

	for (; list && list[n]; n++) {
		len = strlen(list[n]);
		bytes += len + 1;
		if (utf8_fault(list[n], len))
			return gq_err_set(err, -EINVAL, "%s[%zu]: is not UTF-8", field, n);
		if (n >= n_max || bytes > bytes_max)
			return gq_err_set(err, -EINVAL, "%s: more than %zu entries or %zu bytes", field,
				n_max, bytes_max);
	}
	return 0;
}

static int check_env(char *const *env, struct gq_err *err)
{
	for (size_t i = 0; env && env[i]; i++)
		if (env[i][0] == '=' || !strchr(env[i], '='))
			return gq_err_set(err, -EINVAL, "env[%zu]: '%.60s' is not NAME=value", i, env[i]);
	return check_strings("env", env, JOB_ENV_MAX / 2, JOB_ENV_MAX, err);
}

static int check_times(const struct job_spec *s, struct gq_err *err)
{
	if (s->time_limit < GQ_SEC(1))
		return gq_err_set(err, -EINVAL, "time_limit: shorter than 1 s");
	if (s->time_min < 0 || s->time_min == GQ_NEVER)
		return gq_err_set(err, -EINVAL, "time_min: no window is that long");
	if (s->time_min > s->time_limit)
		return gq_err_set(err, -EINVAL, "time_min: %lld s is more than the time limit of %lld s",
			(long long)(s->time_min / GQ_NS_PER_S),
			(long long)(s->time_limit / GQ_NS_PER_S));
	if (s->grace < 0)
		return gq_err_set(err, -EINVAL, "grace: is negative");
	if (s->signal_before < 0 || s->signal_before > SIGNAL_BEFORE_MAX)
		return gq_err_set(err, -EINVAL, "signal: at most 65535 s before the end");
	return 0;
}

static int check_numbers(const struct job_spec *s, struct gq_err *err)
{
	if (s->gpus < 1 || s->gpus > JOB_GPUS_MAX)
		return gq_err_set(err, -EINVAL, "gpus: asked for %d, allowed are 1 to %d", s->gpus,
			JOB_GPUS_MAX);
	if (s->vram_mib < 0)
		return gq_err_set(err, -EINVAL, "vram: is negative");
	if (s->signal < 0 || s->signal > 64)
		return gq_err_set(err, -EINVAL, "signal: %d is not a signal", s->signal);
	if (s->checkpoint_exit_code < 1 || s->checkpoint_exit_code > 255)
		return gq_err_set(err, -EINVAL, "checkpoint_exit_code: %d, allowed are 1 to 255",
			s->checkpoint_exit_code);
	if (s->priority < -1 || s->priority > UINT32_MAX)
		return gq_err_set(err, -EINVAL, "priority: %lld, allowed are 0 to 4294967295",
			(long long)s->priority);
	if (s->level < -1 || s->level > 1)
		return gq_err_set(err, -EINVAL, "qos: is none of low, normal, high");
	return 0;
}

int job_spec_check(const struct job_spec *s, struct gq_err *err)
{
	if (!s->script)
		return gq_err_set(err, -EINVAL, "script: is missing");
	if (job_script_check(s->script, s->script_len, err) < 0)
		return gq_err_prefix(err, -EINVAL, "script");
	if (check_texts(s, err) < 0 || check_paths(s, err) < 0 || check_numbers(s, err) < 0 ||
		check_times(s, err) < 0 || check_env(s->env, err) < 0)
		return -EINVAL;
	return check_strings("args", s->argv, ARGS_MAX, ARGS_BYTES, err);
}
