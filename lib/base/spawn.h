/* SPDX-License-Identifier: MIT
 * spawn.h - fork straight into a cgroup, and programs that must not inherit what we hold
 * Meant for small single-threaded programs (gq-shim); gqd itself starts programs with clone + exec
 * in gqd/exec/spawn.c, because copying a large process is slow. */
#ifndef GQ_BASE_SPAWN_H
#define GQ_BASE_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

/* As fork(), but the child begins its life in the cgroup @cgroup_fd (-1 = ours) and in the new
 * namespaces @flags (CLONE_NEW…). Returns like fork(), or -errno. Nothing is moved afterwards:
 * moving a process between cgroups makes the kernel wait for every CPU. */
pid_t spawn_fork(int cgroup_fd, uint64_t flags);

void spawn_signals_default(void); /* in the child: every signal as a new program expects it */
void spawn_signals_unblock(void); /* the same where no signal was ever ignored */

#endif
