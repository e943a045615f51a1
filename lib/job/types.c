/* SPDX-License-Identifier: MIT
 * types.c - the kinds of value a job specification is made of */
#include "job/types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/signame.h"
#include "job/job_spec.h"

static void quote(const char *s, struct buf *out)
{
	job_json_quote(s, strlen(s), out);
}

/* Milliseconds as seconds: 90, 1.500 */
static void add_seconds(gq_time t, struct buf *out)
{
	long long ms = t / GQ_NS_PER_MS;

	if (ms % 1000)
		buf_fmt(out, "%lld.%03lld", ms / 1000, ms % 1000);
	else
		buf_fmt(out, "%lld", ms / 1000);
}

/* ---- text ---- */

static int text_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	char **p = field;

	(void)now;
	if (!text[0])
		return gq_err_set(err, -EINVAL, "is empty");
	free(*p);
	*p = xstrdup(text);
	return 0;
}

static void text_encode(const void *field, struct buf *out)
{
	quote(*(char *const *)field, out);
}

const struct job_type job_type_text = {"text", FORM_SCALAR, 0, text_from_text, NULL, text_encode};

/* ---- numbers ---- */

static int whole_number(double v, double min, double max, struct gq_err *err)
{
	if (v >= min && v <= max && v == floor(v))
		return 0;
	return gq_err_set(err, -EINVAL, "%.15g is not a whole number from %.0f to %.0f", v, min, max);
}

static int int_from_text(int *field, const char *text, int min, int max, struct gq_err *err)
{
	int64_t v;
	int r = parse_int(text, min, max, &v, err);

	if (r == 0)
		*field = (int)v;
	return r;
}

static int int_from_number(int *field, double v, int min, int max, struct gq_err *err)
{
	int r = whole_number(v, min, max, err);

	if (r == 0)
		*field = (int)v;
	return r;
}

static void int_encode(const void *field, struct buf *out)
{
	buf_fmt(out, "%d", *(const int *)field);
}

static void int64_encode(const void *field, struct buf *out)
{
	buf_fmt(out, "%lld", (long long)*(const int64_t *)field);
}

static int cards_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	(void)now;
	return int_from_text(field, text, 1, JOB_GPUS_MAX, err);
}

static int cards_from_number(void *field, double v, struct gq_err *err)
{
	return int_from_number(field, v, 1, JOB_GPUS_MAX, err);
}

const struct job_type job_type_cards = {"a number of cards", FORM_SCALAR, sizeof(int),
	cards_from_text, cards_from_number, int_encode};

static int exit_code_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	(void)now;
	return int_from_text(field, text, 1, 255, err);
}

static int exit_code_from_number(void *field, double v, struct gq_err *err)
{
	return int_from_number(field, v, 1, 255, err);
}

const struct job_type job_type_exit_code = {"an exit code from 1 to 255", FORM_SCALAR, sizeof(int),
	exit_code_from_text, exit_code_from_number, int_encode};

static int priority_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	(void)now;
	return parse_int(text, 0, UINT32_MAX, field, err);
}

static int priority_from_number(void *field, double v, struct gq_err *err)
{
	int r = whole_number(v, 0, UINT32_MAX, err);

	if (r == 0)
		*(int64_t *)field = (int64_t)v;
	return r;
}

const struct job_type job_type_priority = {"a number from 0 to 4294967295", FORM_SCALAR,
	sizeof(int64_t), priority_from_text, priority_from_number, int64_encode};

static int size_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	(void)now;
	return parse_size_mib(text, field, err);
}

static int size_from_number(void *field, double v, struct gq_err *err)
{
	int r = whole_number(v, 0, 1e12, err);

	if (r == 0)
		*(int64_t *)field = (int64_t)v;
	return r;
}

const struct job_type job_type_size = {"a size: \"24G\" or a number of MiB", FORM_SCALAR,
	sizeof(int64_t), size_from_text, size_from_number, int64_encode};

/* ---- time; kept in whole milliseconds so that JSON carries it exactly ---- */

static gq_time whole_ms(gq_time t)
{
	return t == GQ_NEVER ? t : (t + GQ_NS_PER_MS / 2) / GQ_NS_PER_MS * GQ_NS_PER_MS;
}

static int duration_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	gq_time t;
	int r = parse_duration(text, &t, err);

	(void)now;
	if (r == 0)
		*(gq_time *)field = whole_ms(t);
	return r;
}

static int seconds_from_number(void *field, double v, double max, struct gq_err *err)
{
	if (!(v >= 0 && v <= max))
		return gq_err_set(err, -EINVAL, "%.15g is not a number of seconds from 0 to %.0f", v,
			max);
	*(gq_time *)field = GQ_MSEC(llround(v * 1000));
	return 0;
}

static int duration_from_number(void *field, double v, struct gq_err *err)
{
	return seconds_from_number(field, v, 3153600000.0, err);
}

static void time_encode(const void *field, struct buf *out)
{
	gq_time t = *(const gq_time *)field;

	if (t == GQ_NEVER)
		buf_str(out, "\"UNLIMITED\"");
	else
		add_seconds(t, out);
}

const struct job_type job_type_duration = {"a duration: \"2h30m\" or a number of seconds",
	FORM_SCALAR, sizeof(gq_time), duration_from_text, duration_from_number, time_encode};

static int minutes_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	gq_time t;
	int r = parse_duration_minutes(text, &t, err);

	(void)now;
	if (r == 0)
		*(gq_time *)field = t ? whole_ms(t) : GQ_NEVER;
	return r;
}

const struct job_type job_type_minutes = {"a duration", FORM_SCALAR, sizeof(gq_time),
	minutes_from_text, duration_from_number, time_encode};

static int when_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	gq_time t;
	int r = parse_when(text, now, &t, err);

	if (r == 0)
		*(gq_time *)field = whole_ms(t);
	return r;
}

static int when_from_number(void *field, double v, struct gq_err *err)
{
	return seconds_from_number(field, v, 7258118400.0, err);
}

const struct job_type job_type_when = {"a time: \"2026-12-01T08:00Z\" or seconds since 1970",
	FORM_SCALAR, sizeof(gq_time), when_from_text, when_from_number, time_encode};

/* ---- signals ---- */

static int signal_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	(void)now;
	return signal_parse(text, field, err);
}

static int signal_from_number(void *field, double v, struct gq_err *err)
{
	return int_from_number(field, v, 1, 64, err);
}

/* A signal without a name goes by its number. */
static void signal_encode(const void *field, struct buf *out)
{
	int sig = *(const int *)field;
	const char *name = signal_name(sig);

	if (name[0] == '?')
		buf_fmt(out, "%d", sig);
	else
		quote(name, out);
}

const struct job_type job_type_signal = {"a signal: \"USR1\" or its number", FORM_SCALAR, sizeof(int),
	signal_from_text, signal_from_number, signal_encode};

/* R: and B: are read and need no other treatment: a notice always overlaps with a reservation,
 * and the signal goes to all processes of the job. */
static int signal_spec_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	struct job_spec *s = field;
	const char *name = text, *at;
	_cleanup_free_ char *sig_name = NULL;
	gq_time before = GQ_SEC(60);
	int sig, r;

	(void)now;
	if (strchr(name, ':')) {
		size_t n = strspn(name, "RBrb");

		if (!n || n > 2 || name[n] != ':')
			return gq_err_set(err, -EINVAL,
				"'%.60s' is not [{R|B}:]SIGNAL[@SECONDS]", text);
		name += n + 1;
	}
	at = strchr(name, '@');
	sig_name = at ? xstrndup(name, (size_t)(at - name)) : xstrdup(name);
	r = signal_parse(sig_name, &sig, err);
	if (r == 0 && at)
		r = parse_duration(at + 1, &before, err);
	if (r < 0)
		return r;
	s->signal = sig;
	s->signal_before = whole_ms(before);
	return 0;
}

const struct job_type job_type_signal_spec = {NULL, FORM_SCALAR, 0, signal_spec_from_text, NULL, NULL};

/* ---- cards ---- */

static int set_gpus(struct job_spec *s, const char *type, size_t type_len, const char *count,
	struct gq_err *err)
{
	int n = 1, r = 0;

	if (count)
		r = int_from_text(&n, count, 1, JOB_GPUS_MAX, err);
	if (r < 0)
		return r;
	free(s->gpu_type);
	s->gpu_type = type_len ? xstrndup(type, type_len) : NULL;
	s->gpus = n;
	return 0;
}

static int gpus_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	const char *colon = strrchr(text, ':');

	(void)now;
	if (colon == text || strchr(text, ','))
		return gq_err_set(err, -EINVAL, "'%.60s' is not [TYPE:]NUMBER", text);
	return set_gpus(field, text, colon ? (size_t)(colon - text) : 0, colon ? colon + 1 : text, err);
}

const struct job_type job_type_gpus = {NULL, FORM_SCALAR, 0, gpus_from_text, NULL, NULL};

/* gpu, gpu:2, gpu:a100, gpu:a100:2; Slurm also takes gres/gpu:2 */
static int gres_from_text(void *field, const char *text, gq_time now, struct gq_err *err)
{
	const char *p = strncmp(text, "gres/", 5) ? text : text + 5, *colon;

	(void)now;
	if (strncmp(p, "gpu", 3) || (p[3] && p[3] != ':') || strchr(p, ',') ||
		(p[3] == ':' && (!p[4] || p[4] == ':')))
		return gq_err_set(err, -EINVAL, "'%.60s' is not gpu[:TYPE][:NUMBER]", text);
	if (!p[3])
		return set_gpus(field, NULL, 0, NULL, err);
	p += 4;
	colon = strrchr(p, ':');
	if (colon)
		return set_gpus(field, p, (size_t)(colon - p), colon + 1, err);
	if (p[strspn(p, "0123456789")])
		return set_gpus(field, p, strlen(p), NULL, err);
	return set_gpus(field, NULL, 0, p, err);
}

const struct job_type job_type_gres = {NULL, FORM_SCALAR, 0, gres_from_text, NULL, NULL};
