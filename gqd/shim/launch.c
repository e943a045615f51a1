/* SPDX-License-Identifier: MIT
 * launch.c - reads the launch description */
#include "launch.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/kv.h"
#include "base/mem.h"

enum field_type { FIELD_STRING, FIELD_NUMBER, FIELD_BOOL };

static const struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	bool must;
} fields[] = {
#define FIELD(key, type, member, must) {key, type, offsetof(struct launch, member), must}
	FIELD("job", FIELD_NUMBER, job, true),
	FIELD("incarnation", FIELD_NUMBER, incarnation, true),
	FIELD("image", FIELD_NUMBER, image, false),
	FIELD("capsule", FIELD_BOOL, capsule, false),
	FIELD("socket", FIELD_STRING, socket, true),
	FIELD("record", FIELD_STRING, record, true),
	FIELD("notice", FIELD_STRING, notice, true),
	FIELD("cgroup", FIELD_STRING, cgroup, false),
	FIELD("work-dir", FIELD_STRING, work_dir, true),
	FIELD("image-dir", FIELD_STRING, image_dir, true),
	FIELD("criu", FIELD_STRING, criu, true),
	FIELD("criu-version", FIELD_STRING, criu_version, false),
	FIELD("dump-timeout", FIELD_NUMBER, dump_timeout, true),
	FIELD("restore-timeout", FIELD_NUMBER, restore_timeout, true),
	FIELD("uid", FIELD_NUMBER, uid, true),
	FIELD("gid", FIELD_NUMBER, gid, true),
	FIELD("umask", FIELD_NUMBER, umask, true),
	FIELD("cwd", FIELD_STRING, cwd, true),
	FIELD("script", FIELD_STRING, script, true),
	FIELD("stdin", FIELD_STRING, stdin_path, false),
	FIELD("stdout", FIELD_STRING, stdout_path, false),
	FIELD("stderr", FIELD_STRING, stderr_path, false),
	FIELD("truncate", FIELD_BOOL, truncate, false),
#undef FIELD
};

static void field_set(struct launch *l, const char *key, size_t n, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		void *p = (char *)l + fields[i].offset;

		if (strncmp(fields[i].key, key, n) || fields[i].key[n])
			continue;
		if (fields[i].type == FIELD_STRING)
			*(const char **)p = value;
		else if (fields[i].type == FIELD_NUMBER)
			*(int64_t *)p = strtoll(value, NULL, 10);
		else
			*(bool *)p = !strcmp(value, "1");
		return;
	}
}

static bool key_is(const char *key, size_t n, const char *name)
{
	return !strncmp(key, name, n) && !name[n];
}

/* The keys that stand more than once. */
static void list_add(struct launch *l, const char *key, size_t n, const char *value, size_t at[2])
{
	if (key_is(key, n, "env")) {
		l->env[at[0]++] = (char *)value;
	} else if (key_is(key, n, "arg")) {
		l->argv[at[1]++] = (char *)value;
	} else if (key_is(key, n, "group")) {
		l->groups[l->n_groups++] = (gid_t)strtoul(value, NULL, 10);
	} else if (key_is(key, n, "limit")) {
		struct launch_limit *limit = &l->limits[l->n_limits];
		unsigned long long soft, hard;

		if (sscanf(value, "%d %llu %llu", &limit->resource, &soft, &hard) == 3) {
			limit->limit = (struct rlimit){(rlim_t)soft, (rlim_t)hard};
			l->n_limits++;
		}
	}
}

static void lists_fill(struct launch *l, const char *data, size_t len)
{
	size_t pos = 0, n, count[4] = {0}, at[2] = {0, 1};
	const char *k, *v;

	while (kv_next(data, len, &pos, &k, &n, &v)) {
		count[0] += key_is(k, n, "env");
		count[1] += key_is(k, n, "arg");
		count[2] += key_is(k, n, "group");
		count[3] += key_is(k, n, "limit");
	}
	l->env = xnew_n(char *, count[0] + 1);
	l->argv = xnew_n(char *, count[1] + 2);
	l->groups = xnew_n(gid_t, count[2] + 1);
	l->limits = xnew_n(struct launch_limit, count[3] + 1);
	pos = 0;
	while (kv_next(data, len, &pos, &k, &n, &v))
		list_add(l, k, n, v, at);
	l->argv[0] = (char *)l->script;
}

int launch_read(int fd, struct launch *ret, struct gq_err *err)
{
	struct stat st;
	size_t pos = 0, n;
	const char *k, *v;
	char *data;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return gq_err_set(err, -EINVAL, "launch description: nothing there");
	data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (data == MAP_FAILED)
		return gq_err_sys(err, -errno, "launch description");
	if (!kv_check(data, (size_t)st.st_size, LAUNCH_HEAD))
		return gq_err_set(err, -EPROTO, "launch description: does not begin with %s", LAUNCH_HEAD);
	ret->data = data;
	ret->data_len = (size_t)st.st_size;
	while (kv_next(data, (size_t)st.st_size, &pos, &k, &n, &v))
		field_set(ret, k, n, v);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].must && !kv_get(data, (size_t)st.st_size, fields[i].key))
			return gq_err_set(err, -EPROTO, "launch description: no '%s'", fields[i].key);
	lists_fill(ret, data, (size_t)st.st_size);
	return 0;
}

void launch_clear(struct launch *l)
{
	if (l->data)
		munmap(l->data, l->data_len);
	free(l->env);
	free(l->argv);
	free(l->groups);
	free(l->limits);
	*l = (struct launch){0};
}
