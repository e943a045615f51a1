/* SPDX-License-Identifier: MIT
 * conf_value.c - a gq_conf without its file: defaults, single options, differences, end */
#include <assert.h>
#include <string.h>

#include "base/cleanup.h"
#include "conf/option.h"

void conf_default(struct gq_conf *c)
{
	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < conf_n_options; i++) {
		const struct option *o = &conf_options[i];
		int r = o->type == OPTION_SECTION || !*o->fallback ?
				0 :
				option_parse(o, o->fallback, c, NULL);

		assert(r == 0); /* the table is wrong */
		(void)r;
	}
}

void conf_clear(struct gq_conf *c)
{
	for (size_t i = 0; i < conf_n_options; i++)
		if (conf_options[i].type == OPTION_TEXT || conf_options[i].type == OPTION_PATH)
			free(*(char **)((char *)c + conf_options[i].offset));
	for (size_t i = 0; i < c->n_services; i++) {
		struct conf_service *sv = &c->services[i];

		for (size_t k = 0; sv->cards && sv->cards[k]; k++)
			free(sv->cards[k]);
		free(sv->cards);
		free(sv->name);
		free(sv->user);
	}
	for (size_t i = 0; i < c->n_cards; i++) {
		free(c->cards[i].card);
		free(c->cards[i].labels);
	}
	free(c->services);
	free(c->cards);
	memset(c, 0, sizeof(*c));
}

int conf_set(struct gq_conf *c, const char *option, const char *text, struct gq_err *err)
{
	const struct option *o = option_find(option);
	const char *near;

	if (o) {
		int r = option_parse(o, text, c, err);

		return r ? gq_err_prefix(err, r, "%s", option) : 0;
	}
	near = option_nearest(option);
	return gq_err_set(err, -EINVAL, "unknown option %.60s%s%s%s", option,
		near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

void conf_not_reloadable(const struct gq_conf *old, const struct gq_conf *new, struct buf *ret)
{
	const char *comma = "";

	for (size_t i = 0; i < conf_n_options; i++) {
		const struct option *o = &conf_options[i];

		if (o->type == OPTION_SECTION || o->reload || option_same(o, old, new))
			continue;
		buf_fmt(ret, "%s%s", comma, o->path);
		comma = ", ";
	}
}
