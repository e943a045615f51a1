/* SPDX-License-Identifier: MIT
 * adopt.c - what lies about after a restart and belongs to nobody */
#include "private.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A shim that the core knows nothing of: its capsule ends, and so does it. */
static bool stray_kill(struct exec *x, uint32_t job, uint32_t inc)
{
	static const char *const orders[] = {"kill", "forget"};
	_cleanup_buf_ struct buf b = BUF_INIT;
	char path[PATH_MAX];
	struct pair *p = pair_new(x, job, inc);
	bool alive = pair_connect(x, p) == 0;

	for (size_t i = 0; alive && i < ARRAY_LEN(orders); i++) {
		buf_reset(&b);
		message_begin(&b, orders[i]);
		pair_tell(x, p, &b);
	}
	pair_del(x, p);
	if (!alive)
		unlink(path_socket(x, path, job, inc));
	return alive;
}

static int strays(struct exec *x)
{
	_cleanup_closedir_ DIR *d = NULL;
	char path[PATH_MAX];
	struct dirent *e;
	int n = 0;

	snprintf(path, sizeof(path), "%s/shim", x->conf.run_dir);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		unsigned job, inc;
		char tail;

		if (sscanf(e->d_name, "%u.%u.soc%c", &job, &inc, &tail) == 3 && tail == 'k' &&
			!pair_get(x, job, inc))
			n += stray_kill(x, job, inc);
	}
	return n;
}

static void job_garbage(struct exec *x, const char *dir, unsigned job)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	char path[PATH_MAX + 600];
	struct dirent *e;
	unsigned inc;

	while (d && (e = readdir(d))) {
		struct pair *p;

		if (sscanf(e->d_name, "tmp.%u", &inc) != 1)
			continue;
		p = pair_get(x, job, inc);
		if (p && p->state != PAIR_ENDED)
			continue; /* a dump may be at work */
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		exec_remove(x, path);
	}
}

/* Images that were never published, or were on their way out. */
static void image_garbage(struct exec *x)
{
	_cleanup_closedir_ DIR *d = opendir(x->conf.image_dir);
	char path[PATH_MAX + 300];
	struct dirent *e;

	while (d && (e = readdir(d))) {
		unsigned job;

		snprintf(path, sizeof(path), "%s/%s", x->conf.image_dir, e->d_name);
		if (!strncmp(e->d_name, "drop.", 5))
			exec_remove(x, path);
		else if (sscanf(e->d_name, "%u", &job) == 1)
			job_garbage(x, path, job);
	}
}

int exec_adopt_done(struct exec *x)
{
	int n = strays(x);

	image_garbage(x);
	return n;
}

static void each_number(const char *dir, void (*fn)(void *ctx, uint32_t job), void *ctx)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *end;
		unsigned long job = strtoul(e->d_name, &end, 10);

		if (job && job <= UINT32_MAX && !*end)
			fn(ctx, (uint32_t)job);
	}
}

void exec_each_left(struct exec *x, void (*fn)(void *ctx, uint32_t job), void *ctx)
{
	char spool[PATH_MAX];

	snprintf(spool, sizeof(spool), "%s/spool", x->conf.state_dir);
	each_number(spool, fn, ctx);
	each_number(x->conf.image_dir, fn, ctx);
}
