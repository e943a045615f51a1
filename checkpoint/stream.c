/* SPDX-License-Identifier: MIT
 * stream.c - sockets, arguments and messages of gq-streamer */
#include "stream.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/spawn.h"
#include "wire.h"

#define ARGS_MAX 16

const char *program_path(const char *name, char *buf, size_t size)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	snprintf(buf, size, "%s/%s", self, name);
	return buf;
}

/* Through the directory's descriptor: its path may be longer than the name of a socket. */
static void address(struct sockaddr_un *a, int dir, const char *name)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(a->sun_path, sizeof(a->sun_path), "/proc/self/fd/%d/%s", dir, name);
}

static int listen_in(const char *dir, const char *name, int type, struct gq_err *err)
{
	_cleanup_close_ int d = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct sockaddr_un a;

	if (d < 0)
		return gq_err_sys(err, -errno, "%s", dir);
	address(&a, d, name);
	unlinkat(d, name, 0);
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
		fchmodat(d, name, 0600, 0) < 0 || listen(fd, 1) < 0)
		return gq_err_sys(err, -errno, "%s/%s", dir, name);
	return TAKE_FD(fd);
}

static _Noreturn void streamer_exec(char *const *argv, const int *keep, size_t n_keep, int out_fd,
	int err_fd)
{
	char path[PATH_MAX];

	spawn_signals_default();
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(err_fd, STDERR_FILENO);
	if (out_fd >= 0)
		dup2(out_fd, STDOUT_FILENO);
	for (size_t i = 0; i < n_keep; i++)
		fcntl(keep[i], F_SETFD, 0);
	execv(program_path(STREAM_PROGRAM, path, sizeof(path)), argv);
	dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

static pid_t streamer_start(char *const *argv, const int *keep, size_t n_keep, int out_fd,
	int err_fd, struct gq_err *err)
{
	pid_t pid = spawn_fork(-1, 0);

	if (pid == 0)
		streamer_exec(argv, keep, n_keep, out_fd, err_fd);
	return pid < 0 ? gq_err_sys(err, (int)pid, "fork") : pid;
}

#define NUMBER(buf, value) (snprintf(buf, sizeof(buf), "%lld", (long long)(value)), buf)

pid_t stream_capture(const struct engine_job *job, const char *image, int err_fd,
	struct gq_err *err)
{
	_cleanup_close_ int criu_fd = listen_in(job->work_dir, WIRE_CAPTURE, SOCK_STREAM, err),
		gate_fd = -1;
	char criu[24], gate[24], id[24], incarnation[24];

	if (criu_fd < 0)
		return criu_fd;
	gate_fd = listen_in(job->work_dir, STREAM_GATE, SOCK_SEQPACKET, err);
	if (gate_fd < 0)
		return gate_fd;
	char *argv[] = {(char *)STREAM_PROGRAM, (char *)"capture", (char *)image,
		(char *)"--socket-fd", NUMBER(criu, criu_fd), (char *)"--gate-fd",
		NUMBER(gate, gate_fd), (char *)"--job", NUMBER(id, job->job),
		(char *)"--incarnation", NUMBER(incarnation, job->incarnation), NULL};

	return streamer_start(argv, (int[]){criu_fd, gate_fd}, 2, -1, err_fd, err);
}

pid_t stream_serve(const struct engine_job *job, const char *image, int err_fd, struct gq_err *err)
{
	_cleanup_close_ int fd = listen_in(job->work_dir, WIRE_SERVE, SOCK_STREAM, err);
	char criu[24];

	if (fd < 0)
		return fd;
	char *argv[] = {(char *)STREAM_PROGRAM, (char *)"serve", (char *)image,
		(char *)"--socket-fd", NUMBER(criu, fd), NULL};

	return streamer_start(argv, &fd, 1, -1, err_fd, err);
}

pid_t stream_cat(const char *image, const char *file, int err_fd, int *ret_fd, struct gq_err *err)
{
	char *argv[] = {(char *)STREAM_PROGRAM, (char *)"cat", (char *)image, (char *)file, NULL};
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return gq_err_sys(err, -errno, "pipe");
	pid = streamer_start(argv, NULL, 0, fds[1], err_fd, err);
	close(fds[1]);
	if (pid < 0)
		close(fds[0]);
	else
		*ret_fd = fds[0];
	return pid;
}

static void unlink_in(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

void stream_stop(const struct engine_job *job, pid_t pid)
{
	unlink_in(job->work_dir, WIRE_CAPTURE);
	unlink_in(job->work_dir, WIRE_SERVE);
	unlink_in(job->work_dir, STREAM_GATE);
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

int stream_gate_open(const char *work_dir, int *ret_gate_fd, struct gq_err *err)
{
	_cleanup_close_ int dir = open(work_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct sockaddr_un a;

	address(&a, dir, STREAM_GATE);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (dir < 0 || fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return gq_err_sys(err, -errno, "the streamer of the image");
	*ret_gate_fd = TAKE_FD(fd);
	return 0;
}

int stream_gate_file(int gate_fd, const char *name, int *ret_fd, struct gq_err *err)
{
	_cleanup_buf_ struct buf packet = BUF_INIT;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return gq_err_sys(err, -errno, "pipe");
	buf_fmt(&packet, "F%s", name);
	r = wire_send_packet(gate_fd, packet.data, packet.len, fds[0]);
	close(fds[0]);
	if (r < 0) {
		close(fds[1]);
		return gq_err_sys(err, r, "the streamer of the image");
	}
	*ret_fd = fds[1];
	return 0;
}

int stream_gate_commit(int gate_fd, const char *manifest, struct gq_err *err)
{
	_cleanup_buf_ struct buf packet = BUF_INIT;
	char reply[sizeof(err->text)];
	ssize_t n;
	int r, fd = -1;

	buf_fmt(&packet, "C%s", manifest);
	r = wire_send_packet(gate_fd, packet.data, packet.len, -1);
	if (r < 0)
		return gq_err_sys(err, r, "the streamer of the image");
	n = wire_recv_packet(gate_fd, reply, sizeof(reply), &fd);
	if (n <= 0)
		return gq_err_set(err, -EIO, "the streamer ended before the image was on disk");
	return reply[0] ? gq_err_set(err, -EIO, "%s", reply) : 0;
}
