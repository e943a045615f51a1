/* SPDX-License-Identifier: MIT
 * cmd_reserve.c - gqctl reserve: cards that must be free for online work at a time */
#include "base/cleanup.h"
#include "base/parse.h"
#include "client/field.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"service", 's', "NAME", "for this service", NULL},
	{"start", 0, "WHEN", "from then on: 16:00, 2026-12-01T08:00Z, now+1hour", NULL},
	{"in", 'i', "SPAN", "instead: from so much later on, as 10s or 2h", NULL},
	{"end", 0, "WHEN", "until then; without end and duration it stays open", NULL},
	{"duration", 'd', "SPAN", "instead: for so long", NULL},
	{"cards", 'c', "CARD[,CARD…]",
		"these cards: indices, UUIDs (or their beginnings), labels",
		"These cards: indices, UUIDs (or unique beginnings of them) or labels. Without cards and "
		"count: all of the service's."},
	{"count", 'n', "N", "instead: any N cards, gqd chooses", NULL},
	{"label", 0, "WORD", "with --count: only cards with this label or model", NULL},
	{"vram", 0, "SIZE", "only so much VRAM of each card, as 30G", NULL},
	{"daily", 0, NULL, "again every day at that time", NULL},
	{"weekly", 0, NULL, "again every week at that time", NULL},
	{"notice", 0, "SPAN", "the service always gives at least this much notice", NULL},
};

static int add_count(struct buf *body, const char *text, struct gq_err *err)
{
	int64_t n;
	int r = text ? parse_int(text, 1, API_CARDS_MAX, &n, err) : 0;

	if (r < 0)
		return gq_err_prefix(err, r, "--count");
	if (text)
		buf_fmt(body, "%s\"count\":%lld", body->len ? "," : "{", (long long)n);
	return 0;
}

static int run(struct ctl *ctl)
{
	static const char *const plain[] = {
		"service", "start", "in", "end", "duration", "label", "vram", "notice"};
	_cleanup_buf_ struct buf body = BUF_INIT, answer = BUF_INIT, out = BUF_INIT;
	struct gq_err err = {0};
	int64_t id;

	if (ctl_has(ctl, "daily") && ctl_has(ctl, "weekly"))
		return ctl_usage("reserve: --daily or --weekly, not both");
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		ctl_member(&body, plain[i], ctl_opt(ctl, plain[i]));
	ctl_member_list(&body, "cards", ctl_opt(ctl, "cards"));
	ctl_member(&body, "repeat",
		ctl_has(ctl, "daily")    ? "daily"
		: ctl_has(ctl, "weekly") ? "weekly"
					 : NULL);
	if (add_count(&body, ctl_opt(ctl, "count"), &err) < 0)
		return ctl_usage("reserve: %s", err.text);
	ctl_close(&body);
	if (ctl_call(ctl, "POST", "/v1/reservations", &body, &answer, &err) < 0)
		return ctl_say(&err);
	if (field_int(field_find(buf_c(&answer), "reservation_id", NULL), &id) < 0) {
		gq_err_set(&err, -EPROTO,
			"gqd made the reservation but its answer has no number");
		return ctl_say(&err);
	}
	buf_fmt(&out, "Reservation %lld\n", (long long)id);
	return ctl_print(&out);
}

const struct command cmd_reserve = {"reserve", "", "reserve cards for online work",
	"Prints \\fIReservation N\\fR. Jobs on these cards are told in time, and the cards are free at "
	"the start.",
	options, ARRAY_LEN(options), 0, 0, run};
