/* SPDX-License-Identifier: MIT
 * gqtime.c - clocks and their printed forms */
#include "base/gqtime.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TIME_TEXT 40

static gq_time clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (gq_time)ts.tv_sec * GQ_NS_PER_S + ts.tv_nsec;
}

gq_time gq_now(void)
{
	return clock_ns(CLOCK_REALTIME);
}

gq_time gq_monotonic(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

char *gq_time_iso(gq_time t, char *buf)
{
	time_t s = (time_t)(t / GQ_NS_PER_S);
	struct tm tm;
	size_t n;

	if (t == GQ_NEVER || t == 0) {
		snprintf(buf, TIME_TEXT, "%s", t ? "never" : "-");
		return buf;
	}
	gmtime_r(&s, &tm);
	n = strftime(buf, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, TIME_TEXT - n, ".%03dZ", (int)(t % GQ_NS_PER_S / GQ_NS_PER_MS));
	return buf;
}

char *gq_duration(gq_time d, char *buf)
{
	long long s = d / GQ_NS_PER_S;
	int n = 0;

	if (d == GQ_NEVER) {
		snprintf(buf, TIME_TEXT, "UNLIMITED");
		return buf;
	}
	if (s < 0)
		s = 0;
	if (s >= 86400)
		n = snprintf(buf, TIME_TEXT, "%lld-", s / 86400);
	snprintf(buf + n, TIME_TEXT - (size_t)n, "%02lld:%02lld:%02lld", s / 3600 % 24,
		s / 60 % 60, s % 60);
	return buf;
}
