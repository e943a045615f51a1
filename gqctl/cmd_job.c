/* SPDX-License-Identifier: MIT
 * cmd_job.c - gqctl job: all about one job */
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signame.h"
#include "client/field.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"spec", 's', NULL, "with --json: the whole submission, too", NULL},
	{"json", 0, NULL, "print the answer of GET /v1/jobs/JOB", NULL},
};

static __attribute__((format(printf, 3, 4))) void line(
	struct buf *out, const char *label, const char *fmt, ...)
{
	va_list ap;

	buf_fmt(out, "  %-12s ", label);
	va_start(ap, fmt);
	buf_vfmt(out, fmt, ap);
	va_end(ap);
	buf_chr(out, '\n');
}

static void line_time(struct buf *out, const char *label, gq_time t)
{
	char text[40];

	if (t > 0 && t != GQ_NEVER)
		line(out, label, "%s", text_long_time(t, text));
}

static void say_state(struct buf *out, const struct api_job *j)
{
	char cards[80];

	buf_fmt(out, "Job %u \"%s\" of %s\n", j->job_id, j->name ? j->name : "", j->user);
	line(out, "State", "%s (%s)%s%s", j->state_name, j->state,
		j->cards.n ? ", on card " : "",
		text_cards(&j->cards, cards, sizeof(cards)));
	if (j->reason && strcmp(j->reason, "None") != 0)
		line(out, "Reason", "%s: %s", j->reason,
			j->reason_text ? j->reason_text : "");
	if (j->error)
		line(out, "Last error", "%s", j->error);
	if (j->cause) {
		line(out, "Must leave", "because of: %s", j->cause);
		line_time(out, "Notice", j->notice_time);
		line_time(out, "Due", j->due_time);
	}
}

static void say_end(struct buf *out, const struct api_job *j)
{
	if (!j->ended)
		return;
	if (j->exit_signal != API_NONE)
		line(out, "Exit", "by signal %d (SIG%s)", (int)j->exit_signal,
			signal_name((int)j->exit_signal));
	else if (j->exit_code != API_NONE)
		line(out, "Exit", "code %d", (int)j->exit_code);
}

static void say_times(struct buf *out, const struct api_job *j)
{
	char a[40], b[40];

	line_time(out, "Submitted", j->submit_time);
	line_time(out, "Not before", j->begin_time);
	line_time(out, "Started", j->start_time);
	line_time(out, "Ended", j->end_time);
	line(out, "Computed", "%s%s%s%s", text_span(j->run_s, a),
		j->lost_s > 0 ? ", and " : "",
		j->lost_s > 0 ? text_span(j->lost_s, b) : "",
		j->lost_s > 0 ? " that was lost" : "");
	line(out, "Limit", "%s",
		j->time_limit_s == GQ_NEVER ? "none" : text_span(j->time_limit_s, a));
	if (j->time_min_s > 0)
		line(out, "Window", "at least %s", text_span(j->time_min_s, a));
	if (!j->ended)
		line(out, "Exit period", "%s; it needs %s to leave",
			j->grace_s == GQ_NEVER ? "the pool's" : text_span(j->grace_s, a),
			text_span(j->promise_s, b));
}

static void say_wish(struct buf *out, const struct api_job *j)
{
	char vram[40];

	line(out, "Cards", "%u%s%s, %s of VRAM each", j->gpus,
		j->gpu_type ? " of type " : "", j->gpu_type ? j->gpu_type : "",
		j->vram_mib == API_NONE ? "what may be lent"
					: text_mib(j->vram_mib, vram));
	line(out, "Priority", "%u (%s)%s%s", j->priority, j->qos,
		j->account ? ", account " : "", j->account ? j->account : "");
}

static double seconds(gq_time d)
{
	return (double)d / GQ_NS_PER_S;
}

static void say_grade(struct buf *out, const struct api_job *j)
{
	static const char *const words[] = {"cannot be parked or stored",
		"can be parked in host memory, not stored on disk",
		"can be stored, and comes back to the same card",
		"can be stored, and comes back to any card of the model"};
	const char *cure;

	if (!j->grade || j->grade[0] != 'C' || j->grade[1] < '0' || j->grade[1] > '3')
		return;
	line(out, "Grade", "%s: %s", j->grade, words[j->grade[1] - '0']);
	for (uint32_t i = 0; i < j->findings.n; i++) {
		const char *text = j->findings.word[i];

		cure = strstr(text, " - ");
		line(out, "", "%.*s", cure ? (int)(cure - text) : (int)strlen(text), text);
		if (cure)
			line(out, "", "  cure: %s", cure + 3);
	}
}

static void say_snapshots(struct buf *out, const struct api_job *j)
{
	char a[40], image[32];

	snprintf(image, sizeof(image), "that of run %u", j->image);
	line(out, "Run",
		"%u; evicted %u time%s, started from its beginning again %u time%s",
		j->incarnation, j->evictions, j->evictions == 1 ? "" : "s", j->requeues,
		j->requeues == 1 ? "" : "s");
	line(out, "Snapshots", "%s; image: %s", j->checkpoint, j->image ? image : "none");
	if (j->store_s > 0 && j->restore_s > 0)
		line(out, "", "the last one took %.2f s, its restore %.2f s", seconds(j->store_s),
			seconds(j->restore_s));
	else if (j->store_s > 0)
		line(out, "", "the last one took %.2f s", seconds(j->store_s));
	say_grade(out, j);
	if (j->rss_mib != API_NONE)
		line(out, "Host memory", "%s", text_mib(j->rss_mib, a));
}

static void say_files(struct buf *out, const char *spec)
{
	static const struct {
		const char *field, *label;
	} rows[] = {{"cwd", "Directory"}, {"chdir", "Directory"}, {"input", "Input"},
		{"output", "Output"}, {"error", "Errors"}, {"comment", "Comment"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		if (field_text(field_find(spec, rows[i].field, NULL), &text) == 0 &&
			text.len)
			line(out, rows[i].label, "%s", buf_c(&text));
	}
}

static void say_eviction(void *ctx, const void *row)
{
	const struct api_eviction *e = row;
	struct buf *out = ctx;
	char notice[40], free_at[40];

	buf_fmt(out, "  %-12s run %u at %s because of %s: %s", "Evicted", e->incarnation,
		text_time(e->notice_at, notice), e->cause, e->how);
	if (e->free_at)
		buf_fmt(out, ", cards free at %s", text_time(e->free_at, free_at));
	if (e->free_at && e->late_ms > 0 && e->late_ms != GQ_NEVER)
		buf_fmt(out, ", %lld ms late", (long long)(e->late_ms / GQ_NS_PER_MS));
	buf_fmt(out, "%s%s\n", e->error ? "; " : "", e->error ? e->error : "");
}

static int say_all(
	struct ctl *ctl, uint32_t id, const struct api_job *j, const char *spec)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct api_eviction e;
	char path[80];
	int r;

	say_state(&out, j);
	say_end(&out, j);
	say_wish(&out, j);
	say_times(&out, j);
	say_snapshots(&out, j);
	if (spec)
		say_files(&out, spec);
	if (j->evictions) {
		snprintf(path, sizeof(path), "/v1/evictions?job=%u&limit=20", id);
		r = ctl_list(ctl, path, &api_eviction_object, &e, say_eviction, &out);
		if (r)
			return r;
	}
	return ctl_print(&out);
}

/* The submission is for its user and operators; without it the rest is still told. */
static int get_job(
	struct ctl *ctl, uint32_t id, bool spec, struct buf *ret, struct gq_err *err)
{
	char path[80];

	snprintf(path, sizeof(path), "/v1/jobs/%u%s", id, spec ? "?spec=1" : "");
	return ctl_call(ctl, "GET", path, NULL, ret, err);
}

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf text = BUF_INIT, copy = BUF_INIT;
	struct gq_err err = {0};
	bool json = ctl_has(ctl, "json");
	struct json_in in;
	struct api_job j;
	uint32_t id;

	if (ctl_job_id(ctl->words[0], &id, &err) < 0)
		return ctl_usage("job: %s", err.text);
	if (get_job(ctl, id, json ? ctl_has(ctl, "spec") : true, &text, &err) < 0 &&
		(json || get_job(ctl, id, false, &text, &err) < 0))
		return ctl_say(&err);
	if (json)
		return ctl_print(&text);
	buf_add(&copy, text.data, text.len); /* decoding changes the text */
	in = (struct json_in){text.data, text.data + text.len};
	if (api_decode(&in, &api_job_object, &j, &err) < 0)
		return ctl_say(&err);
	return say_all(ctl, id, &j, j.spec ? field_find(copy.data, "spec", NULL) : NULL);
}

const struct command cmd_job = {"job", "JOB", "tell all about one job",
	"Why it waits, with numbers; its times, its last error, its image, every eviction.",
	options, ARRAY_LEN(options), 1, 1, run};
