/* SPDX-License-Identifier: MIT
 * conf.c - reads a file through libconfig into a whole new struct, or says what is wrong with it */
#include "conf/conf.h"

#include <libconfig.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/parse.h"
#include "conf/option.h"

#define PATH_SIZE        200
#define CARDS_MAX        16 /* of one service */
#define SERVICE_NAME_MAX 47 /* bytes */
#define CONF_BYTES_MAX   (1u << 20)

struct reader {
	const char *name; /* borrowed: the file in error lines */
	struct gq_conf conf;
	struct gq_err *err;
};

/* ---- errors: file, line, option, value, what is allowed ---- */

static void setting_path(const config_setting_t *s, char *buf, size_t size)
{
	const config_setting_t *parent = config_setting_parent(s);
	size_t n;

	buf[0] = '\0';
	if (!parent)
		return;
	setting_path(parent, buf, size);
	n = strlen(buf);
	if (!config_setting_name(s))
		snprintf(buf + n, size - n, "[%d]", config_setting_index(s));
	else
		snprintf(buf + n, size - n, n ? ".%.60s" : "%.60s", config_setting_name(s));
}

static const char *setting_file(const struct reader *rd, const config_setting_t *s)
{
	const char *included = config_setting_source_file(s);

	return included ? included : rd->name;
}

/* Puts "FILE:LINE: OPTION: " before what rd->err says. */
static int bad_setting(struct reader *rd, const config_setting_t *s)
{
	char path[PATH_SIZE];

	setting_path(s, path, sizeof(path));
	return gq_err_prefix(rd->err, -EINVAL, "%s:%u: %s", setting_file(rd, s),
		config_setting_source_line(s), path);
}

static int unknown_option(struct reader *rd, const config_setting_t *s)
{
	char path[PATH_SIZE];
	const char *near;

	setting_path(s, path, sizeof(path));
	near = option_nearest(path);
	return gq_err_set(rd->err, -EINVAL, "%s:%u: unknown option %s%s%s%s", setting_file(rd, s),
		config_setting_source_line(s), path, near ? "; did you mean " : "",
		near ? near : "", near ? "?" : "; gq.conf(5) lists them all");
}

static const char *kind_name(const config_setting_t *s)
{
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_BOOL:
		return "true or false";
	case CONFIG_TYPE_STRING:
		return "a text";
	case CONFIG_TYPE_GROUP:
		return "a group { }";
	case CONFIG_TYPE_LIST:
		return "a list ( )";
	case CONFIG_TYPE_ARRAY:
		return "an array [ ]";
	default:
		return "a number";
	}
}

static int wrong_type(struct reader *rd, const config_setting_t *s, const char *wanted)
{
	gq_err_set(rd->err, -EINVAL, "is %s; write %s", kind_name(s), wanted);
	return bad_setting(rd, s);
}

/* ---- values ---- */

/* The value as the text that option_parse() reads; NULL for groups and the like. */
static const char *setting_text(const config_setting_t *s, char *buf, size_t size)
{
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_BOOL:
		return config_setting_get_bool(s) ? "true" : "false";
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		snprintf(buf, size, "%lld", config_setting_get_int64(s));
		return buf;
	case CONFIG_TYPE_FLOAT:
		snprintf(buf, size, "%.9g", config_setting_get_float(s));
		return buf;
	case CONFIG_TYPE_STRING:
		return config_setting_get_string(s);
	default:
		return NULL;
	}
}

static bool type_fits(const struct option *o, int type)
{
	bool whole = type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
	bool number = whole || type == CONFIG_TYPE_FLOAT;

	switch (o->type) {
	case OPTION_BOOL:
		return type == CONFIG_TYPE_BOOL;
	case OPTION_INT:
		return whole;
	case OPTION_RATIO:
		return number;
	case OPTION_WORD:
	case OPTION_FLAG:
	case OPTION_TEXT:
	case OPTION_PATH:
		return type == CONFIG_TYPE_STRING;
	default: /* durations and sizes, with or without a unit */
		return number || type == CONFIG_TYPE_STRING;
	}
}

static int read_option(struct reader *rd, const struct option *o, const config_setting_t *s,
	void *base)
{
	char wanted[200], allowed[120], buf[40];

	if (!type_fits(o, config_setting_type(s))) {
		option_allowed(o, allowed, sizeof(allowed));
		if (strcmp(allowed, option_type_name(o)) != 0)
			snprintf(wanted, sizeof(wanted), "%s: %s", option_type_name(o), allowed);
		else
			str_copy(wanted, sizeof(wanted), allowed);
		return wrong_type(rd, s, wanted);
	}
	if (option_parse(o, setting_text(s, buf, sizeof(buf)), base, rd->err))
		return bad_setting(rd, s);
	return 0;
}

/* A card: "0", "GPU-…", a label, or a bare index. */
static int read_card_name(struct reader *rd, const config_setting_t *s, char **ret)
{
	int type = config_setting_type(s);
	char buf[40];
	const char *text = setting_text(s, buf, sizeof(buf));

	if (type != CONFIG_TYPE_STRING && type != CONFIG_TYPE_INT)
		return wrong_type(rd, s, "the index or UUID of a card, as \"0\"");
	if (!*text || !str_is_clean(text) || text[0] == '-') {
		gq_err_set(rd->err, -EINVAL, "'%.60s' is no card", text);
		return bad_setting(rd, s);
	}
	free(*ret);
	*ret = xstrdup(text);
	return 0;
}

/* ---- services ---- */

static int read_service_cards(struct reader *rd, config_setting_t *s, struct conf_service *sv)
{
	if (!config_setting_is_array(s) && !config_setting_is_list(s))
		return wrong_type(rd, s, "an array of cards, as [\"0\", \"1\"]");
	if (config_setting_length(s) > CARDS_MAX) {
		gq_err_set(rd->err, -EINVAL, "%d cards; allowed: up to %d", config_setting_length(s),
			CARDS_MAX);
		return bad_setting(rd, s);
	}
	for (int i = 0; i < config_setting_length(s); i++) {
		int r = read_card_name(rd, config_setting_get_elem(s, (unsigned)i), &sv->cards[i]);

		if (r)
			return r;
	}
	return 0;
}

static int read_service_field(struct reader *rd, config_setting_t *s, struct conf_service *sv)
{
	const char *name = config_setting_name(s);

	if (!strcmp(name, "cards"))
		return read_service_cards(rd, s, sv);
	for (size_t i = 0; i < conf_n_service_options; i++)
		if (!strcmp(conf_service_options[i].path, name))
			return read_option(rd, &conf_service_options[i], s, sv);
	return unknown_option(rd, s);
}

static int read_service(struct reader *rd, config_setting_t *s)
{
	struct gq_conf *c = &rd->conf;
	struct conf_service *sv;

	if (!config_setting_is_group(s))
		return wrong_type(rd, s, "a group: { cards = [\"0\"]; }");
	if (strlen(config_setting_name(s)) > SERVICE_NAME_MAX) {
		gq_err_set(rd->err, -EINVAL, "the name is too long; allowed: up to %d bytes",
			SERVICE_NAME_MAX);
		return bad_setting(rd, s);
	}
	c->services = xrealloc(c->services, c->n_services + 1, sizeof(*c->services));
	sv = &c->services[c->n_services++];
	*sv = (struct conf_service){.name = xstrdup(config_setting_name(s)),
		.cards = xnew_n(char *, CARDS_MAX + 1)};
	for (int i = 0; i < config_setting_length(s); i++) {
		int r = read_service_field(rd, config_setting_get_elem(s, (unsigned)i), sv);

		if (r)
			return r;
	}
	return 0;
}

static int read_services(struct reader *rd, config_setting_t *s)
{
	if (!config_setting_is_group(s))
		return wrong_type(rd, s, "a group of services: { NAME: { … } }");
	for (int i = 0; i < config_setting_length(s); i++) {
		int r = read_service(rd, config_setting_get_elem(s, (unsigned)i));

		if (r)
			return r;
	}
	return 0;
}

/* ---- labels of cards ---- */

static int read_labels(struct reader *rd, config_setting_t *s, char **ret)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (!config_setting_is_array(s) && !config_setting_is_list(s))
		return wrong_type(rd, s, "an array of words, as [\"a100\", \"nvlink\"]");
	for (int i = 0; i < config_setting_length(s); i++) {
		const char *word = config_setting_get_string_elem(s, i);

		if (!word || !*word || strpbrk(word, ", \t") || !str_is_clean(word)) {
			gq_err_set(rd->err, -EINVAL,
				"a label is a word without blanks and commas, as \"a100\"");
			return bad_setting(rd, s);
		}
		buf_fmt(&b, i ? ",%s" : "%s", word);
	}
	free(*ret);
	*ret = buf_take(&b);
	return 0;
}

static int read_card(struct reader *rd, config_setting_t *s)
{
	struct gq_conf *c = &rd->conf;
	struct conf_card *card;
	int r = 0;

	if (!config_setting_is_group(s))
		return wrong_type(rd, s, "a group: { card = \"0\"; labels = [\"a100\"]; }");
	c->cards = xrealloc(c->cards, c->n_cards + 1, sizeof(*c->cards));
	card = &c->cards[c->n_cards++];
	memset(card, 0, sizeof(*card));
	for (int i = 0; !r && i < config_setting_length(s); i++) {
		config_setting_t *field = config_setting_get_elem(s, (unsigned)i);

		if (!strcmp(config_setting_name(field), "card"))
			r = read_card_name(rd, field, &card->card);
		else if (!strcmp(config_setting_name(field), "labels"))
			r = read_labels(rd, field, &card->labels);
		else
			r = unknown_option(rd, field);
	}
	if (r)
		return r;
	for (size_t i = 0; card->card && i + 1 < c->n_cards; i++)
		if (!strcmp(c->cards[i].card, card->card)) {
			gq_err_set(rd->err, -EINVAL, "card '%.60s' was described before", card->card);
			return bad_setting(rd, s);
		}
	if (card->card)
		return 0;
	gq_err_set(rd->err, -EINVAL, "says not which card; write card = \"0\" (index or UUID)");
	return bad_setting(rd, s);
}

static int read_cards(struct reader *rd, config_setting_t *s)
{
	if (!config_setting_is_list(s))
		return wrong_type(rd, s, "a list: ( { card = \"0\"; labels = [\"a100\"]; } )");
	for (int i = 0; i < config_setting_length(s); i++) {
		int r = read_card(rd, config_setting_get_elem(s, (unsigned)i));

		if (r)
			return r;
	}
	return 0;
}

/* ---- the whole file ---- */

static bool is_section(const char *name)
{
	for (size_t i = 0; i < conf_n_options; i++)
		if (conf_options[i].type == OPTION_SECTION && !strcmp(conf_options[i].path, name))
			return true;
	return false;
}

static int read_setting(struct reader *rd, config_setting_t *s)
{
	const struct option *o;
	char path[PATH_SIZE];

	setting_path(s, path, sizeof(path));
	if (!strcmp(path, "services"))
		return read_services(rd, s);
	if (!strcmp(path, "cards"))
		return read_cards(rd, s);
	o = option_find(path);
	if (o)
		return read_option(rd, o, s, &rd->conf);
	if (!is_section(path))
		return unknown_option(rd, s);
	if (!config_setting_is_group(s))
		return wrong_type(rd, s, "a group { }");
	for (int i = 0; i < config_setting_length(s); i++) {
		int r = read_setting(rd, config_setting_get_elem(s, (unsigned)i));

		if (r)
			return r;
	}
	return 0;
}

static int read_all(struct reader *rd, const char *text, const char *include_dir)
{
	config_setting_t *root;
	config_t config;
	int r = 0;

	config_init(&config);
	if (include_dir)
		config_set_include_dir(&config, include_dir);
	if (!config_read_string(&config, text)) {
		const char *file = config_error_file(&config);

		r = gq_err_set(rd->err, -EINVAL, "%s:%d: %s", file ? file : rd->name,
			config_error_line(&config), config_error_text(&config));
	}
	root = config_root_setting(&config);
	for (int i = 0; !r && i < config_setting_length(root); i++)
		r = read_setting(rd, config_setting_get_elem(root, (unsigned)i));
	config_destroy(&config);
	return r;
}

static int read_conf(const char *text, const char *name, const char *include_dir,
	struct gq_conf *ret, struct gq_err *err)
{
	struct gq_err local = {0}; /* prefixes are put before it, whether the caller cares or not */
	struct reader rd = {.name = name, .err = &local};
	int r;

	conf_default(&rd.conf);
	r = read_all(&rd, text, include_dir);
	if (r) {
		conf_clear(&rd.conf);
		return gq_err_set(err, r, "%s", local.text);
	}
	*ret = rd.conf;
	return 0;
}

int conf_load_string(const char *name, const char *text, struct gq_conf *ret, struct gq_err *err)
{
	if (strstr(text, "@include"))
		return gq_err_set(err, -EINVAL, "%s: @include is understood in files alone", name);
	return read_conf(text, name, NULL, ret, err);
}

int conf_load(const char *path, struct gq_conf *ret, struct gq_err *err)
{
	_cleanup_free_ char *text = NULL, *dir = NULL;
	size_t len;
	char *slash;
	int r;

	if (!path) {
		conf_default(ret);
		return 0;
	}
	r = file_read(path, CONF_BYTES_MAX, &text, &len, err);
	if (r)
		return r;
	if (strlen(text) != len)
		return gq_err_set(err, -EINVAL, "%s: is no text file", path);
	dir = xstrdup(path);
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	return read_conf(text, path, slash ? dir : ".", ret, err);
}
