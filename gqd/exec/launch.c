/* SPDX-License-Identifier: MIT
 * launch.c - everything that must lie ready before a shim is started */
#include "private.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/kv.h"
#include "gqd/shim/launch.h"

/* The script stays the same file for the whole life of the job: an interpreter keeps it open, and
 * a restore opens it again by name. Its owner may read it and nobody else. It is written in place:
 * one that may still be written to was left unfinished. */
static int script_keep(struct exec *x, const struct exec_job *j, bool fresh, struct gq_err *err)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	struct stat st;
	int r;

	path_script(x, path, j->job);
	if (!fresh && stat(path, &st) == 0) {
		if (j->image || (!(st.st_mode & S_IWUSR) && (size_t)st.st_size == j->script_len))
			return 0;
		unlink(path); /* cut off by a power loss, or by a death of ours */
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
	if (fd < 0)
		return gq_err_sys(err, -errno, "%s", path);
	r = write_all(fd, j->script, j->script_len);
	if (!r && x->conf.capsule && fchown(fd, j->uid, j->gid) < 0)
		r = -errno;
	if (!r && fchmod(fd, 0500) < 0)
		r = -errno;
	if (r < 0)
		unlink(path);
	return r < 0 ? gq_err_sys(err, r, "%s", path) : 0;
}

static int job_folder(struct exec *x, const struct exec_job *j, struct gq_err *err)
{
	char path[PATH_MAX], text[16];
	bool fresh = mkdir(path_job(x, path, j->job), 0755) == 0;
	int n;

	if (!fresh && errno != EEXIST)
		return gq_err_sys(err, -errno, "%s", path);
	if (!fresh)
		unlink(path_notice(x, path, j->job)); /* of an earlier incarnation */
	snprintf(path, sizeof(path), "%s/jobs/%u/incarnation", x->conf.run_dir, j->job);
	n = snprintf(text, sizeof(text), "%u\n", j->incarnation);
	return fresh ? file_write_plain(path, text, (size_t)n, 0644, err)
		     : file_write_fast(path, text, (size_t)n, 0644, err);
}

int launch_prepare(struct exec *x, const struct exec_job *j, struct gq_err *err)
{
	char path[PATH_MAX];
	bool fresh = mkdir(path_spool(x, path, j->job), 0711) == 0;
	int r;

	if (!fresh && errno != EEXIST)
		return gq_err_sys(err, -errno, "%s", path);
	r = script_keep(x, j, fresh, err);
	return r < 0 ? r : job_folder(x, j, err);
}

/* All marks are links to one file that names the boot: a link is made, or is there, in one call, and
 * costs no inode. */
static char *mark_file(const struct exec *x, char *buf)
{
	snprintf(buf, PATH_MAX, "%s/spool/mark", x->conf.state_dir);
	return buf;
}

int launch_mark_file(const struct exec *x)
{
	char path[PATH_MAX], text[64];
	int n = snprintf(text, sizeof(text), "boot=%s\n", x->boot_id);

	return file_write_fast(mark_file(x, path), text, (size_t)n, 0600, NULL);
}

int launch_mark(struct exec *x, const struct exec_job *j, struct gq_err *err)
{
	char file[PATH_MAX], path[PATH_MAX];

	mark_file(x, file);
	path_mark(x, path, j->job, j->incarnation);
	if (link(file, path) == 0)
		return 0;
	/* It is gone, or has as many names as a file can have: a new one; the old marks stay. */
	if (errno != EEXIST && launch_mark_file(x) == 0 && link(file, path) == 0)
		return 0;
	return gq_err_sys(err, -errno, "%s", path);
}

bool launch_is_marked(const struct exec *x, uint32_t job, uint32_t inc)
{
	char path[PATH_MAX];

	return access(path_mark(x, path, job, inc), F_OK) == 0;
}

static void describe_paths(const struct exec *x, const struct exec_job *j, struct buf *b)
{
	char path[PATH_MAX];

	kv_add(b, "socket", path_socket(x, path, j->job, j->incarnation));
	kv_add(b, "record", path_record(x, path, j->job, j->incarnation));
	kv_add(b, "notice", path_notice(x, path, j->job));
	kv_add(b, "work-dir", path_spool(x, path, j->job));
	kv_add(b, "script", path_script(x, path, j->job));
	kv_add(b, "image-dir", x->conf.image_dir);
	kv_add(b, "criu", x->conf.criu);
	kv_add(b, "criu-version", criu_check_version(x->check));
	kv_add_int(b, "dump-timeout", x->conf.dump_timeout);
	kv_add_int(b, "restore-timeout", x->conf.restore_timeout);
	if (x->conf.capsule) {
		kv_add(b, "capsule", "1");
		if (x->cgroup)
			kv_add(b, "cgroup", path_cgroup(x, path, j->job, j->incarnation));
	}
}

static void describe_limits(const struct exec_job *j, struct buf *b)
{
	for (size_t i = 0; i < j->n_rlimits; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%zu %llu %llu", i,
			(unsigned long long)j->rlimits[i].rlim_cur,
			(unsigned long long)j->rlimits[i].rlim_max);
		kv_add(b, "limit", text);
	}
}

/* Ours; a job that submits others hands its own down. */
static bool is_ours(const char *env)
{
	static const char *const names[] = {"GQ_NOTICE=", "GQ_RUN_DIR="};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(env, names[i], strlen(names[i])))
			return true;
	return false;
}

static void describe_env(const struct exec *x, const struct exec_job *j, struct buf *b)
{
	char text[PATH_MAX + 16], path[PATH_MAX];

	for (const char *const *e = j->env; e && *e; e++)
		if (!is_ours(*e))
			kv_add(b, "env", *e);
	snprintf(text, sizeof(text), "GQ_NOTICE=%s", path_notice(x, path, j->job));
	kv_add(b, "env", text);
	snprintf(text, sizeof(text), "GQ_RUN_DIR=%s", path_job(x, path, j->job));
	kv_add(b, "env", text);
}

static void describe_job(const struct exec *x, const struct exec_job *j, struct buf *b)
{
	kv_add_int(b, "job", j->job);
	kv_add_int(b, "incarnation", j->incarnation);
	kv_add_int(b, "image", j->image);
	kv_add_int(b, "uid", j->uid);
	kv_add_int(b, "gid", j->gid);
	for (size_t i = 0; i < j->n_groups; i++)
		kv_add_int(b, "group", j->groups[i]);
	kv_add_int(b, "umask", j->umask);
	kv_add(b, "cwd", j->cwd);
	kv_add(b, "stdin", j->stdin_path);
	kv_add(b, "stdout", j->stdout_path);
	kv_add(b, "stderr", j->stderr_path);
	if (j->truncate && j->fresh_output)
		kv_add(b, "truncate", "1");
	for (const char *const *a = j->argv; a && *a; a++)
		kv_add(b, "arg", *a);
	describe_limits(j, b);
	describe_env(x, j, b);
}

int launch_describe(struct exec *x, const struct exec_job *j, int *ret_fd, struct gq_err *err)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_close_ int fd = memfd_create("gq-launch", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return gq_err_sys(err, -errno, "launch description");
	buf_add(&b, LAUNCH_HEAD, sizeof(LAUNCH_HEAD));
	describe_job(x, j, &b);
	describe_paths(x, j, &b);
	r = write_all(fd, b.data, b.len);
	if (r < 0)
		return gq_err_sys(err, r, "launch description");
	*ret_fd = TAKE_FD(fd);
	return 0;
}
