/* SPDX-License-Identifier: MIT
 * option.c - the rows of options.def: parsed, checked, printed, compared */
#include "conf/option.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"

#define SECTION(name, text) {.path = name, .type = OPTION_SECTION, .help = text},
#define OPTION(name, kind, field, allowed, value, live, text)                                      \
	{.path = name, .type = OPTION_##kind, .offset = offsetof(struct gq_conf, field), allowed,  \
		.fallback = value, .reload = live, .help = text},
#define ANY         .min = 0, .max = 0
#define RANGE(a, b) .min = (a), .max = (b)
#define WORDS(w)    .words = w
#define LIVE        true
#define RESTART     false

const struct option conf_options[] = {
#include "conf/options.def"
};
const size_t conf_n_options = ARRAY_LEN(conf_options);

#define SERVICE(name, kind, field, allowed, text)                                                  \
	{.path = name, .type = OPTION_##kind, .offset = offsetof(struct conf_service, field),      \
		allowed, .fallback = "0", .reload = true, .help = text}
const struct option conf_service_options[] = {
	{.path = "state", .type = OPTION_FLAG, .offset = offsetof(struct conf_service, busy),
		.words = "idle|busy", .fallback = "idle", .reload = true,
		.help = "What it is taken for until it says so itself."},
	{.path = "user", .type = OPTION_TEXT, .offset = offsetof(struct conf_service, user),
		.fallback = "", .reload = true,
		.help = "Who may renew it and reserve for it. Default: root alone."},
	SERVICE("reserve_vram", SIZE, reserve_mib, RANGE(0, 1 << 20),
		"VRAM of each of its cards that is always its own."),
	SERVICE("lease", DURATION, lease, RANGE(0, GQ_SEC(7 * 86400)),
		"The service has to renew within this time, else its cards count as in use; 0 = it need "
		"not."),
	SERVICE("notice", DURATION, notice, RANGE(0, GQ_SEC(7 * 86400)),
		"The least time between a reservation of it and its start. A job that could not leave "
		"within it is not put on its cards; 0 = not said."),
};
const size_t conf_n_service_options = ARRAY_LEN(conf_service_options);

const struct option *option_find(const char *path)
{
	for (size_t i = 0; i < conf_n_options; i++)
		if (conf_options[i].type != OPTION_SECTION && !strcmp(conf_options[i].path, path))
			return &conf_options[i];
	return NULL;
}

/* ---- the option that may have been meant ---- */

#define NEAR_MAX 64 /* longer names are nobody's typing error */

/* Levenshtein, one row at a time. */
static int edit_distance(const char *a, const char *b)
{
	int row[NEAR_MAX + 1];
	size_t n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = (int)j;
	for (size_t i = 1; a[i - 1]; i++) {
		int diagonal = row[0];

		row[0] = (int)i;
		for (size_t j = 1; j <= n; j++) {
			int change = diagonal + (a[i - 1] != b[j - 1]);
			int best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			diagonal = row[j];
			row[j] = change < best ? change : best;
		}
	}
	return row[n];
}

static const char *last_part(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

const char *option_nearest(const char *path)
{
	const char *best = NULL;
	int best_distance = 4;

	if (strlen(path) > NEAR_MAX)
		return NULL;
	for (size_t i = 0; i < conf_n_options; i++) {
		const struct option *o = &conf_options[i];
		int d;

		if (o->type == OPTION_SECTION || strlen(o->path) > NEAR_MAX)
			continue;
		if (!strcmp(last_part(o->path), last_part(path)))
			return o->path; /* the right name in the wrong group */
		d = edit_distance(path, o->path);
		if (d < best_distance) {
			best_distance = d;
			best = o->path;
		}
	}
	return best;
}

/* ---- fields ---- */

/* Numbers in the unit of min and max: permille, ns, MiB, or the index of a word. */
static int64_t field_get(const struct option *o, const void *field)
{
	switch (o->type) {
	case OPTION_BOOL:
	case OPTION_FLAG:
		return *(const bool *)field;
	case OPTION_INT:
		return *(const int *)field;
	case OPTION_WORD:
		return *(const unsigned *)field;
	case OPTION_RATIO:
		return lround(*(const double *)field * 1000);
	default:
		return *(const int64_t *)field;
	}
}

static void field_set(const struct option *o, void *field, int64_t v)
{
	switch (o->type) {
	case OPTION_BOOL:
	case OPTION_FLAG:
		*(bool *)field = v;
		break;
	case OPTION_INT:
		*(int *)field = (int)v;
		break;
	case OPTION_WORD:
		*(unsigned *)field = (unsigned)v;
		break;
	case OPTION_RATIO:
		*(double *)field = (double)v / 1000;
		break;
	default:
		*(int64_t *)field = v;
	}
}

/* ---- values as text ---- */

void duration_print(gq_time d, struct buf *ret)
{
	static const struct {
		const char *unit;
		gq_time ns;
	} units[] = {{"d", GQ_SEC(86400)}, {"h", GQ_SEC(3600)}, {"min", GQ_SEC(60)}, {"s", GQ_SEC(1)},
		{"ms", GQ_MSEC(1)}};

	if (d == GQ_NEVER) {
		buf_str(ret, "never");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (d && d % units[i].ns == 0) {
			buf_fmt(ret, "%lld%s", (long long)(d / units[i].ns), units[i].unit);
			return;
		}
	buf_fmt(ret, "%.9gs", (double)d / GQ_NS_PER_S);
}

void size_print(int64_t mib, struct buf *ret)
{
	bool gib = mib && mib % 1024 == 0;

	buf_fmt(ret, "%lld%c", (long long)(gib ? mib / 1024 : mib), gib ? 'G' : 'M');
}

static void number_print(const struct option *o, int64_t v, struct buf *ret)
{
	switch (o->type) {
	case OPTION_DURATION:
	case OPTION_FILL:
		duration_print(v, ret);
		break;
	case OPTION_SIZE:
		size_print(v, ret);
		break;
	case OPTION_RATIO:
		buf_fmt(ret, v % 100 ? "%.3f" : "%.1f", (double)v / 1000);
		break;
	default:
		buf_fmt(ret, "%lld", (long long)v);
	}
}

/* Copies the word number @i of "a|b|c" and returns true, or false past the end. */
static bool word_at(const char *words, int64_t i, char *buf, size_t size)
{
	size_t n;

	for (; i > 0; i--) {
		words = strchr(words, '|');
		if (!words)
			return false;
		words++;
	}
	n = strcspn(words, "|");
	if (n >= size)
		n = size - 1;
	memcpy(buf, words, n);
	buf[n] = '\0';
	return true;
}

const char *option_type_name(const struct option *o)
{
	static const char *const names[] = {[OPTION_BOOL] = "true or false",
		[OPTION_INT] = "a whole number", [OPTION_RATIO] = "a number",
		[OPTION_DURATION] = "a duration", [OPTION_FILL] = "a duration or a word",
		[OPTION_SIZE] = "a size", [OPTION_WORD] = "a word",
		[OPTION_FLAG] = "a word", [OPTION_TEXT] = "a text",
		[OPTION_PATH] = "an absolute path"};

	return names[o->type];
}

const char *option_allowed(const struct option *o, char *buf, size_t size)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char word[32];

	if (o->words) {
		for (int64_t i = 0; word_at(o->words, i, word, sizeof(word)); i++)
			buf_fmt(&b, i ? ", %s" : "%s", word);
	} else if (o->max) {
		if (o->type == OPTION_FILL)
			buf_str(&b, "small, medium, large, or ");
		number_print(o, o->min, &b);
		buf_str(&b, " to ");
		number_print(o, o->max, &b);
	} else {
		buf_str(&b, option_type_name(o));
	}
	str_copy(buf, size, buf_c(&b));
	return buf;
}

/* ---- text to value ---- */

static int not_allowed(const struct option *o, const char *text, struct gq_err *err)
{
	char allowed[120];

	return gq_err_set(err, -EINVAL, "'%.60s' is not allowed; allowed: %s", text,
		option_allowed(o, allowed, sizeof(allowed)));
}

static int parse_ratio(const char *text, int64_t *ret)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= 1000))
		return -EINVAL;
	*ret = (int64_t)lround(v * 1000);
	return v > 0 && *ret == 0 ? -EINVAL : 0; /* too small to say is not 0 */
}

static int parse_word(const char *words, const char *text, int64_t *ret)
{
	char word[32];

	for (int64_t i = 0; word_at(words, i, word, sizeof(word)); i++)
		if (!strcmp(word, text)) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

static int parse_fill(const char *text, int64_t *ret)
{
	static const int minutes[] = {1, 5, 15};
	int64_t i;

	if (parse_word("small|medium|large", text, &i))
		return parse_duration(text, ret, NULL);
	*ret = GQ_SEC(60 * minutes[i]);
	return 0;
}

static int parse_number(const struct option *o, const char *text, int64_t *ret)
{
	switch (o->type) {
	case OPTION_INT:
		return parse_int(text, o->min, o->max, ret, NULL);
	case OPTION_RATIO:
		return parse_ratio(text, ret);
	case OPTION_DURATION:
		return parse_duration(text, ret, NULL);
	case OPTION_FILL:
		return parse_fill(text, ret);
	case OPTION_SIZE:
		return parse_size_mib(text, ret, NULL);
	default:
		return parse_word(o->words, text, ret);
	}
}

static int parse_text(const struct option *o, const char *text, char **field, struct gq_err *err)
{
	if (!str_is_clean(text) || (!*text && *o->fallback) ||
		(o->type == OPTION_PATH && *text && *text != '/'))
		return not_allowed(o, text, err);
	free(*field);
	*field = *text ? xstrdup(text) : NULL;
	return 0;
}

int option_parse(const struct option *o, const char *text, void *base, struct gq_err *err)
{
	void *field = (char *)base + o->offset;
	int64_t v;

	if (o->type == OPTION_TEXT || o->type == OPTION_PATH)
		return parse_text(o, text, field, err);
	if (o->type == OPTION_BOOL)
		return parse_bool(text, field, NULL) ? not_allowed(o, text, err) : 0;
	if (parse_number(o, text, &v) || (!o->words && (v < o->min || v > o->max)))
		return not_allowed(o, text, err);
	field_set(o, field, v);
	return 0;
}

void text_print(const char *text, struct buf *ret)
{
	buf_chr(ret, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_chr(ret, '\\');
		buf_chr(ret, *text);
	}
	buf_chr(ret, '"');
}

void option_print(const struct option *o, const void *base, struct buf *ret)
{
	const void *field = (const char *)base + o->offset;
	_cleanup_buf_ struct buf b = BUF_INIT;
	char word[32];

	if (o->type == OPTION_BOOL) {
		buf_str(ret, field_get(o, field) ? "true" : "false");
		return;
	}
	if (o->type == OPTION_INT || o->type == OPTION_RATIO) {
		number_print(o, field_get(o, field), ret);
		return;
	}
	if (o->words)
		buf_str(&b, word_at(o->words, field_get(o, field), word, sizeof(word)) ? word : "");
	else if (o->type == OPTION_TEXT || o->type == OPTION_PATH)
		buf_str(&b, *(char *const *)field ? *(char *const *)field : "");
	else
		number_print(o, field_get(o, field), &b);
	text_print(buf_c(&b), ret);
}

bool option_same(const struct option *o, const struct gq_conf *a, const struct gq_conf *b)
{
	const char *x = (const char *)a + o->offset, *y = (const char *)b + o->offset;

	if (o->type == OPTION_TEXT || o->type == OPTION_PATH) {
		const char *s = *(char *const *)x, *t = *(char *const *)y;

		return s == t || (s && t && !strcmp(s, t));
	}
	return field_get(o, x) == field_get(o, y);
}
