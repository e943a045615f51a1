/* SPDX-License-Identifier: MIT
 * parse.c - words that people write: sizes, durations, points in time, counts */
#include "base/parse.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/cleanup.h"

#define MAX_DURATION_S INT64_C(3153600000) /* a hundred years */

int parse_int(const char *s, int64_t min, int64_t max, int64_t *ret, struct gq_err *err)
{
	char *end;
	long long v;

	if (!isdigit((unsigned char)s[0]) && !(min < 0 && s[0] == '-' && isdigit((unsigned char)s[1])))
		goto bad;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (*end || errno || v < min || v > max)
		goto bad;
	*ret = v;
	return 0;
bad:
	return gq_err_set(err, -EINVAL, "'%.60s' is not a whole number from %lld to %lld", s,
		(long long)min, (long long)max);
}

int parse_size_mib(const char *s, int64_t *ret_mib, struct gq_err *err)
{
	static const char units[] = "KMGTP";
	const char *unit;
	double v, scale = 1;
	char *end;

	if (!isdigit((unsigned char)s[0]) || strpbrk(s, "xX"))
		goto bad;
	v = strtod(s, &end);
	if (*end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit)
			goto bad;
		end++;
		if (*end && strcasecmp(end, "b") && strcasecmp(end, "ib"))
			goto bad;
		scale = exp2(10.0 * (double)(unit - units) - 10);
	}
	v *= scale;
	if (!(v >= 0) || v > 1e12)
		goto bad;
	*ret_mib = (int64_t)ceil(v);
	return 0;
bad:
	return gq_err_set(err, -EINVAL, "'%.60s' is not a size; write 24G, 512M or a number of MiB", s);
}

static int bad_duration(const char *s, struct gq_err *err)
{
	return gq_err_set(err, -EINVAL,
		"'%.60s' is not a duration; write 90s, 15min, 2h30m, 1d, HH:MM:SS or D-HH:MM", s);
}

/* One "<number><unit>" at *p; adds to *ns. */
static int duration_part(const char **p, gq_time *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ms", 1e6}, {"s", 1e9}, {"sec", 1e9}, {"secs", 1e9}, {"second", 1e9},
		{"seconds", 1e9}, {"m", 60e9}, {"min", 60e9}, {"mins", 60e9}, {"minute", 60e9},
		{"minutes", 60e9}, {"h", 3600e9}, {"hour", 3600e9}, {"hours", 3600e9}, {"d", 86400e9},
		{"day", 86400e9}, {"days", 86400e9}, {"w", 604800e9}, {"week", 604800e9},
		{"weeks", 604800e9}};
	char *end;
	double v;
	size_t n;

	if (!isdigit((unsigned char)**p) || (*p)[1] == 'x' || (*p)[1] == 'X')
		return -EINVAL;
	v = strtod(*p, &end);
	n = strspn(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strlen(units[i].name) != n || strncasecmp(units[i].name, end, n))
			continue;
		v = v * units[i].ns + (double)*ns;
		if (!(v <= (double)MAX_DURATION_S * 1e9))
			return -EINVAL;
		*ns = (gq_time)v;
		*p = end + n;
		return 0;
	}
	return -EINVAL;
}

/* [D-]HH[:MM[:SS]] or MM:SS; the colon forms are Slurm's. */
static int duration_colons(const char *s, gq_time *ret)
{
	int64_t days = 0, v[3] = {0}, total;
	const char *p = s, *dash = strchr(s, '-');
	char *end;
	int n = 0;

	if (dash) {
		days = strtoll(s, &end, 10);
		if (end != dash || !isdigit((unsigned char)s[0]) || days > 36500)
			return -EINVAL;
		p = dash + 1;
	}
	while (n < 3) {
		if (!isdigit((unsigned char)*p))
			return -EINVAL;
		v[n] = strtoll(p, &end, 10);
		if (v[n] > 10000000)
			return -EINVAL;
		n++;
		p = end;
		if (*p != ':')
			break;
		p++;
	}
	if (*p || (!dash && n < 2))
		return -EINVAL;
	if (dash || n == 3)
		total = v[0] * 3600 + v[1] * 60 + v[2];
	else
		total = v[0] * 60 + v[1];
	total += days * 86400;
	if (total > MAX_DURATION_S)
		return -EINVAL;
	*ret = GQ_SEC(total);
	return 0;
}

static int duration_parse(const char *s, gq_time bare_unit, gq_time *ret, struct gq_err *err)
{
	const char *p = s;
	gq_time ns = 0;
	char *end;

	if (!strcasecmp(s, "UNLIMITED") || !strcasecmp(s, "INFINITE") || !strcasecmp(s, "never")) {
		*ret = GQ_NEVER;
		return 0;
	}
	if (s[0] && s[strspn(s, "0123456789.")] == '\0' && isdigit((unsigned char)s[0])) {
		double v = strtod(s, &end);

		if (*end || v * (double)bare_unit > (double)MAX_DURATION_S * 1e9)
			return bad_duration(s, err);
		*ret = (gq_time)(v * (double)bare_unit);
		return 0;
	}
	if (s[0] && s[strspn(s, "0123456789:-")] == '\0')
		return duration_colons(s, ret) < 0 ? bad_duration(s, err) : 0;
	if (!*p)
		return bad_duration(s, err);
	while (*p)
		if (duration_part(&p, &ns) < 0)
			return bad_duration(s, err);
	*ret = ns;
	return 0;
}

int parse_duration(const char *s, gq_time *ret, struct gq_err *err)
{
	return duration_parse(s, GQ_NS_PER_S, ret, err);
}

int parse_duration_minutes(const char *s, gq_time *ret, struct gq_err *err)
{
	return duration_parse(s, GQ_SEC(60), ret, err);
}

static int bad_when(const char *s, struct gq_err *err)
{
	return gq_err_set(err, -EINVAL,
		"'%.60s' is not a time; write now+1hour, 16:00, 2026-12-01T08:00 or @seconds", s);
}

/* The next time of day (local) after @now. */
static gq_time when_of_day(int h, int m, int sec, gq_time now)
{
	time_t t = (time_t)(now / GQ_NS_PER_S);
	struct tm tm;
	gq_time r;

	localtime_r(&t, &tm);
	tm.tm_hour = h;
	tm.tm_min = m;
	tm.tm_sec = sec;
	tm.tm_isdst = -1;
	r = GQ_SEC(mktime(&tm));
	if (r <= now) {
		tm.tm_mday++;
		tm.tm_isdst = -1;
		r = GQ_SEC(mktime(&tm));
	}
	return r;
}

/* "2026-12-01[T08:00[:30][.5]][Z|+HH:MM]" */
static int when_iso(const char *s, gq_time *ret)
{
	int y, mo, d, h = 0, mi = 0, n = 0, sign;
	int zh, zm = 0, used;
	double sec = 0;
	struct tm tm = {0};
	const char *p;

	if (sscanf(s, "%4d-%2d-%2d%n", &y, &mo, &d, &n) != 3 || n != 10)
		return -EINVAL;
	p = s + n;
	if (*p == 'T' || *p == 't' || *p == ' ') {
		if (sscanf(p + 1, "%2d:%2d%n", &h, &mi, &used) != 2 || used != 5)
			return -EINVAL;
		p += 1 + used;
		if (*p == ':') {
			char *end;

			if (!isdigit((unsigned char)p[1]))
				return -EINVAL;
			sec = strtod(p + 1, &end);
			p = end;
		}
	}
	if (y < 1970 || y > 2200 || mo < 1 || mo > 12 || d < 1 || d > 31 || h > 24 || h < 0 ||
		mi < 0 || mi > 59 || !(sec >= 0 && sec < 61))
		return -EINVAL;
	tm = (struct tm){.tm_year = y - 1900, .tm_mon = mo - 1, .tm_mday = d, .tm_hour = h,
		.tm_min = mi, .tm_isdst = -1};
	if (!*p) {
		*ret = GQ_SEC(mktime(&tm)) + (gq_time)(sec * 1e9);
	} else {
		gq_time off = 0;

		if (*p == '+' || *p == '-') {
			sign = *p == '-' ? -1 : 1;
			if (sscanf(p + 1, "%2d:%2d%n", &zh, &zm, &used) != 2 || p[1 + used])
				return -EINVAL;
			off = sign * GQ_SEC(zh * 3600 + zm * 60);
		} else if ((*p != 'Z' && *p != 'z') || p[1]) {
			return -EINVAL;
		}
		*ret = GQ_SEC(timegm(&tm)) + (gq_time)(sec * 1e9) - off;
	}
	return tm.tm_mday == d || h == 24 ? 0 : -EINVAL; /* 31 February */
}

int parse_when(const char *s, gq_time now, gq_time *ret, struct gq_err *err)
{
	int h, m, sec = 0, n = 0;
	gq_time d;

	if (!strcasecmp(s, "now")) {
		*ret = now;
		return 0;
	}
	if (!strncasecmp(s, "now+", 4)) {
		if (parse_duration(s + 4, &d, NULL) < 0 || d == GQ_NEVER)
			return bad_when(s, err);
		*ret = now + d;
		return 0;
	}
	if (s[0] == '@') {
		if (parse_int(s + 1, 0, INT64_C(7258118400), &d, NULL) < 0)
			return bad_when(s, err);
		*ret = GQ_SEC(d);
		return 0;
	}
	if (!strcasecmp(s, "midnight") || !strcasecmp(s, "noon") || !strcasecmp(s, "teatime")) {
		*ret = when_of_day(tolower((unsigned char)s[0]) == 'm' ? 0
				: tolower((unsigned char)s[0]) == 'n' ? 12 : 16, 0, 0, now);
		return 0;
	}
	if (!strcasecmp(s, "tomorrow")) {
		*ret = now + GQ_SEC(86400);
		return 0;
	}
	if (sscanf(s, "%2d:%2d%n:%2d%n", &h, &m, &n, &sec, &n) >= 2 && !s[n]) {
		if (h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 60)
			return bad_when(s, err);
		*ret = when_of_day(h, m, sec, now);
		return 0;
	}
	return when_iso(s, ret) < 0 ? bad_when(s, err) : 0;
}

int parse_bool(const char *s, bool *ret, struct gq_err *err)
{
	static const char *const yes[] = {"true", "yes", "on", "1"};
	static const char *const no[] = {"false", "no", "off", "0"};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (!strcasecmp(s, yes[i]) || !strcasecmp(s, no[i])) {
			*ret = !strcasecmp(s, yes[i]);
			return 0;
		}
	}
	return gq_err_set(err, -EINVAL, "'%.60s' is neither yes nor no", s);
}
