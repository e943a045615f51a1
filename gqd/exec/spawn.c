/* SPDX-License-Identifier: MIT
 * spawn.c - starts programs without copying gqd: clone with shared memory, then exec
 * The child borrows our memory and we are stopped until it has exec'ed, so it may only set
 * descriptors and signals right. */
#include "private.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "gqd/shim/launch.h"

#define STACK_BYTES (64u << 10)

struct program {
	const char *path;
	char *const *argv;
	int link_fd;            /* becomes SHIM_FD_LINK; -1 = none */
	int out_fd;             /* becomes stdout and stderr; -1 = /dev/null */
	volatile int code;      /* errno of a failed exec */
};

static int child(void *arg)
{
	struct program *p = arg;
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(p->out_fd >= 0 ? p->out_fd : null, STDOUT_FILENO);
	dup2(p->out_fd >= 0 ? p->out_fd : null, STDERR_FILENO);
	fd_cloexec_all(STDERR_FILENO + 1);
	if (p->link_fd == SHIM_FD_LINK)
		fcntl(SHIM_FD_LINK, F_SETFD, 0);
	else if (p->link_fd >= 0)
		dup2(p->link_fd, SHIM_FD_LINK);
	execve(p->path, p->argv, environ);
	p->code = errno;
	_exit(127);
}

/* Signals are blocked around it: a handler of ours must not run in the child, in our memory. */
static int program_start(struct program *p, int flags, int *ret_pidfd)
{
	static char *stack;
	sigset_t all, before;
	int pid, r, pidfd = -1;

	if (!stack) {
		stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		if (stack == MAP_FAILED) {
			stack = NULL;
			return -ENOMEM;
		}
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = clone(child, stack + STACK_BYTES,
		CLONE_VM | CLONE_VFORK | CLONE_PIDFD | flags | SIGCHLD, p, &pidfd);
	r = pid < 0 ? -errno : -p->code;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return r;
	if (r < 0) {
		waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0}, WEXITED);
		close(pidfd);
		return r;
	}
	*ret_pidfd = pidfd;
	return 0;
}

int spawn_shim(struct exec *x, int *ret_link_fd, int *ret_pidfd, struct gq_err *err)
{
	char *argv[] = {(char *)"gq-shim", NULL};
	struct program p = {.path = x->conf.shim, .argv = argv, .out_fd = -1};
	_cleanup_close_ int ours = -1, theirs = -1;
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
		return gq_err_sys(err, -errno, "socketpair");
	ours = fds[0];
	theirs = p.link_fd = fds[1];
	r = program_start(&p, x->conf.capsule ? CLONE_NEWPID | CLONE_NEWNS : 0, ret_pidfd);
	if (r < 0)
		return gq_err_sys(err, r, "start of %s", x->conf.shim);
	*ret_link_fd = TAKE_FD(ours);
	return 0;
}

static int helper_start(const char *path, char *const *argv, int out_fd)
{
	struct program p = {.path = path, .argv = argv, .link_fd = -1,
		.out_fd = out_fd};
	int pidfd = -1, r = program_start(&p, 0, &pidfd);

	return r < 0 ? r : pidfd;
}

int spawn_remove(const struct exec *x, const char *path)
{
	char *argv[] = {(char *)"gq-shim", (char *)"--remove", (char *)path, NULL};

	return helper_start(x->conf.shim, argv, -1);
}

int spawn_output(const char *program, char *const *argv, int out_fd)
{
	return helper_start(program, argv, out_fd);
}
