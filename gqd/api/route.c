/* SPDX-License-Identifier: MIT
 * route.c - from method and path to the handler, by the one table of routes */
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "http.h"
#include "request.h"

static void (*const handlers[])(struct req *q) = {
#define API_ROUTE(method, path, handler, query, body, reply, list, help) api_do_##handler,
#include "api/routes.def"
#undef API_ROUTE
};

/* 1 = @path fits @pattern; what stood for {} is in q->arg. 0 = it does not, -EINVAL = bad %XX. */
static int path_match(const char *pattern, const char *path, struct req *q)
{
	const char *hole = strstr(pattern, "{}");
	size_t before = hole ? (size_t)(hole - pattern) : strlen(pattern), n;

	if (strncmp(path, pattern, before) != 0)
		return 0;
	path += before;
	if (!hole)
		return *path == '\0';
	n = strcspn(path, "/");
	if (n == 0 || strcmp(path + n, hole + 2) != 0)
		return 0;
	return http_unquote(path, n, q->arg, sizeof(q->arg)) ? 1 : -EINVAL;
}

static bool is_listed(const char *list, const char *name, size_t n)
{
	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		if (strncmp(list, name, n) == 0 && (list[n] == ',' || list[n] == '\0'))
			return true;
	}
	return false;
}

static int check_query(const struct req *q, const struct api_route *r, struct gq_err *err)
{
	size_t len;

	for (const char *p = q->query; *p; p += len + (p[len] == '&')) {
		size_t n = strcspn(p, "=&");

		len = strcspn(p, "&");
		if (!is_listed(r->query, p, n))
			return gq_err_set(err, -EINVAL, "unknown query parameter '%.*s'",
				n > 40 ? 40 : (int)n, p);
	}
	return 0;
}

static void run(struct req *q, size_t i)
{
	struct gq_err err = {0};

	if (check_query(q, &api_routes[i], &err) < 0) {
		req_fail(q, -EINVAL, &err);
		return;
	}
	q->handler = handlers[i];
	q->handler(q);
}

static void allow(struct req *q, const char *method)
{
	size_t n = strlen(q->allow);

	str_copy(q->allow + n, sizeof(q->allow) - n, n ? ", " : "");
	n = strlen(q->allow);
	str_copy(q->allow + n, sizeof(q->allow) - n, method);
}

void route_dispatch(struct req *q, const char *path)
{
	char text[200];

	for (size_t i = 0; i < api_n_routes; i++) {
		int r = path_match(api_routes[i].path, path, q);

		if (r < 0) {
			req_error(
				q, 400, "EINVAL", "the path is badly quoted or too long");
			return;
		}
		if (r > 0 && strcmp(api_routes[i].method, q->method) == 0) {
			q->allow[0] = '\0';
			run(q, i);
			return;
		}
		if (r > 0)
			allow(q, api_routes[i].method);
	}
	if (q->allow[0]) {
		snprintf(text, sizeof(text), "%s cannot be done to it: %s can", q->method,
			q->allow);
		req_error(q, 405, "EOPNOTSUPP", text);
		return;
	}
	snprintf(text, sizeof(text), "no such path: %.120s (see /v1/openapi.json)", path);
	req_error(q, 404, "ENOENT", text);
}
