/* SPDX-License-Identifier: MIT
 * api.h - tells and listens: HTTP + JSON on a unix socket, who asks known by peer credentials
 * A request that changes something is carried to the core at once, but its reply is held until the
 * daemon says that the turn is on disk; a request that only reads is answered at once. All requests
 * of one turn, also those pipelined on one connection, so share one commit.
 * Promises: never blocks; a slow, broken or greedy client costs only itself; a refused request
 * changed nothing and is answered with one clear line; replies of one connection keep their order.
 * Leaves to others: deciding (core), remembering and doing (the daemon, through struct api_host). */
#ifndef GQD_API_API_H
#define GQD_API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/gqtime.h"

struct api;
struct api_grade;
struct core;
struct event;
struct eviction;
struct audit;
struct job;
struct job_spec;
struct loop;

struct api_peer {
	uid_t uid;
	gid_t gid;
	pid_t pid;           /* at connect time; for the log only */
	const gid_t *groups; /* supplementary; borrowed from the connection */
	size_t n_groups;
};

/* As the store's filter; the daemon hands it on. */
struct api_filter {
	uint32_t job;         /* 0 = all */
	uid_t uid;            /* (uid_t)-1 = all */
	int kind;             /* history: enum audit_kind, -1 = all */
	uint32_t id;          /* history: of that kind, 0 = all */
	gq_time since, until; /* 0 = no bound */
	uint32_t limit;       /* newest first */
};

typedef void (*api_finding_fn)(void *ctx, const char *what, bool ok, bool essential,
	const char *text, const char *cure); /* cure: NULL when nothing is to be done */

/* What the server needs of the daemon. All are called from the loop, and may not call back into
 * api_flush/api_fail/api_wake. Errors as core_step() and the store give them. */
struct api_host {
	void *ctx;
	const struct core *(*core)(void *ctx);
	/* Runs core_step() now; the reply waits for the turn's commit. */
	int (*step)(void *ctx, struct event *ev, struct gq_err *err);
	/* EV_SUBMIT, and the whole specification kept with the row. With @test_only nothing is kept
	 * and err->text says what would happen. */
	int (*submit)(void *ctx, const struct job_spec *spec, const struct api_peer *peer,
		bool test_only, uint32_t *ret_job, struct gq_err *err);
	/* A job that is no longer in the core's memory; the caller job_clear()s it. */
	int (*stored_job)(void *ctx, uint32_t id, struct job *ret, struct gq_err *err);
	int (*spec_json)(
		void *ctx, uint32_t id, char **ret, size_t *ret_len, struct gq_err *err);
	int (*each_job)(void *ctx, const struct api_filter *f,
		void (*fn)(void *fn_ctx, const struct job *row), void *fn_ctx,
		struct gq_err *err);
	int (*each_eviction)(void *ctx, const struct api_filter *f,
		void (*fn)(void *fn_ctx, const struct eviction *row), void *fn_ctx,
		struct gq_err *err);
	int (*each_audit)(void *ctx, const struct api_filter *f,
		void (*fn)(void *fn_ctx, const struct audit *row), void *fn_ctx,
		struct gq_err *err);
	void (*doctor)(void *ctx, api_finding_fn fn, void *fn_ctx);
	void (*shutdown)(void *ctx); /* as SIGTERM; the reply still goes out */
	bool (*is_operator)(
		void *ctx, const struct api_peer *peer); /* root or the operator group */
	gq_time (*now)(void *ctx);
	/* Lent until the next turn; NULL = not known. The function may be missing. */
	const struct api_grade *(*grade)(void *ctx, uint32_t job);
};

/* Listens on @path (mode 0666). A socket that nobody serves is replaced; -EADDRINUSE when somebody
 * does. @host and @loop must outlive it. */
int api_new(const struct api_host *host, struct loop *loop, const char *path,
	struct api **ret, struct gq_err *err);
struct api *api_free(
	struct api *api); /* closes all connections, removes the socket; returns NULL */

/* At the end of every turn, once what changed is on disk (or nothing had changed): sends the held
 * replies. */
void api_flush(struct api *api);
/* Instead, when the commit failed: every held reply becomes 507 (-ENOSPC, -EDQUOT) or 503 with
 * @text. */
void api_fail(struct api *api, int code, const char *text);
/* After each commit that changed jobs: answers the long polls whose job's version grew. */
void api_wake(struct api *api);

#endif
