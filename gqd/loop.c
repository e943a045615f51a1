/* SPDX-License-Identifier: MIT
 * loop.c - libevent behind a handful of functions */
#include "loop.h"

#include <assert.h>
#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"

/* One kind serves descriptors and signals. */
struct loop_watch {
	struct loop *loop; /* borrowed */
	struct loop_watch *next, **link;
	struct event *event; /* owned */
	void (*fn)(void *ctx);
	void *ctx;
};

struct loop_timer {
	struct loop *loop;        /* borrowed */
	struct loop_watch *watch; /* owned */
	int fd;
	clockid_t clock;
	gq_time deadline;
	struct loop_timer *next, **link;
	void (*fn)(void *ctx);
	void *ctx;
};

struct after {
	void (*fn)(void *ctx);
	void *ctx;
};

struct loop {
	struct event_base *base; /* owned */
	struct loop_watch *watches;
	struct loop_timer *timers;
	struct after after[8];
	size_t n_after;
	bool quit;
};

int loop_new(struct loop **ret, struct gq_err *err)
{
	struct loop *l = xnew(struct loop);

	l->base = event_base_new();
	if (!l->base) {
		free(l);
		return gq_err_set(err, -ENOMEM, "loop: cannot make an event base");
	}
	signal(SIGPIPE, SIG_IGN);
	*ret = l;
	return 0;
}

struct loop *loop_free(struct loop *l)
{
	if (!l)
		return NULL;
	while (l->timers)
		loop_timer_free(l->timers);
	while (l->watches)
		loop_unwatch(l->watches);
	event_base_free(l->base);
	free(l);
	return NULL;
}

int loop_run(struct loop *l, struct gq_err *err)
{
	l->quit = false;
	while (!l->quit) {
		if (event_base_loop(l->base, EVLOOP_ONCE) < 0)
			return gq_err_set(err, -EIO, "loop: waiting for events failed");
		for (size_t i = 0; i < l->n_after; i++)
			l->after[i].fn(l->after[i].ctx);
	}
	return 0;
}

void loop_quit(struct loop *l)
{
	l->quit = true;
}

void loop_after_turn(struct loop *l, void (*fn)(void *ctx), void *ctx)
{
	assert(l->n_after < ARRAY_LEN(l->after));
	l->after[l->n_after++] = (struct after){.fn = fn, .ctx = ctx};
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct loop_watch *w = arg;

	(void)fd;
	(void)what;
	w->fn(w->ctx); /* w may be gone afterwards */
}

static struct loop_watch *watch_add(
	struct loop *l, int fd, short what, void (*fn)(void *ctx), void *ctx)
{
	struct loop_watch *w = xnew(struct loop_watch);

	*w = (struct loop_watch){.loop = l, .fn = fn, .ctx = ctx};
	w->event = event_new(l->base, fd, what | EV_PERSIST, on_watch, w);
	if (!w->event || event_add(w->event, NULL) < 0)
		abort(); /* no memory, or a descriptor that is not open: ours to get right */
	w->next = l->watches;
	if (w->next)
		w->next->link = &w->next;
	w->link = &l->watches;
	l->watches = w;
	return w;
}

struct loop_watch *loop_watch_fd(struct loop *l, int fd, void (*fn)(void *ctx), void *ctx)
{
	return watch_add(l, fd, EV_READ, fn, ctx);
}

struct loop_watch *loop_watch_write(
	struct loop *l, int fd, void (*fn)(void *ctx), void *ctx)
{
	return watch_add(l, fd, EV_WRITE, fn, ctx);
}

void loop_signal(struct loop *l, int signo, void (*fn)(void *ctx), void *ctx)
{
	watch_add(l, signo, EV_SIGNAL, fn, ctx);
}

struct loop_watch *loop_unwatch(struct loop_watch *w)
{
	if (!w)
		return NULL;
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	event_free(w->event);
	free(w);
	return NULL;
}

static void timer_arm(struct loop_timer *t, gq_time deadline)
{
	int flags = TFD_TIMER_ABSTIME |
		    (t->clock == CLOCK_REALTIME ? TFD_TIMER_CANCEL_ON_SET : 0);
	struct itimerspec at = {0};

	t->deadline = deadline;
	if (deadline != GQ_NEVER) {
		if (deadline <= 0)
			deadline = 1; /* zero would disarm */
		at.it_value.tv_sec = deadline / GQ_NS_PER_S;
		at.it_value.tv_nsec = deadline % GQ_NS_PER_S;
	} else {
		flags = TFD_TIMER_ABSTIME;
	}
	/* ECANCELED: the clock was set just before; the new deadline is armed all the same. */
	if (timerfd_settime(t->fd, flags, &at, NULL) < 0 && errno != ECANCELED)
		abort();
}

/* The kernel wakes a CANCEL_ON_SET timer when somebody sets the clock; then it is armed again. */
static void timer_ready(void *ctx)
{
	struct loop_timer *t = ctx;
	uint64_t ticks;
	ssize_t n = read(t->fd, &ticks, sizeof(ticks));
	struct timespec now;

	if (n < 0 && errno == EAGAIN)
		return;
	clock_gettime(t->clock, &now);
	if (GQ_SEC(now.tv_sec) + now.tv_nsec < t->deadline) {
		timer_arm(t, t->deadline);
		return;
	}
	loop_timer_at(t, GQ_NEVER);
	t->fn(t->ctx); /* t may be gone afterwards */
}

struct loop_timer *loop_timer_new(
	struct loop *l, enum loop_clock clock, void (*fn)(void *ctx), void *ctx)
{
	struct loop_timer *t = xnew(struct loop_timer);

	*t = (struct loop_timer){.loop = l, .deadline = GQ_NEVER, .fn = fn, .ctx = ctx};
	t->clock = clock == LOOP_WALL ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	t->fd = timerfd_create(t->clock, TFD_CLOEXEC | TFD_NONBLOCK);
	if (t->fd < 0)
		abort();
	t->watch = loop_watch_fd(l, t->fd, timer_ready, t);
	t->next = l->timers;
	if (t->next)
		t->next->link = &t->next;
	t->link = &l->timers;
	l->timers = t;
	return t;
}

void loop_timer_at(struct loop_timer *t, gq_time deadline)
{
	if (deadline != t->deadline)
		timer_arm(t, deadline);
}

struct loop_timer *loop_timer_free(struct loop_timer *t)
{
	if (!t)
		return NULL;
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	loop_unwatch(t->watch);
	close(t->fd);
	free(t);
	return NULL;
}
