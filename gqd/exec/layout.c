/* SPDX-License-Identifier: MIT
 * layout.c - where everything about a job lies */
#include "private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"

#define PATH(...)                                                                                  \
	do {                                                                                       \
		snprintf(buf, PATH_MAX, __VA_ARGS__);                                              \
		return buf;                                                                        \
	} while (0)

char *path_spool(const struct exec *x, char *buf, uint32_t job)
{
	PATH("%s/spool/%u", x->conf.state_dir, job);
}

char *path_script(const struct exec *x, char *buf, uint32_t job)
{
	PATH("%s/spool/%u/script", x->conf.state_dir, job);
}

char *path_mark(const struct exec *x, char *buf, uint32_t job, uint32_t inc)
{
	PATH("%s/spool/%u/mark.%u", x->conf.state_dir, job, inc);
}

char *path_record(const struct exec *x, char *buf, uint32_t job, uint32_t inc)
{
	PATH("%s/exit/%u.%u", x->conf.state_dir, job, inc);
}

char *path_socket(const struct exec *x, char *buf, uint32_t job, uint32_t inc)
{
	PATH("%s/shim/%u.%u.sock", x->conf.run_dir, job, inc);
}

char *path_job(const struct exec *x, char *buf, uint32_t job)
{
	PATH("%s/jobs/%u", x->conf.run_dir, job);
}

char *path_notice(const struct exec *x, char *buf, uint32_t job)
{
	PATH("%s/jobs/%u/notice", x->conf.run_dir, job);
}

char *path_images(const struct exec *x, char *buf, uint32_t job)
{
	PATH("%s/%u", x->conf.image_dir, job);
}

char *path_image(const struct exec *x, char *buf, uint32_t job, uint32_t image)
{
	PATH("%s/%u/%u", x->conf.image_dir, job, image);
}

char *path_cgroup(const struct exec *x, char *buf, uint32_t job, uint32_t inc)
{
	buf[0] = '\0';
	if (x->cgroup)
		PATH("%s/%u.%u", x->cgroup, job, inc);
	return buf;
}

static int make_below(const char *dir, const char *name, mode_t mode, struct gq_err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s%s", dir, name[0] ? "/" : "", name);
	return dir_make(path, mode, err);
}

int layout_make(struct exec *x, struct gq_err *err)
{
	const struct {
		const char *dir, *name;
		mode_t mode;
	} dirs[] = {
		{x->conf.state_dir, "spool", 0711}, {x->conf.state_dir, "exit", 0700},
		{x->conf.run_dir, "shim", 0700}, {x->conf.run_dir, "jobs", 0755},
		{x->conf.image_dir, "", 0700}};
	char longest[PATH_MAX];

	/* A socket's name has 107 bytes; better to hear it now than at the first job. */
	if (strlen(path_socket(x, longest, UINT32_MAX, UINT32_MAX)) > 107)
		return gq_err_set(err, -ENAMETOOLONG, "%s: run directory too long for sockets, at most %zu "
			"bytes", x->conf.run_dir, 107 - (strlen(longest) - strlen(x->conf.run_dir)));
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		int r = make_below(dirs[i].dir, dirs[i].name, dirs[i].mode, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Where cgroup2 is mounted: field 5 of the mountinfo line whose type, behind " - ", is cgroup2. */
static char *cgroup2_mount(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		char *type = strstr(line, " - "), *save = NULL, *word = NULL;

		if (!type || strncmp(type, " - cgroup2 ", 11))
			continue;
		word = strtok_r(line, " ", &save);
		for (int i = 0; word && i < 4; i++)
			word = strtok_r(NULL, " ", &save);
		return xstrdup(word);
	}
	return NULL;
}

int layout_find_cgroup(struct exec *x, struct gq_err *err)
{
	_cleanup_free_ char *mount = cgroup2_mount(), *dir = NULL, *real = NULL;
	uint32_t tag;

	if (!mount)
		return gq_err_set(err, -ENOENT, "cgroup v2 is not mounted");
	real = realpath(x->conf.state_dir, NULL);
	tag = (uint32_t)map_hash(real ? real : x->conf.state_dir);
	dir = xasprintf("%s/gq", mount);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return gq_err_sys(err, -errno, "%s", dir);
	free(dir);
	dir = xasprintf("%s/gq/%08x", mount, tag);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return gq_err_sys(err, -errno, "%s", dir);
	x->cgroup = TAKE_PTR(dir);
	x->cgroup_in_proc = xasprintf("/gq/%08x/", tag);
	return 0;
}
