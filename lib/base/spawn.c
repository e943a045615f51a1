/* SPDX-License-Identifier: MIT
 * spawn.c - fork straight into a cgroup */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

/* Where clone3 is missing or forbidden (old kernels, old seccomp profiles). */
static pid_t fork_and_move(int cgroup_fd, uint64_t flags)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid)
		return pid;
	if (cgroup_fd >= 0) {
		int fd = openat(cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(127);
		close(fd);
	}
	if (flags && unshare((int)flags) < 0)
		_exit(127);
	return 0;
}

pid_t spawn_fork(int cgroup_fd, uint64_t flags)
{
	struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
	long r;

	if (cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)cgroup_fd;
	}
	r = syscall(SYS_clone3, &args, sizeof(args));
	if (r >= 0)
		return (pid_t)r;
	if (errno == ENOSYS || errno == E2BIG)
		return fork_and_move(cgroup_fd, flags);
	return -errno;
}

void spawn_signals_default(void)
{
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	spawn_signals_unblock();
}

void spawn_signals_unblock(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
