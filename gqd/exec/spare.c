/* SPDX-License-Identifier: MIT
 * spare.c - shims that wait for a job, so that what takes time is done before there is one
 * A spare is a shim with its namespaces and mounts made. It has no job, no socket and no record: when
 * its link ends, with gqd, it leaves. Every launch goes to a spare, one made for it if need be. */
#include "private.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/kv.h"

#define SPARES_MAX 4           /* of shims that came back */
#define PAUSE      GQ_MSEC(5) /* after a job has begun: it has the machine first */

static void spare_add(struct exec *x, struct pair *p)
{
	p->next = x->spares;
	x->spares = p;
	x->n_spares++;
}

static void spare_unlink(struct exec *x, struct pair *p)
{
	struct pair **at = &x->spares;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	x->n_spares--;
}

static int spare_make(struct exec *x, struct gq_err *err)
{
	int link, pidfd, r = spawn_shim(x, &link, &pidfd, err);
	struct pair *p;

	if (r < 0)
		return r;
	p = pair_alloc(PAIR_SPARE);
	p->child = true;
	pair_watch(x, p, link, pidfd);
	spare_add(x, p);
	return 0;
}

void spare_plan(struct exec *x)
{
	if (x->spares || x->spare_at != GQ_NEVER)
		return;
	x->spare_at = gq_monotonic() + PAUSE;
	exec_wake(x, PAUSE);
}

/* One that cannot be made is not tried again before a job is started: that one says why. */
void spare_due(struct exec *x)
{
	gq_time left = x->spare_at - gq_monotonic();

	if (x->spare_at == GQ_NEVER)
		return;
	if (left > 0) {
		exec_wake(x, left);
		return;
	}
	x->spare_at = GQ_NEVER;
	if (!x->spares)
		spare_make(x, NULL);
}

void spare_gone(struct exec *x, struct pair *p)
{
	spare_unlink(x, p);
	pair_drop(x, p);
}

/* Outside a capsule a shim whose job has ended is as good as new. The new pair takes over its
 * descriptors; the old one may still be pointed to by events of this turn. */
bool spare_keep(struct exec *x, struct pair *old)
{
	struct pair *p;

	if (!old->stays || !old->child || old->link_fd < 0 || old->pidfd < 0 || x->n_spares >= SPARES_MAX)
		return false;
	p = pair_alloc(PAIR_SPARE);
	p->child = true;
	exec_rewatch(x, old->link_fd, &p->link);
	exec_rewatch(x, old->pidfd, &p->process);
	p->link_fd = TAKE_FD(old->link_fd);
	p->pidfd = TAKE_FD(old->pidfd);
	spare_add(x, p);
	pair_drop(x, old);
	return true;
}

/* The message and the description in one piece: a spare has all of it or nothing. */
static int launch_send(const struct pair *p, int launch_fd)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control = {0};
	struct iovec v;
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	message_begin(&b, "launch");
	v = (struct iovec){b.data, b.len};
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &launch_fd, sizeof(int));
	return sendmsg(p->link_fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* A spare that died meanwhile does not take the message; then the next one does. */
int spare_launch(struct exec *x, int launch_fd, struct pair **ret, struct gq_err *err)
{
	int r = gq_fault("exec.spawn");

	if (r < 0)
		return gq_err_sys(err, r, "start of %s", x->conf.shim);
	for (;;) {
		bool fresh = !x->spares;
		struct pair *p;

		r = fresh ? spare_make(x, err) : 0;
		if (r < 0)
			return r;
		p = x->spares;
		spare_unlink(x, p);
		r = launch_send(p, launch_fd);
		if (r == 0) {
			*ret = p;
			return 0;
		}
		pair_drop(x, p);
		if (fresh)
			return gq_err_sys(err, r, "launch of %s", x->conf.shim);
	}
}
