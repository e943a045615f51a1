/* SPDX-License-Identifier: MIT
 * worker.c - the gq-sampler process */
#include "worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"

#define BACKOFF_FIRST GQ_MSEC(200)
#define BACKOFF_LAST  GQ_SEC(10)

extern char **environ;

void worker_init(struct worker *w)
{
	*w = (struct worker){.in = -1, .out = -1, .backoff = BACKOFF_FIRST};
}

/* In the child: @in and @out as 0 and 1, no signal blocked or ignored, no other descriptor. */
static int spawn(struct worker *w, const struct gpu_conf *conf, int in, int out)
{
	char period[24];
	char *argv[] = {"gq-sampler", "--period-ms", period, NULL, NULL, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int r;

	snprintf(period, sizeof(period), "%lld", (long long)(conf->period / GQ_NS_PER_MS));
	if (conf->nvml_library && *conf->nvml_library) {
		argv[3] = "--library";
		argv[4] = (char *)conf->nvml_library;
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	r = posix_spawn(&w->pid, conf->sampler, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (r != 0)
		w->pid = 0;
	return -r;
}

int worker_start(struct worker *w, const struct gpu_conf *conf, struct gq_err *err)
{
	int in[2], out[2], r;

	/* a socket, because writing to one can be told not to raise SIGPIPE */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) < 0)
		return gq_err_sys(err, -errno, "gq-sampler");
	if (pipe2(out, O_CLOEXEC) < 0) {
		r = -errno;
		close(in[0]);
		close(in[1]);
		return gq_err_sys(err, r, "gq-sampler");
	}
	r = spawn(w, conf, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	if (r < 0) {
		close(in[1]);
		close(out[0]);
		return gq_err_sys(err, r, "gq-sampler: %s", conf->sampler);
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	w->in = in[1];
	w->out = out[0];
	w->started = gq_monotonic();
	return 0;
}

void worker_reap(struct worker *w)
{
	for (size_t i = 0; i < ARRAY_LEN(w->unreaped); i++) {
		if (w->unreaped[i] > 0 && waitpid(w->unreaped[i], NULL, WNOHANG) != 0)
			w->unreaped[i] = 0; /* dead, or somebody else has reaped it */
	}
}

static void remember(struct worker *w, pid_t pid)
{
	for (size_t i = 0; i < ARRAY_LEN(w->unreaped); i++) {
		if (w->unreaped[i] == 0) {
			w->unreaped[i] = pid;
			return;
		}
	}
}

void worker_stop(struct worker *w, gq_time now)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		remember(w, w->pid);
		worker_reap(w);
	}
	cleanup_close_p(&w->in);
	cleanup_close_p(&w->out);
	w->pid = 0;
	w->in = w->out = -1;
	w->restart_at = now + w->backoff;
	w->backoff = 2 * w->backoff < BACKOFF_LAST ? 2 * w->backoff : BACKOFF_LAST;
}

void worker_is_well(struct worker *w)
{
	w->backoff = BACKOFF_FIRST;
}

void worker_poke(struct worker *w)
{
	if (w->in >= 0 && send(w->in, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* full of pokes already, or it has died and the pipe will say so */
}

void worker_clear(struct worker *w)
{
	worker_stop(w, 0);
	for (int i = 0; i < 100; i++) {
		bool left = false;

		worker_reap(w);
		for (size_t k = 0; k < ARRAY_LEN(w->unreaped); k++)
			left = left || w->unreaped[k] > 0;
		if (!left)
			return;
		usleep(1000); /* it dies at once, unless it hangs in the kernel */
	}
}
