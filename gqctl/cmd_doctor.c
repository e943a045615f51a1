/* SPDX-License-Identifier: MIT
 * cmd_doctor.c - gqctl doctor: what works on this machine, what does not, and what to do
 * gqd looks; without a gqd the little that can be seen from here is looked at. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gqctl.h"

static const struct usage_option options[] = {
	{"json", 0, NULL, "print the answer of GET /v1/doctor", NULL},
};

struct report {
	struct buf text;
	bool failed; /* something essential */
};

static void add_finding(void *ctx, const void *row)
{
	const struct api_finding *f = row;
	struct report *r = ctx;

	buf_fmt(&r->text, "%s %-14s %s\n", f->ok ? "ok" : "!!", f->what,
		f->text ? f->text : "");
	if (f->cure && !f->ok)
		buf_fmt(&r->text, "   %-14s → %s\n", "", f->cure);
	r->failed |= f->essential && !f->ok;
}

static void add(
	struct report *r, const char *what, bool ok, const char *text, const char *cure)
{
	struct api_finding f = {
		.what = what, .ok = ok, .text = text, .cure = ok ? NULL : cure};

	add_finding(r, &f);
}

static void look_at_root(struct report *r)
{
	bool root = geteuid() == 0;

	add(r, "root", root, root ? "you are root" : "you are not root",
		"a gqd that is not root keeps no state of the jobs it evicts: start it as root");
}

static void look_at_cgroup(struct report *r)
{
	static const char *const places[] = {"/sys/fs/cgroup/cgroup.controllers",
		"/sys/fs/cgroup/unified/cgroup.procs"};
	bool v2 = access(places[0], F_OK) == 0, hybrid = access(places[1], F_OK) == 0;

	add(r, "cgroup", v2 || hybrid,
		v2       ? "version 2"
		: hybrid ? "hybrid: version 2 without controllers"
			 : "no version 2",
		"mount cgroup version 2: jobs are frozen and killed through it");
}

static bool exists_below(const char *const *dirs, size_t n, const char *name)
{
	char path[512];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dirs[i], name);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool is_on_path(const char *program)
{
	_cleanup_free_ char *copy =
		strdup(getenv("PATH") ? getenv("PATH") : "/usr/sbin:/usr/bin");
	const char *dirs[64];
	size_t n = 0;
	char *save;

	for (char *p = strtok_r(copy, ":", &save); p && n < ARRAY_LEN(dirs);
		p = strtok_r(NULL, ":", &save))
		dirs[n++] = p;
	return exists_below(dirs, n, program);
}

static void look_at_driver(struct report *r)
{
	static const char *const dirs[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64",
		"/usr/lib", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib"};
	bool real = access("/proc/driver/nvidia/version", F_OK) == 0;
	bool library = exists_below(dirs, ARRAY_LEN(dirs), "libnvidia-ml.so.1");
	bool sim = getenv("GQ_SIMGPU") != NULL;

	add(r, "driver", real || library || sim,
		real      ? "NVIDIA driver loaded"
		: sim     ? "simulated (GQ_SIMGPU)"
		: library ? "library found, driver not loaded"
			  : "no NVIDIA driver",
		"install the NVIDIA driver, or try gq with simulated cards: ./setup.sh demo");
}

static void look_at_criu(struct report *r)
{
	bool there = is_on_path("criu") || access(GQ_CRIU, X_OK) == 0;

	add(r, "criu", there, there ? "found (gqd runs criu check)" : "not found",
		"./setup.sh deps installs one that works on this kernel");
}

static int look_from_here(struct gq_err *why)
{
	_cleanup_buf_ struct buf none = BUF_INIT;
	struct report r = {.text = none};
	int status;

	add(&r, "gqd", false, why->text, NULL);
	look_at_root(&r);
	look_at_cgroup(&r);
	look_at_driver(&r);
	look_at_criu(&r);
	status = ctl_print(&r.text);
	buf_clear(&r.text);
	return status ? status : EXIT_REFUSED;
}

static int run(struct ctl *ctl)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct report r = {.text = BUF_INIT};
	struct gq_err err = {0};
	struct api_finding row;
	int status;

	if (ctl_call(ctl, "GET", "/v1/ping", NULL, &text, &err) < 0)
		return ctl_has(ctl, "json") ? ctl_say(&err) : look_from_here(&err);
	status = ctl_list(ctl, "/v1/doctor", &api_finding_object, &row, add_finding, &r);
	if (status == 0 && !ctl_has(ctl, "json"))
		status = ctl_print(&r.text);
	buf_clear(&r.text);
	return status ? status : r.failed ? EXIT_REFUSED : 0;
}

const struct command cmd_doctor = {"doctor", "",
	"say what works here, what does not, and what to do",
	"Exits with 1 when something is missing without which jobs are not run or not kept.",
	options, ARRAY_LEN(options), 0, 0, run};
