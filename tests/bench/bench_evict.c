/* SPDX-License-Identifier: MIT
 * bench_evict.c - announced evictions, many of them: was the card free in time, was the promise true?
 * Each of CARDS cards has a job that does nothing in its exit period. As soon as one runs, its card
 * is reserved LEAD seconds ahead; the job leaves, the reservation passes, the job comes back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"
#include "bench_queue.h"
#include "client/field.h"

#define LEAD      "14s" /* --grace 10s, what a store takes, and slack */
#define CARDS_MAX 64

static int64_t int_of(const char *object, const char *field)
{
	int64_t v = 0;

	field_int(field_find(object, field, NULL), &v);
	return v;
}

/* 0 = null */
static gq_time time_of(const char *object, const char *field)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	gq_time t = 0;

	if (field_text(field_find(object, field, NULL), &text) == 0)
		parse_when(buf_c(&text), gq_now(), &t, NULL);
	return t;
}

static bool text_is(const char *object, const char *field, const char *want)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	return field_text(field_find(object, field, NULL), &text) == 0 && !strcmp(buf_c(&text), want);
}

/* The array in an answer: it, or the one member that is one. */
static const char *list_of(const char *json, const char *name)
{
	const char *list = field_find(json, name, NULL);

	return field_first(list ? list : json);
}

/* Which jobs compute: running[card] = incarnation, 0 = none there. */
static void look(struct client *c, int64_t *running, int cards)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	memset(running, 0, (size_t)cards * sizeof(*running));
	api_get(c, "/v1/jobs?state=R", &b);
	for (const char *v = list_of(buf_c(&b), "jobs"); v; v = field_next(v)) {
		const char *card = field_first(field_find(v, "cards", NULL));
		int64_t i = -1;

		if (card && field_int(card, &i) == 0 && i >= 0 && i < cards && text_is(v, "state", "R"))
			running[i] = int_of(v, "incarnation") + (int_of(v, "job_id") << 20);
	}
}

static void reserve(struct client *c, int card)
{
	_cleanup_free_ char *body = xasprintf(
		"{\"cards\":[\"%d\"],\"in\":\"" LEAD "\",\"duration\":\"1s\"}", card);
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct gq_err err;
	int status;

	if (client_call(c, "POST", "/v1/reservations", body, strlen(body), &status, &b, &err))
		die("reservation: %s", err.text);
}

struct tally {
	int n, in_time, stored;
	double error[10000]; /* of the promise, in % of what the eviction took */
	double worst, spare_ms_least;
};

static void count(const char *v, struct tally *t)
{
	gq_time notice = time_of(v, "notice_at"), due = time_of(v, "due_at"),
		free_at = time_of(v, "free_at"), predicted = time_of(v, "predicted_free_at");
	double spare, error;

	if (!free_at || !due || t->n == (int)ARRAY_LEN(t->error))
		return;
	spare = (double)(due - free_at) / GQ_NS_PER_MS;
	error = 100 * fabs((double)(predicted - free_at)) / (double)(free_at - notice);
	if (!t->n || spare < t->spare_ms_least)
		t->spare_ms_least = spare;
	if (error > t->worst)
		t->worst = error;
	t->error[t->n++] = error;
	t->in_time += spare >= 0;
	t->stored += text_is(v, "how", "store");
}

static int evictions_done(struct client *c, int n, struct tally *t)
{
	_cleanup_free_ char *path = xasprintf("/v1/evictions?limit=%d", n);
	_cleanup_buf_ struct buf b = BUF_INIT;

	memset(t, 0, sizeof(*t));
	api_get(c, path, &b);
	for (const char *v = list_of(buf_c(&b), "evictions"); v; v = field_next(v))
		count(v, t);
	return t->n;
}

/* Prints: evictions, in time, stored, median and worst error of the promise in %, least spare ms. */
int cmd_evict(int argc, char **argv)
{
	int n = number(argv[0]), cards = number(argv[1]), made = 0;
	int64_t running[CARDS_MAX], done[CARDS_MAX] = {0};
	gq_time give_up = gq_monotonic() + GQ_SEC(120 + 40 * (n / cards + 1));
	struct client *c = api_open();
	static struct tally t;

	(void)argc;
	if (cards > CARDS_MAX)
		die("at most %d cards", CARDS_MAX);
	while (evictions_done(c, n, &t) < n) {
		if (gq_monotonic() > give_up)
			die("%d of %d evictions after the time for it", t.n, n);
		look(c, running, cards);
		for (int i = 0; i < cards && made < n; i++)
			if (running[i] && running[i] != done[i]) {
				reserve(c, i);
				done[i] = running[i]; /* once for each incarnation */
				made++;
				break; /* one at a time spreads them */
			}
		nap(500);
	}
	printf("%d %d %d %.1f %.1f %.0f\n", t.n, t.in_time, t.stored, median(t.error, t.n), t.worst,
		t.spare_ms_least);
	client_close(c);
	return 0;
}
