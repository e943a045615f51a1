/* SPDX-License-Identifier: MIT
 * script.c - the script, read once with the user's own rights; the job runs this copy */
#include "gqsub.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"

static int say_open(const char *path, int code, struct gq_err *err)
{
	if (code == -ENOENT)
		return gq_err_set(err, code, "%s: not found; to run a command use --wrap='%.60s'", path,
			path);
	if (code == -EACCES)
		return gq_err_set(err, code, "%s: you may not read it: chmod +r, or copy it", path);
	return gq_err_sys(err, code, "%s", path);
}

/* Reads to the end; one byte more than allowed is enough to know. */
static int read_all(int fd, size_t expected, struct buf *out)
{
	for (;;) {
		size_t room = out->len < expected ? expected - out->len : 4096;
		ssize_t n = read(fd, buf_reserve(out, room + 1), room + 1);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		if (n > 0)
			out->len += (size_t)n;
		if (out->len > JOB_SCRIPT_MAX)
			return 0;
	}
}

static int read_file(const char *path, struct buf *out, struct gq_err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	int r;

	if (fd < 0)
		return say_open(path, -errno, err);
	if (fstat(fd, &st) < 0)
		return gq_err_sys(err, -errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return gq_err_set(err, -EISDIR, "%s: is a directory, not a script", path);
	r = read_all(fd, S_ISREG(st.st_mode) && st.st_size < JOB_SCRIPT_MAX ? (size_t)st.st_size : 0,
		out);
	return r < 0 ? gq_err_sys(err, r, "%s", path) : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int wrap(struct submission *sub, struct buf *text, struct gq_err *err)
{
	if (sub->script_path)
		return gq_err_set(err, -EINVAL, "--wrap and the script %s: only one of them",
			sub->script_path);
	if (!sub->wrap[0])
		return gq_err_set(err, -EINVAL, "--wrap: is empty");
	buf_fmt(text, "#!/bin/sh\n# made by gqsub --wrap\n%s\n", sub->wrap);
	return 0;
}

int script_read(struct submission *sub, struct gq_err *err)
{
	const char *name = sub->wrap ? "wrap" : sub->script_path ? base_name(sub->script_path) : "stdin";
	struct buf text = BUF_INIT;
	int r;

	if (sub->wrap) {
		r = wrap(sub, &text, err);
	} else if (sub->script_path) {
		r = read_file(sub->script_path, &text, err);
	} else {
		r = read_all(STDIN_FILENO, 0, &text);
		if (r < 0)
			gq_err_sys(err, r, "standard input");
	}
	if (r < 0)
		return r;
	sub->spec.script_len = text.len;
	sub->spec.script = buf_take(&text);
	if (job_script_check(sub->spec.script, sub->spec.script_len, err) < 0)
		return gq_err_prefix(err, -EINVAL, "%s", sub->script_path ? sub->script_path : name);
	sub->default_name = name;
	return 0;
}
