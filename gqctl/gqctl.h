/* SPDX-License-Identifier: MIT
 * gqctl.h - inside gqctl: what a command is given, and what it prints with
 * One file per command (cmd_NAME.c), one row each in the table of main.c. A command returns its exit
 * status: 0, 1 refused or failed (one line was said), 2 wrong usage. */
#ifndef GQCTL_GQCTL_H
#define GQCTL_GQCTL_H

#include <stdbool.h>
#include <stddef.h>

#include "api/message.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/usage.h"
#include "client/client.h"

#define EXIT_REFUSED 1
#define EXIT_USAGE   2
#define WORDS_MAX    256
#define OPTIONS_MAX  32

struct ctl;

struct command {
	const char *name, *words; /* words: "JOB…", "" = none */
	const char *help;         /* one line */
	const char *man;          /* more, for the manual page; NULL = none */
	const struct usage_option *options;
	size_t n_options;
	int min_words, max_words;
	int (*run)(struct ctl *ctl);
};

struct ctl {
	const struct command *command;
	struct usage_option
		options[OPTIONS_MAX]; /* the command's, then the common ones */
	size_t n_options;
	const char
		*values[OPTIONS_MAX]; /* NULL = not given, "" = given without a value */
	const char *words[WORDS_MAX];
	int n_words;
	struct client *client; /* owned; opened by the first call */
};

/* The value of an option, NULL = not given. */
const char *ctl_opt(const struct ctl *ctl, const char *name);
bool ctl_has(const struct ctl *ctl, const char *name);

int ctl_say(const struct gq_err *err); /* "gqctl: …" to stderr; returns EXIT_REFUSED */
int ctl_usage(const char *fmt, ...)
	__attribute__((format(printf, 1, 2))); /* EXIT_USAGE */

/* As client_call(), connecting first; < 0 on any refusal. @body may be NULL. */
int ctl_call(struct ctl *ctl, const char *method, const char *path,
	const struct buf *body, struct buf *ret, struct gq_err *err);
/* Appends "?name=value" or "&name=value" quoted; nothing where @value is NULL. */
void ctl_query(struct buf *path, const char *name, const char *value);
/* Appends an option's value as "name":"value" to an object being written; nothing if not given. */
void ctl_member(struct buf *body, const char *name, const char *value);
void ctl_member_list(struct buf *body, const char *name, const char *commas);
void ctl_close(struct buf *body); /* its closing brace */
int ctl_print(
	const struct buf *text); /* to stdout, ending in a newline; 0 or EXIT_REFUSED */
int ctl_job_id(const char *word, uint32_t *ret, struct gq_err *err);
/* Does /v1/jobs/ID/VERB for every word; one line for each that is refused. */
int ctl_each_job(struct ctl *ctl, const char *verb, const struct buf *body);

/* Calls @row for each object of the array in @text, or prints it as it is where --json was given. */
int ctl_list(struct ctl *ctl, const char *path, const struct api_object *o, void *row,
	void (*fn)(void *ctx, const void *row), void *ctx);

/* --- tables (table.c) ----------------------------------------------------------------------- */

struct column {
	const char *title;
	bool right;   /* numbers */
	bool elastic; /* cut first where the terminal is too narrow */
};

struct table {
	const struct column *columns;
	size_t n_columns;
	struct buf text; /* owned: all cells, each terminated */
	size_t n_cells;
	size_t widest[16];
};

void table_init(struct table *t, const struct column *columns, size_t n);
void table_cell(
	struct table *t, const char *text); /* NULL = "-"; in the order of the columns */
void table_cellf(struct table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int table_print(struct table *t, bool header); /* and frees; 0 or EXIT_REFUSED */

/* Words for values (@buf ≥ 40 bytes); "-" for never. */
const char *text_span(gq_time d, char *buf); /* squeue's: 0:05, 1:02:03, 2-03:04:05 */
const char *text_time(
	gq_time t, char *buf); /* local: 20:15:01.250 today, else 2026-11-30T20:15:01 */
const char *text_long_time(gq_time t, char *buf); /* local, always with the date */
const char *text_mib(int64_t mib, char *buf);     /* 80G, 512M */
const char *text_cards(
	const struct api_cards *c, char *buf, size_t size); /* "0,1"; "" if none */

/* --- commands ------------------------------------------------------------------------------- */
#define COMMANDS(X)                                                                      \
	X(jobs)                                                                          \
	X(job) X(gpus) X(windows) X(reserve) X(unreserve) X(reservations) X(services)    \
		X(evictions) X(history) X(cancel) X(hold) X(release) X(evict) X(resume)  \
			X(wait) X(doctor) X(ping) X(shutdown)
#define DECLARE(name) extern const struct command cmd_##name;
COMMANDS(DECLARE)
#undef DECLARE

/* For several commands: states that a job has not ended in, as the API takes them. */
#define LIVE_STATES "PD,CF,R,CK,S,RE,CG"

/* Waits until @is_there says so; 1 = it is, 0 = the time is up or @is_there says never (< 0). */
int wait_job(struct ctl *ctl, uint32_t id, gq_time timeout,
	int (*is_there)(void *ctx, const struct api_job *j), void *ctx,
	struct api_job *last, struct buf *text, struct gq_err *err);

#endif
