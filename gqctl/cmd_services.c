/* SPDX-License-Identifier: MIT
 * cmd_services.c - gqctl services: list, make or change, renew, delete */
#include <string.h>

#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"cards", 'c', "CARD[,CARD…]", "put: its cards: indices, UUIDs, labels", NULL},
	{"reserve-vram", 0, "SIZE", "put: VRAM per card that is always its own, as 30G",
		NULL},
	{"lease", 0, "SPAN", "put: it must renew this often, as 30s; 0 = need not", NULL},
	{"notice", 0, "SPAN", "put: the least notice that its reservations give", NULL},
	{"state", 0, "idle|busy", "put, renew: what it does now", NULL},
	{"json", 0, NULL, "print the answer of GET /v1/services", NULL},
};

static const struct column columns[] = {{"NAME", .elastic = true}, {"STATE", 0},
	{"CARDS", 0}, {"RESERVED", .right = true}, {"LEASE", .right = true}, {"UNTIL", 0},
	{"NOTICE", .right = true}, {"USER", .elastic = true}};

static void add_row(void *ctx, const void *row)
{
	const struct api_service *s = row;
	struct table *t = ctx;
	char text[80];

	table_cell(t, s->name);
	table_cellf(t, "%s%s", s->state, s->lease_lost ? " (lease lost)" : "");
	table_cell(t, text_cards(&s->cards, text, sizeof(text)));
	table_cell(t, text_mib(s->reserve_vram_mib, text));
	table_cell(t, s->lease_s > 0 ? text_span(s->lease_s, text) : NULL);
	table_cell(t, text_time(s->lease_until, text));
	table_cell(t, s->notice_s > 0 ? text_span(s->notice_s, text) : NULL);
	table_cellf(t, "%s%s", s->user, s->from_config ? " (config)" : "");
}

static int list(struct ctl *ctl)
{
	struct table t;
	struct api_service row;
	int r;

	table_init(&t, columns, ARRAY_LEN(columns));
	r = ctl_list(ctl, "/v1/services", &api_service_object, &row, add_row, &t);
	return r || ctl_has(ctl, "json") ? r : table_print(&t, true);
}

static int act(
	struct ctl *ctl, const char *method, const char *suffix, const struct buf *body)
{
	_cleanup_buf_ struct buf path = BUF_INIT, answer = BUF_INIT;
	struct gq_err err = {0};

	buf_str(&path, "/v1/services/");
	client_quote(ctl->words[1], &path);
	buf_str(&path, suffix);
	if (ctl_call(ctl, method, buf_c(&path), body, &answer, &err) < 0)
		return ctl_say(&err);
	return ctl_has(ctl, "json") ? ctl_print(&answer) : 0;
}

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf body = BUF_INIT;
	const char *verb = ctl->words[0];

	if (ctl->n_words == 0)
		return list(ctl);
	if (ctl->n_words == 1)
		return ctl_usage(
			"services: %s which one? see gqctl services --help", verb);
	if (strcmp(verb, "delete") == 0)
		return act(ctl, "DELETE", "", NULL);
	ctl_member(&body, "state", ctl_opt(ctl, "state"));
	if (strcmp(verb, "renew") == 0) {
		ctl_close(&body);
		return act(ctl, "POST", "/renew", &body);
	}
	if (strcmp(verb, "put") != 0)
		return ctl_usage("services: '%.40s' is none of put, renew, delete", verb);
	ctl_member_list(&body, "cards", ctl_opt(ctl, "cards"));
	ctl_member(&body, "reserve_vram", ctl_opt(ctl, "reserve-vram"));
	ctl_member(&body, "lease", ctl_opt(ctl, "lease"));
	ctl_member(&body, "notice", ctl_opt(ctl, "notice"));
	ctl_close(&body);
	return act(ctl, "PUT", "", &body);
}

const struct command cmd_services = {"services", "[put|renew|delete NAME]",
	"list the online services, or change one",
	"\\fBput\\fR makes or changes one (what is not said stays), \\fBrenew\\fR says that it is alive, "
	"\\fBdelete\\fR removes it and its reservations. Only operators make services; the user of one "
	"may change it.",
	options, ARRAY_LEN(options), 0, 2, run};
