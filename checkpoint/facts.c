/* SPDX-License-Identifier: MIT
 * facts.c - reads /proc for a manifest */
#include "facts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/kv.h"

#define VALUE_MAX   8000u /* of a manifest that has to stay one packet */
#define ENVIRON_MAX (4u << 20)

static void line(struct buf *out, const char *key, const char *value, size_t n)
{
	if (n && n <= VALUE_MAX)
		buf_fmt(out, "%s=%.*s\n", key, (int)n, value);
}

/* Of the first processor in /proc/cpuinfo: "flags\t\t: fpu vme …" */
static void cpu_line(struct buf *out, const char *text, const char *name, const char *key)
{
	const char *at = strstr(text, name), *value = at ? strchr(at, ':') : NULL;

	if (value && value[1] == ' ')
		line(out, key, value + 2, strcspn(value + 2, "\n"));
}

static void cpu_lines(struct buf *out)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/cpuinfo", "re");
	static char text[16 << 10]; /* one processor is enough */
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = '\0';
	cpu_line(out, text, "model name", "cpu");
	cpu_line(out, text, "flags", "cpu_flags");
}

static void driver_line(struct buf *out)
{
	_cleanup_free_ char *text = NULL;

	if (file_read("/proc/driver/nvidia/version", 4096, &text, NULL, NULL) == 0)
		line(out, "driver", text, strcspn(text, "\n"));
}

static void cards_line(struct buf *out, pid_t root)
{
	_cleanup_free_ char *env = NULL;
	const char *cards;
	char path[32];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)root);
	if (file_read(path, ENVIRON_MAX, &env, &len, NULL) < 0 || !len || env[len - 1])
		return;
	cards = kv_get(env, len, "CUDA_VISIBLE_DEVICES");
	if (cards)
		line(out, "cards", cards, strcspn(cards, "\n"));
}

static void options_line(struct buf *out, pid_t criu)
{
	_cleanup_free_ char *args = NULL;
	char path[32];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)criu);
	if (file_read(path, VALUE_MAX, &args, &len, NULL) < 0 || len < 2)
		return;
	for (size_t i = 0; i + 1 < len; i++)
		if (args[i] == '\0' || args[i] == '\n')
			args[i] = ' ';
	line(out, "criu_options", args, strlen(args));
}

void facts_lines(pid_t root, pid_t criu, struct buf *out)
{
	struct utsname u = {0};

	uname(&u);
	buf_fmt(out, "kernel=%s %s %s\n", u.sysname, u.release, u.machine);
	cpu_lines(out);
	driver_line(out);
	cards_line(out, root);
	options_line(out, criu);
}
