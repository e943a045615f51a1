/* SPDX-License-Identifier: MIT
 * start.c - the job's root process: session, limits, credentials, files, exec
 * All of it happens after the credentials were dropped, so the job can only open what its user
 * can; and inside the mount namespace, or no snapshot could be taken. */
#include "start.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/spawn.h"

enum stage { STAGE_SESSION, STAGE_USER, STAGE_CWD, STAGE_STDIN, STAGE_STDOUT, STAGE_STDERR,
	STAGE_EXEC };

struct failure {
	enum stage stage;
	int code; /* errno */
};

/* The numbers come from a client, and we are root: never above what gqd itself was given, or a
 * user could have any real-time priority or locked memory for the asking. */
static void limits_set(const struct launch *l)
{
	for (size_t i = 0; i < l->n_limits; i++) {
		int resource = l->limits[i].resource;
		struct rlimit want = l->limits[i].limit, have;

		if (getrlimit((__rlimit_resource_t)resource, &have) < 0)
			continue;
		if (want.rlim_max > have.rlim_max)
			want.rlim_max = have.rlim_max;
		if (want.rlim_cur > want.rlim_max)
			want.rlim_cur = want.rlim_max;
		setrlimit((__rlimit_resource_t)resource, &want);
	}
}

static int user_become(const struct launch *l)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(l->n_groups, l->groups) < 0 ||
		setresgid((gid_t)l->gid, (gid_t)l->gid, (gid_t)l->gid) < 0 ||
		setresuid((uid_t)l->uid, (uid_t)l->uid, (uid_t)l->uid) < 0)
		return -errno;
	return 0;
}

static int put_fd(const char *path, int flags, int to)
{
	int fd = open(path, flags | O_NOCTTY, 0666);

	if (fd < 0)
		return -errno;
	if (fd == to)
		return 0;
	if (dup2(fd, to) < 0)
		return -errno;
	close(fd);
	return 0;
}

static int files_open(const struct launch *l, enum stage *stage)
{
	int out = O_WRONLY | O_CREAT | O_APPEND | (l->truncate ? O_TRUNC : 0);
	int r;

	*stage = STAGE_STDIN;
	r = put_fd(l->stdin_path ? l->stdin_path : "/dev/null", O_RDONLY, STDIN_FILENO);
	if (r < 0)
		return r;
	*stage = STAGE_STDOUT;
	r = put_fd(l->stdout_path ? l->stdout_path : "/dev/null", out, STDOUT_FILENO);
	if (r < 0)
		return r;
	*stage = STAGE_STDERR;
	if (l->stderr_path)
		return put_fd(l->stderr_path, out, STDERR_FILENO);
	return dup2(STDOUT_FILENO, STDERR_FILENO) < 0 ? -errno : 0;
}

static int job_prepare(const struct launch *l, enum stage *stage)
{
	int r;

	*stage = STAGE_SESSION;
	if (setsid() < 0)
		return -errno;
	spawn_signals_unblock(); /* what they do was set before the shim was exec'ed */
	limits_set(l);
	*stage = STAGE_USER;
	r = user_become(l);
	if (r < 0)
		return r;
	umask((mode_t)l->umask);
	*stage = STAGE_CWD;
	if (chdir(l->cwd) < 0)
		return -errno;
	return files_open(l, stage);
}

static _Noreturn void job_run(const struct launch *l, int status_fd)
{
	struct failure f;
	ssize_t w;

	f.code = -job_prepare(l, &f.stage);
	if (!f.code) {
		f.stage = STAGE_EXEC;
		execve(l->script, l->argv, l->env);
		f.code = errno;
	}
	w = write(status_fd, &f, sizeof(f));
	_exit(w == (ssize_t)sizeof(f) ? 126 : 127);
}

int start_job(const struct launch *l, int cgroup_fd, pid_t *ret_pid, int *ret_status_fd,
	struct gq_err *err)
{
	int fds[2], r;
	pid_t pid;

	r = gq_fault("shim.exec");
	if (r < 0)
		return gq_err_sys(err, r, "start of the job");
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return gq_err_sys(err, -errno, "pipe");
	/* Its own IPC namespace, while shim and criu stay outside: so criu saves System V memory. */
	pid = spawn_fork(cgroup_fd, l->capsule ? CLONE_NEWIPC : 0);
	if (pid == 0)
		job_run(l, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return gq_err_sys(err, (int)pid, "fork");
	}
	*ret_pid = pid;
	*ret_status_fd = fds[0];
	return 0;
}

static int failure_text(const struct launch *l, const struct failure *f, struct gq_err *err)
{
	switch (f->stage) {
	case STAGE_USER:
		return gq_err_sys(err, -f->code, "become user %lld", (long long)l->uid);
	case STAGE_CWD:
		return gq_err_sys(err, -f->code, "working directory %s", l->cwd);
	case STAGE_STDIN:
		return gq_err_sys(err, -f->code, "input %s", l->stdin_path ? l->stdin_path : "/dev/null");
	case STAGE_STDOUT:
		return gq_err_sys(err, -f->code, "output %s",
			l->stdout_path ? l->stdout_path : "/dev/null");
	case STAGE_STDERR:
		return gq_err_sys(err, -f->code, "error output %s",
			l->stderr_path ? l->stderr_path : "(with the output)");
	case STAGE_EXEC:
		if (f->code == ENOENT)
			return gq_err_set(err, -ENOENT, "script: the program in its #! line does not exist");
		if (f->code == ENOEXEC)
			return gq_err_set(err, -ENOEXEC, "script: no #! line with a program");
		return gq_err_sys(err, -f->code, "script %s", l->script);
	case STAGE_SESSION:
		break;
	}
	return gq_err_sys(err, -f->code, "new session");
}

int start_result(const struct launch *l, int status_fd, struct gq_err *err)
{
	struct failure f;
	ssize_t n = read(status_fd, &f, sizeof(f));

	close(status_fd);
	if (n == 0)
		return 0; /* closed by exec */
	if (n != (ssize_t)sizeof(f) || !f.code)
		return gq_err_set(err, -EIO, "the job's first process ended before its script began");
	return failure_text(l, &f, err);
}
