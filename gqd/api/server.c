/* SPDX-License-Identifier: MIT
 * server.c - who may connect, when held replies go out, who is woken
 * Promises: out of descriptors or connections means that newcomers wait in the kernel's queue, not
 * that anybody is dropped; a user at its own limit is told so. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "conn.h"
#include "gqd/core/core.h"
#include "gqd/loop.h"

#define BACKLOG          4096
#define ACCEPTS_PER_TURN 64
#define CONNS_MAX        16384
#define FDS_FOR_OTHERS   256 /* shims, database, cards: never used for clients */
#define SWEEP_PERIOD     GQ_SEC(1)
#define ACCEPT_PAUSE     GQ_MSEC(200)

/* --- users and connections ------------------------------------------------------------------ */

static struct usage *usage_get(struct api *api, uid_t uid)
{
	uint64_t key = (uint64_t)uid + 1;
	struct usage *u = map_get(&api->usages, key);

	if (!u) {
		u = xnew(struct usage);
		u->uid = uid;
		map_put(&api->usages, key, u);
	}
	return u;
}

static void usage_put(struct api *api, struct usage *u)
{
	if (u->n_conns == 0) {
		map_del(&api->usages, (uint64_t)u->uid + 1);
		free(u);
	}
}

static int peer_of(int fd, struct api_peer *ret)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	gid_t few[64], *groups = few;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	*ret = (struct api_peer){.uid = cred.uid, .gid = cred.gid, .pid = cred.pid};
	len = sizeof(few);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, few, &len) < 0) {
		if (errno != ERANGE)
			return 0; /* an old kernel: without supplementary groups */
		groups = xmalloc(len);
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0) {
			free(groups);
			return 0;
		}
	}
	ret->n_groups = len / sizeof(gid_t);
	if (groups == few) {
		groups = xmalloc(len + 1);
		memcpy(groups, few, len);
	}
	ret->groups = groups;
	return 0;
}

static void count_refused(struct api *api, const char *why)
{
	gq_time now = gq_monotonic();

	api->refused++;
	if (api->refused_told && now < api->refused_told + GQ_SEC(60))
		return;
	log_warn("api: %u connection%s refused or delayed: %s", api->refused,
		api->refused == 1 ? "" : "s", why);
	api->refused_told = now;
	api->refused = 0;
}

static void refuse_conn(struct api *api, int fd)
{
	static const char body[] =
		"{\"error\":{\"code\":\"EAGAIN\",\"message\":\"your user has too many connections open here\"}}";
	char text[400];
	int n = snprintf(text, sizeof(text),
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		sizeof(body) - 1, body);

	count_refused(api, "one user has too many open");
	if (send(fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("api: a refused peer is gone already");
	close(fd);
}

static void add_conn(struct api *api, int fd)
{
	struct api_peer peer;
	struct usage *u;
	struct conn *c;

	if (peer_of(fd, &peer) < 0) {
		close(fd);
		return;
	}
	u = usage_get(api, peer.uid);
	if (u->n_conns >= api->max_user_conns && peer.uid != 0) {
		free((void *)peer.groups);
		refuse_conn(api, fd);
		return;
	}
	u->n_conns++;
	api->n_conns++;
	c = conn_new(api, fd, &peer, u);
	c->next = api->conns;
	if (c->next)
		c->next->link = &c->next;
	c->link = &api->conns;
	api->conns = c;
}

static void on_accept(void *ctx);

static void accept_pause(struct api *api, gq_time until)
{
	api->accepting = loop_unwatch(api->accepting);
	api->accept_again = until;
}

static void accept_resume(struct api *api)
{
	if (!api->accepting && api->n_conns < api->max_conns)
		api->accepting = loop_watch_fd(api->loop, api->fd, on_accept, api);
}

static void on_accept(void *ctx)
{
	struct api *api = ctx;

	if (api->n_conns == 0)
		loop_timer_at(api->sweep, gq_monotonic() + SWEEP_PERIOD);
	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd;

		if (api->n_conns >= api->max_conns) {
			count_refused(api, "all connections are taken");
			accept_pause(api, 0);
			return;
		}
		fd = accept4(api->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			add_conn(api, fd);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
			   errno == ENOBUFS) {
			count_refused(api, strerror(errno));
			accept_pause(api, gq_monotonic() + ACCEPT_PAUSE);
			loop_timer_at(api->sweep, api->accept_again);
			return;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			return;
		}
	}
}

void api_conn_gone(struct api *api, struct conn *c)
{
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	if (c->pump_link) {
		*c->pump_link = c->pump_next;
		if (c->pump_next)
			c->pump_next->pump_link = c->pump_link;
	}
	api->n_conns--;
	c->usage->n_conns--;
	usage_put(api, c->usage);
	if (api->accept_again == 0)
		accept_resume(api);
}

/* --- turns ---------------------------------------------------------------------------------- */

void api_wants_pump(struct conn *c)
{
	struct api *api = c->api;

	if (c->pump_link)
		return;
	c->pump_next = api->to_pump;
	if (c->pump_next)
		c->pump_next->pump_link = &c->pump_next;
	c->pump_link = &api->to_pump;
	api->to_pump = c;
}

static void pump_all(struct api *api)
{
	while (api->to_pump) {
		struct conn *c = api->to_pump;

		api->to_pump = c->pump_next;
		if (api->to_pump)
			api->to_pump->pump_link = &api->to_pump;
		c->pump_link = NULL;
		conn_pump(c);
	}
}

static struct req *unlink_wait(struct req *q)
{
	*q->wait_link = q->wait_next;
	if (q->wait_next)
		q->wait_next->wait_link = q->wait_link;
	q->wait_link = NULL;
	return q;
}

void api_flush(struct api *api)
{
	while (api->held) {
		struct req *q = unlink_wait(api->held);

		q->state = REQ_READY;
		api_wants_pump(q->conn);
	}
	pump_all(api);
}

void api_fail(struct api *api, int code, const char *text)
{
	bool full = code == -ENOSPC || code == -EDQUOT;

	while (api->held) {
		struct req *q = unlink_wait(api->held);

		buf_reset(&q->reply);
		q->version = 0;
		req_error(q, full ? 507 : 503, req_code_name(code), text);
		api_wants_pump(q->conn);
	}
	pump_all(api);
}

/* Calls the handler again; it replies or parks once more. */
static void ask_again(struct req *q)
{
	unlink_wait(q);
	q->state = REQ_OPEN;
	q->handler(q);
	assert(q->state != REQ_OPEN);
	conn_count(q->conn);
	if (q->state == REQ_READY)
		api_wants_pump(q->conn);
}

static void wake(struct api *api, bool changed)
{
	const struct core *core = api->host->core(api->host->ctx);
	gq_time now = gq_monotonic();
	struct req *next;

	for (struct req *q = api->parked; q; q = next) {
		const struct job *j = q->wait_job ? core_job(core, q->wait_job) : NULL;
		uint64_t version =
			q->wait_job ? (j ? j->version : UINT64_MAX) : core_version(core);

		next = q->wait_next;
		if (now < q->wait_until && (!changed || version <= q->wait_version))
			continue;
		if (conn_user_is_full(q->conn)) {
			q->wait_until = now; /* the next sweep, when some of it was read */
			continue;
		}
		ask_again(q);
	}
	pump_all(api);
}

void api_wake(struct api *api)
{
	if (api->parked)
		wake(api, true);
}

static void on_sweep(void *ctx)
{
	struct api *api = ctx;
	gq_time now = gq_monotonic();
	struct conn *next;

	if (api->parked)
		wake(api, false);
	for (struct conn *c = api->conns; c; c = next) {
		next = c->next;
		conn_sweep(c, now);
	}
	if (now >= api->accept_again) {
		api->accept_again = 0;
		accept_resume(api);
	}
	if (api->conns || !api->accepting)
		loop_timer_at(api->sweep, now + SWEEP_PERIOD);
}

static void on_resume(void *ctx)
{
	struct api *api = ctx;
	struct conn *next;

	for (struct conn *c = api->conns; c; c = next) {
		next = c->next;
		conn_resume(c);
	}
}

/* --- the socket ----------------------------------------------------------------------------- */

static int remove_stale(const struct sockaddr_un *at, struct gq_err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (lstat(at->sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return gq_err_set(
			err, -EEXIST, "%s: exists and is not a socket", at->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return gq_err_sys(err, -errno, "socket");
	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0 || errno == EAGAIN)
		return gq_err_set(
			err, -EADDRINUSE, "%s: another gqd serves it", at->sun_path);
	unlink(at->sun_path);
	return 0;
}

static int listen_at(const char *path, int *ret, struct gq_err *err)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int r;

	if (strlen(path) >= sizeof(at.sun_path))
		return gq_err_set(err, -ENAMETOOLONG,
			"%s: a socket's path has at most %zu bytes", path,
			sizeof(at.sun_path) - 1);
	str_copy(at.sun_path, sizeof(at.sun_path), path);
	r = remove_stale(&at, err);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return gq_err_sys(err, -errno, "socket");
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return gq_err_sys(err, -errno, "%s", path);
	if (chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0)
		return gq_err_sys(err, -errno, "%s", path);
	*ret = TAKE_FD(fd);
	return 0;
}

int api_new(const struct api_host *host, struct loop *loop, const char *path,
	struct api **ret, struct gq_err *err)
{
	struct rlimit files = {1024, 1024};
	struct api *api;
	int fd, r;

	r = listen_at(path, &fd, err);
	if (r < 0)
		return r;
	api = xnew(struct api);
	api->host = host;
	api->loop = loop;
	api->path = xstrdup(path);
	api->fd = fd;
	api->started_at = host->now(host->ctx);
	getrlimit(RLIMIT_NOFILE, &files);
	api->max_conns = files.rlim_cur > CONNS_MAX + FDS_FOR_OTHERS ? CONNS_MAX
			 : files.rlim_cur > 2 * FDS_FOR_OTHERS
				 ? (uint32_t)files.rlim_cur - FDS_FOR_OTHERS
				 : (uint32_t)files.rlim_cur / 2;
	api->max_user_conns = api->max_conns / 4;
	api->sweep = loop_timer_new(loop, LOOP_MONOTONIC, on_sweep, api);
	api->resume = loop_timer_new(loop, LOOP_MONOTONIC, on_resume, api);
	accept_resume(api);
	*ret = api;
	return 0;
}

struct api *api_free(struct api *api)
{
	if (!api)
		return NULL;
	api->accept_again = 1; /* freed connections make no room any more */
	while (api->conns)
		conn_free(api->conns);
	loop_unwatch(api->accepting);
	loop_timer_free(api->sweep);
	loop_timer_free(api->resume);
	close(api->fd);
	unlink(api->path);
	map_clear(&api->usages);
	buf_clear(&api->spare);
	free(api->path);
	free(api);
	return NULL;
}
