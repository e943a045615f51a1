/* SPDX-License-Identifier: MIT
 * print.c - the configuration as a file, as a sample with help, and as a manual page */
#include <string.h>

#include "base/cleanup.h"
#include "conf/option.h"

#define HELP_WIDTH 88

/* Calls for each option between opening and closing its group. */
struct printer {
	struct buf *out;
	const char *group; /* open one, "" = none */
};

static const char *own_name(const struct printer *p, const struct option *o)
{
	return *p->group ? o->path + strlen(p->group) + 1 : o->path;
}

static void close_group(struct printer *p)
{
	if (*p->group)
		buf_str(p->out, "};\n");
	p->group = "";
}

static void open_group(struct printer *p, const char *name)
{
	close_group(p);
	p->group = name;
	if (*name)
		buf_fmt(p->out, "%s: {\n", name);
}

/* @text in lines of HELP_WIDTH, each behind @indent and "# ". */
static void print_comment(struct buf *out, const char *indent, const char *text)
{
	size_t room = HELP_WIDTH - 2 - 8 * strlen(indent);

	while (*text) {
		size_t n = strlen(text);

		if (n > room)
			for (n = room; n > 0 && text[n] != ' '; n--)
				;
		if (!n)
			n = strlen(text);
		buf_fmt(out, "%s# %.*s\n", indent, (int)n, text);
		text += n;
		text += strspn(text, " ");
	}
}

static bool is_bare(const struct option *o)
{
	return o->type == OPTION_BOOL || o->type == OPTION_INT || o->type == OPTION_RATIO ||
		(*o->fallback && !o->fallback[strspn(o->fallback, "0123456789")]);
}

static void sample_option(const struct printer *p, const struct option *o)
{
	const char *indent = *p->group ? "\t" : "";
	_cleanup_buf_ struct buf value = BUF_INIT;
	char help[600], allowed[120];

	snprintf(help, sizeof(help), "%s (%s%s)", o->help,
		option_allowed(o, allowed, sizeof(allowed)), o->reload ? "" : "; needs a restart");
	print_comment(p->out, indent, help);
	if (is_bare(o))
		buf_str(&value, o->fallback);
	else
		text_print(o->fallback, &value);
	buf_fmt(p->out, "%s#%s = %s;\n", indent, own_name(p, o), buf_c(&value));
}

void conf_print_sample(struct buf *ret)
{
	struct printer p = {ret, ""};

	buf_str(ret, "# gq.conf - how gqd lends its cards; gq.conf(5) is the manual.\n"
		     "# Every option stands here with its default. After a change: "
		     "gqd --check-config, then\n# systemctl reload gqd (or kill -HUP).\n");
	for (size_t i = 0; i < conf_n_options; i++) {
		const struct option *o = &conf_options[i];

		if (o->type != OPTION_SECTION) {
			sample_option(&p, o);
			continue;
		}
		close_group(&p);
		buf_chr(ret, '\n');
		print_comment(ret, "", o->help);
		open_group(&p, o->path);
	}
	close_group(&p);
	buf_str(ret, "\n# Online services that hold cards from the start. Others register through the API.\n"
		     "#services: {\n#\tchat: { cards = [\"0\"]; reserve_vram = \"30G\"; lease = \"30s\"; "
		     "notice = \"10s\"; };\n#};\n"
		     "\n# Labels that jobs and reservations can ask for; card is an index or a UUID.\n"
		     "#cards: (\n#\t{ card = \"0\"; labels = [\"a100\", \"nvlink\"]; }\n#);\n");
}

static void print_service(const struct conf_service *sv, struct buf *ret)
{
	buf_fmt(ret, "\t%s: { cards = [", sv->name);
	for (size_t i = 0; sv->cards && sv->cards[i]; i++) {
		buf_str(ret, i ? ", " : "");
		text_print(sv->cards[i], ret);
	}
	buf_str(ret, "]; ");
	for (size_t i = 0; i < conf_n_service_options; i++) {
		buf_fmt(ret, "%s = ", conf_service_options[i].path);
		option_print(&conf_service_options[i], sv, ret);
		buf_str(ret, "; ");
	}
	buf_str(ret, "};\n");
}

static void print_card(const struct conf_card *card, struct buf *ret)
{
	const char *p = card->labels ? card->labels : "";

	buf_str(ret, "\t{ card = ");
	text_print(card->card, ret);
	buf_str(ret, "; labels = [");
	while (*p) {
		size_t n = strcspn(p, ",");

		buf_fmt(ret, "\"%.*s\"", (int)n, p);
		p += n;
		if (*p == ',') {
			buf_str(ret, ", ");
			p++;
		}
	}
	buf_str(ret, "]; }");
}

void conf_print(const struct gq_conf *c, struct buf *ret)
{
	struct printer p = {ret, ""};

	for (size_t i = 0; i < conf_n_options; i++) {
		const struct option *o = &conf_options[i];

		if (o->type == OPTION_SECTION) {
			open_group(&p, o->path);
			continue;
		}
		buf_fmt(ret, "%s%s = ", *p.group ? "\t" : "", own_name(&p, o));
		option_print(o, c, ret);
		buf_str(ret, ";\n");
	}
	close_group(&p);
	buf_str(ret, c->n_services ? "services: {\n" : "");
	for (size_t i = 0; i < c->n_services; i++)
		print_service(&c->services[i], ret);
	buf_str(ret, c->n_services ? "};\n" : "");
	buf_str(ret, c->n_cards ? "cards: (\n" : "");
	for (size_t i = 0; i < c->n_cards; i++) {
		print_card(&c->cards[i], ret);
		buf_str(ret, i + 1 < c->n_cards ? ",\n" : "\n);\n");
	}
}

/* ---- the manual page ---- */

/* Text for troff: a hyphen that is typed stays one, a dot never begins a request. */
static void man_text(struct buf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		buf_str(out, "\\&");
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			buf_chr(out, '\\');
		buf_chr(out, *text == '\\' ? 'e' : *text);
	}
}

static void man_option(const char *prefix, const struct option *o, struct buf *out)
{
	char allowed[120];

	buf_str(out, ".TP\n\\fB");
	man_text(out, prefix);
	man_text(out, o->path);
	buf_str(out, "\\fR = ");
	man_text(out, option_allowed(o, allowed, sizeof(allowed)));
	buf_chr(out, '\n');
	man_text(out, o->help);
	if (*o->fallback) {
		buf_str(out, "\nDefault: ");
		man_text(out, o->fallback);
		buf_chr(out, '.');
	}
	buf_str(out, o->reload ? "\n" : "\nNeeds a restart.\n");
}

void conf_print_man(struct buf *ret)
{
	for (size_t i = 0; i < conf_n_options; i++) {
		const struct option *o = &conf_options[i];

		if (o->type != OPTION_SECTION) {
			man_option("", o, ret);
			continue;
		}
		buf_fmt(ret, ".SS %s%s", o->path, *o->path ? ": " : "");
		man_text(ret, o->help);
		buf_chr(ret, '\n');
	}
	buf_str(ret, ".SS services: Online services that hold cards from the start.\n"
		     ".TP\n\\fBservices.NAME.cards\\fR = an array of cards\n"
		     "Its cards, each by index, UUID or label: [\"0\", \"GPU\\-8f3c...\"].\n");
	for (size_t i = 0; i < conf_n_service_options; i++)
		man_option("services.NAME.", &conf_service_options[i], ret);
	buf_str(ret, ".SS cards: Labels that jobs and reservations can ask for.\n"
		     ".TP\n\\fBcards\\fR = ( { card = \"0\"; labels = [\"a100\", \"nvlink\"]; }, ... )\n"
		     "card is an index or a UUID. Without labels a card is found by a part of its "
		     "model.\n");
}
