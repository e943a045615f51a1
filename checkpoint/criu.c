/* SPDX-License-Identifier: MIT
 * criu.c - command lines for criu, and the one line of its log that matters */
#include "criu.h"

#include <stdarg.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "gate.h"
#include "image.h"
#include "settle.h"
#include "stream.h"

#define ARGS_MAX 40
#define LOG_MAX  (16u << 20)

struct args {
	const char *list[ARGS_MAX];
	size_t n;
};

static void args_add(struct args *a, const char *first, ...)
{
	va_list ap;

	va_start(ap, first);
	for (const char *s = first; s; s = va_arg(ap, const char *))
		a->list[a->n++] = s;
	va_end(ap);
	a->list[a->n] = NULL;
}

/* Files, locks and sockets that ordinary programs hold; each is documented in FORMAT.md. */
static void args_common(struct args *a, const char *verb, const char *images, const char *work_dir,
	const char *log)
{
	static char gate[PATH_MAX]; /* this same program: gate_asked() knows */
	ssize_t n = readlink("/proc/self/exe", gate, sizeof(gate) - 1);

	gate[n < 0 ? 0 : n] = '\0';
	args_add(a, "criu", verb, "--no-default-config", "-v2", "-D", images, "-W", work_dir, "-o", log,
		"--action-script", gate, "--manage-cgroups=ignore",
		"--file-locks", "--link-remap", "--ghost-limit", "1G", "--tcp-established",
		"--skip-in-flight", NULL);
}

static void env_int(const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	setenv(name, text, 1);
}

/* In the child: what the gate needs to know. */
static void env_set(const struct engine_job *job, pid_t last_pid)
{
	setenv(GATE_IMAGE_DIR, job->image_dir, 1);
	setenv(GATE_WORK_DIR, job->work_dir, 1);
	env_int(GATE_VERIFY, job->verify_all);
	setenv(GATE_CGROUP, job->cgroup ? job->cgroup : "", 1);
	unsetenv("CRIU_CONFIG_FILE");
	if (job->criu_version)
		setenv(GATE_CRIU, job->criu_version, 1);
	env_int(GATE_JOB, job->job);
	env_int(GATE_INCARNATION, job->incarnation);
	env_int(GATE_ROOT, job->root);
	env_int(GATE_UID, job->uid);
	env_int(GATE_LAST_PID, last_pid);
}

/* Restored memory in 2 MiB pages (thp.c); more than what the image holds is never asked for. */
static void env_thp(const struct image_info *image)
{
	char path[PATH_MAX];

	if (!image || !image->streamed ||
		access(program_path("gq_thp.so", path, sizeof(path)), R_OK) < 0)
		return;
	setenv("LD_PRELOAD", path, 1);
	env_int("GQ_THP_BYTES", image->pages + image->pages / 4);
}

static _Noreturn void criu_exec(const struct engine_job *job, const struct args *a,
	const struct image_info *image, int err_fd)
{
	spawn_signals_default();
	setpgid(0, 0);
	umask(0077);
	dup2(err_fd, STDERR_FILENO);
	env_set(job, image ? image->last_pid : 0);
	env_thp(image);
	/* criu finds its streamer's socket by "-D .": a path could be too long for a socket. */
	if (!image && job->cgroup && !settle(job->cgroup, job->timeout / 2)) {
		dprintf(STDERR_FILENO, "its tasks could not be frozen outside of a vfork() in %lld s\n",
			(long long)(job->timeout / 2 / GQ_NS_PER_S));
		_exit(1);
	}
	if (chdir(job->work_dir) == 0)
		execvp(job->criu, (char *const *)a->list);
	dprintf(STDERR_FILENO, "%s: %s\n", job->criu, strerror(errno));
	_exit(127);
}

/* @file: the image that is written (@image NULL) or read by a streamer; NULL = without. */
static int criu_start(const struct engine_job *job, const struct args *a, const char *file,
	const struct image_info *image, struct criu_run *ret, struct gq_err *err)
{
	int fds[2];
	pid_t pid = 0;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return gq_err_sys(err, -errno, "pipe");
	unlink(ret->log);
	ret->err_fd = fds[0];
	if (file)
		pid = image ? stream_serve(job, file, fds[1], err) : stream_capture(job, file, fds[1], err);
	if (pid >= 0) {
		ret->streamer = pid;
		/* What is restored is born in the job's cgroup; who dumps it must stay outside. */
		pid = spawn_fork(image ? job->cgroup_fd : -1, 0);
		if (pid == 0)
			criu_exec(job, a, image, fds[1]);
		if (pid < 0)
			gq_err_sys(err, (int)pid, "fork");
	}
	close(fds[1]);
	if (pid < 0) {
		criu_close(job, ret);
		return (int)pid;
	}
	ret->pid = pid;
	return 0;
}

int criu_dump(const struct engine_job *job, struct criu_run *ret, struct gq_err *err)
{
	char dir[PATH_MAX], file[PATH_MAX + 16], log[64], root[16];
	struct args a = {0};

	image_path_tmp(dir, sizeof(dir), job->image_dir, job->job, job->incarnation);
	snprintf(file, sizeof(file), "%s/%s", dir, IMAGE_FILE);
	snprintf(log, sizeof(log), "dump.%lld.log", (long long)job->incarnation);
	snprintf(root, sizeof(root), "%d", (int)job->root);
	snprintf(ret->log, sizeof(ret->log), "%.400s/%s", job->work_dir, log);
	args_common(&a, "dump", ".", job->work_dir, log);
	args_add(&a, "--stream", "-t", root, "--timeout", "60", "--network-lock", "skip", NULL);
	if (job->cgroup)
		args_add(&a, "--freeze-cgroup", job->cgroup, NULL);
	return criu_start(job, &a, file, NULL, ret, err);
}

int criu_restore(const struct engine_job *job, const struct image_info *image,
	struct criu_run *ret, struct gq_err *err)
{
	char dir[PATH_MAX], file[PATH_MAX + 16], log[64];
	struct args a = {0};

	image_path(dir, sizeof(dir), job->image_dir, job->job, job->image);
	snprintf(file, sizeof(file), "%s/%s", dir, IMAGE_FILE);
	snprintf(log, sizeof(log), "restore.%lld.log", (long long)job->incarnation);
	snprintf(ret->log, sizeof(ret->log), "%.400s/%s", job->work_dir, log);
	args_common(&a, "restore", image->streamed ? "." : dir, job->work_dir, log);
	/* A sibling of criu: a job that wants to die with its parent would die with criu. */
	args_add(&a, "-d", "--restore-sibling", NULL);
	if (image->streamed)
		args_add(&a, "--stream", NULL);
	return criu_start(job, &a, image->streamed ? file : NULL, image, ret, err);
}

static bool is_harmless(const char *line)
{
	static const char *const known[] = {"RLIMIT_NOFILE", "Can't read /proc/sys/kernel/"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strstr(line, known[i]))
			return true;
	return false;
}

/* "(00.012345) 1000: Error (criu/files.c:42): what" → "what (criu/files.c:42)" */
static void line_shorten(const char *line, char *ret, size_t size)
{
	const char *at = strstr(line, "Error (") + 6, *close = strstr(at, "): ");
	int n;

	if (!close) {
		snprintf(ret, size, "%s", at);
	} else {
		n = (int)(close + 1 - at);
		snprintf(ret, size, "%s %.*s", close + 3, n, at);
	}
}

bool criu_log_error(const char *log, char *ret, size_t size)
{
	_cleanup_fclose_ FILE *f = fopen(log, "re");
	_cleanup_free_ char *line = NULL;
	size_t cap = 0, seen = 0;
	ssize_t n;

	while (f && seen < LOG_MAX && (n = getline(&line, &cap, f)) > 0) {
		seen += (size_t)n;
		if (!strstr(line, "Error (") || is_harmless(line))
			continue;
		line[strcspn(line, "\n")] = '\0';
		line_shorten(line, ret, size);
		return true;
	}
	return false;
}

void criu_reason(struct criu_run *run, int status, char *ret, size_t size)
{
	char said[512];
	ssize_t n = run->err_fd < 0 ? 0 : read(run->err_fd, said, sizeof(said) - 1);

	said[n < 0 ? 0 : n] = '\0';
	said[strcspn(said, "\n")] = '\0';
	if (said[0])
		snprintf(ret, size, "%s", said);
	else if (criu_log_error(run->log, ret, size))
		return;
	else if (WIFSIGNALED(status))
		snprintf(ret, size, "criu was ended by signal %d", WTERMSIG(status));
	else
		snprintf(ret, size, "criu ended with status %d and no error in %s", WEXITSTATUS(status),
			run->log);
}

void criu_close(const struct engine_job *job, struct criu_run *run)
{
	if (run->err_fd >= 0)
		close(TAKE_FD(run->err_fd));
	if (run->streamer > 0)
		stream_stop(job, run->streamer);
	run->pid = run->streamer = 0;
}
