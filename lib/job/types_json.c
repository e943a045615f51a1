/* SPDX-License-Identifier: MIT
 * types_json.c - what only JSON carries: script, lists, limits, umask; and how texts are quoted */
#include "job/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/job_spec.h"

void job_json_quote(const char *s, size_t len, struct buf *out)
{
	static const char hex[] = "0123456789abcdef";
	size_t from = 0;

	buf_chr(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_add(out, s + from, i - from);
		from = i + 1;
		if (c == '\n') {
			buf_add(out, "\\n", 2);
		} else if (c >= 0x20) {
			char two[2] = {'\\', (char)c};

			buf_add(out, two, 2);
		} else {
			char six[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

			buf_add(out, six, 6);
		}
	}
	buf_add(out, s + from, len - from);
	buf_chr(out, '"');
}

static int umask_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	(void)now;
	if (!text[0] || text[strspn(text, "01234567")] || strlen(text) > 4)
		return gq_err_set(err, -EINVAL, "'%.60s' is not an octal number from 0 to 0777", text);
	*(mode_t *)field = (mode_t)strtoul(text, NULL, 8) & 0777;
	return 0;
}

static void umask_encode(const void *field, struct buf *out)
{
	buf_fmt(out, "\"%03o\"", (unsigned)*(const mode_t *)field);
}

const struct job_type job_type_umask = {"octal text such as \"022\"", FORM_SCALAR, sizeof(mode_t),
	umask_from_text, NULL, umask_encode};

static void script_encode(const void *field, struct buf *out)
{
	const struct job_spec *s =
		(const void *)((const char *)field - offsetof(struct job_spec, script));

	job_json_quote(s->script, s->script_len, out);
}

const struct job_type job_type_script = {"text", FORM_SCRIPT, 0, NULL, NULL, script_encode};

static void strings_encode(const void *field, struct buf *out)
{
	char *const *list = *(char **const *)field;

	buf_chr(out, '[');
	for (size_t i = 0; list[i]; i++) {
		if (i)
			buf_chr(out, ',');
		job_json_quote(list[i], strlen(list[i]), out);
	}
	buf_chr(out, ']');
}

const struct job_type job_type_strings = {"an array of texts", FORM_STRINGS, 0, NULL, NULL,
	strings_encode};

const char *job_rlimit_name(int resource)
{
	static const char *const names[] = {[RLIMIT_CPU] = "CPU", [RLIMIT_FSIZE] = "FSIZE",
		[RLIMIT_DATA] = "DATA", [RLIMIT_STACK] = "STACK", [RLIMIT_CORE] = "CORE",
		[RLIMIT_RSS] = "RSS", [RLIMIT_NPROC] = "NPROC", [RLIMIT_NOFILE] = "NOFILE",
		[RLIMIT_MEMLOCK] = "MEMLOCK", [RLIMIT_AS] = "AS", [RLIMIT_LOCKS] = "LOCKS",
		[RLIMIT_SIGPENDING] = "SIGPENDING", [RLIMIT_MSGQUEUE] = "MSGQUEUE",
		[RLIMIT_NICE] = "NICE", [RLIMIT_RTPRIO] = "RTPRIO", [RLIMIT_RTTIME] = "RTTIME"};

	return resource >= 0 && resource < (int)ARRAY_LEN(names) ? names[resource] : NULL;
}

static void add_limit(rlim_t v, struct buf *out)
{
	if (v == RLIM_INFINITY)
		buf_str(out, "null");
	else
		buf_fmt(out, "%llu", (unsigned long long)v);
}

static void rlimits_encode(const void *field, struct buf *out)
{
	const struct rlimit *limits = field;
	const char *name, *comma = "";

	buf_chr(out, '{');
	for (int i = 0; i < RLIM_NLIMITS && (name = job_rlimit_name(i)); i++) {
		buf_fmt(out, "%s\"%s\":[", comma, name);
		add_limit(limits[i].rlim_cur, out);
		buf_chr(out, ',');
		add_limit(limits[i].rlim_max, out);
		buf_chr(out, ']');
		comma = ",";
	}
	buf_chr(out, '}');
}

const struct job_type job_type_rlimits = {"an object of [soft, hard] pairs", FORM_RLIMITS, 0, NULL,
	NULL, rlimits_encode};
