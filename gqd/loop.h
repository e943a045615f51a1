/* SPDX-License-Identifier: MIT
 * loop.h - gqd's one thread: descriptors, timers, signals, and the end of each turn
 * Promises: a callback may remove any watch or timer, its own included; a wall-clock timer follows
 * the clock when somebody sets it; after-turn callbacks run once when all that was ready has been
 * handled, in the order they were added, which is what group commit stands on.
 * Leaves to others: what happens in a turn (daemon.c), connections (api/server.c). */
#ifndef GQD_LOOP_H
#define GQD_LOOP_H

#include "base/err.h"
#include "base/gqtime.h"

struct loop;
struct loop_watch;
struct loop_timer;

/* Also ignores SIGPIPE in this process; who starts children sets it back in them. */
int loop_new(struct loop **ret, struct gq_err *err);
struct loop *loop_free(
	struct loop *l); /* its watches, timers and signals too; returns NULL */

int loop_run(struct loop *l, struct gq_err *err); /* until loop_quit() */
void loop_quit(
	struct loop *l); /* at the end of this turn, after its after-turn callbacks */

/* Level triggered, for reading; the descriptor stays the caller's. Remove before closing it. */
struct loop_watch *loop_watch_fd(
	struct loop *l, int fd, void (*fn)(void *ctx), void *ctx);
/* As above, for writing; a second watch beside one for reading is fine. */
struct loop_watch *loop_watch_write(
	struct loop *l, int fd, void (*fn)(void *ctx), void *ctx);
struct loop_watch *loop_unwatch(struct loop_watch *w); /* NULL allowed; returns NULL */

enum loop_clock { LOOP_WALL, LOOP_MONOTONIC }; /* gq_now(), gq_monotonic() */

/* One shot, armed by loop_timer_at(). Never fires before its deadline on its own clock. */
struct loop_timer *loop_timer_new(
	struct loop *l, enum loop_clock clock, void (*fn)(void *ctx), void *ctx);
void loop_timer_at(
	struct loop_timer *t, gq_time deadline); /* GQ_NEVER = disarm; past = soon */
struct loop_timer *loop_timer_free(struct loop_timer *t); /* NULL allowed; returns NULL */

void loop_after_turn(struct loop *l, void (*fn)(void *ctx), void *ctx);
void loop_signal(struct loop *l, int signo, void (*fn)(void *ctx), void *ctx);

#endif
