/* SPDX-License-Identifier: MIT
 * open.c - opens the rooms in their order, and closes them
 * Jobs, shims and snapshots do not notice either. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon.h"

/* One gqd per state directory. */
static int daemon_lock(struct daemon *d, struct gq_err *err)
{
	_cleanup_free_ char *path = xasprintf("%s/gqd.lock", d->state_dir);
	char pid[32] = "";
	ssize_t n;

	d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock_fd < 0)
		return gq_err_sys(err, -errno, "%s", path);
	if (flock(d->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		n = read(d->lock_fd, pid, sizeof(pid) - 1);
		pid[n > 0 ? strcspn(pid, "\n") : 0] = '\0';
		return gq_err_set(err, -EBUSY,
			"%s: another gqd (pid %s) uses this state directory; stop it, or give --state-dir",
			d->state_dir, pid[0] ? pid : "?");
	}
	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(d->lock_fd, 0) < 0 || write_all(d->lock_fd, pid, strlen(pid)) < 0)
		return gq_err_sys(err, -errno, "%s", path);
	return 0;
}

static int daemon_dirs(struct daemon *d, struct gq_err *err)
{
	int r;

	daemon_override(&d->conf.state_dir, d->state_arg);
	daemon_override(&d->conf.run_dir, d->run_arg);
	d->state_dir = xstrdup(d->conf.state_dir ? d->conf.state_dir : GQ_STATEDIR);
	d->run_dir = xstrdup(d->conf.run_dir ? d->conf.run_dir : GQ_RUNDIR);
	d->image_dir = d->conf.image_dir ? xstrdup(d->conf.image_dir)
					 : xasprintf("%s/images", d->state_dir);
	d->socket = xasprintf("%s/gqd.sock", d->run_dir);
	r = dir_make(d->state_dir, 0755, err);
	if (!r)
		r = dir_make(d->run_dir, 0755, err);
	if (!r)
		r = dir_make(d->image_dir, 0700, err);
	return r;
}

/* A helper program: beside our own binary (a build tree), else where `make install` puts it. */
static char *daemon_helper(const char *name)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path, *slash;

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		if (slash)
			*slash = '\0';
		path = xasprintf("%s/%s", self, name);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return xasprintf("%s/%s", GQ_LIBEXECDIR, name);
}

static int daemon_open_exec(struct daemon *d, struct gq_err *err)
{
	_cleanup_free_ char *shim = daemon_helper("gq-shim");
	struct exec_conf conf = {.run_dir = d->run_dir, .state_dir = d->state_dir,
		.image_dir = d->image_dir, .shim = shim,
		.criu = d->conf.criu ? d->conf.criu : GQ_CRIU, .capsule = d->capsule,
		.dump_timeout = d->conf.dump_timeout, .restore_timeout = d->conf.restore_timeout};

	return exec_new(&conf, report_exec, d, &d->exec, err);
}

static int daemon_open_gpu(struct daemon *d, struct gq_err *err)
{
	_cleanup_free_ char *sampler = daemon_helper("gq-sampler");
	struct gpu_conf conf = {.sampler = sampler, .nvml_library = d->conf.nvml_library,
		.period = d->conf.sample_period, .busy_percent = d->conf.idle_percent, .hits = 2,
		.lost_after = GQ_SEC(5)};

	if (conf.lost_after < 3 * conf.period)
		conf.lost_after = 3 * conf.period;
	return gpu_new(&conf, report_gpu, report_owner, d, &d->gpu, err);
}

/* Many clients at once are not a reason to fail. */
static void daemon_raise_files(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

static int daemon_open_rooms(struct daemon *d, struct gq_err *err)
{
	int r;

	r = store_sqlite_open(d->state_dir, &d->store, err);
	if (!r)
		r = daemon_load(d, err);
	if (!r)
		r = loop_new(&d->loop, err);
	if (!r)
		r = daemon_open_exec(d, err);
	if (!r)
		r = daemon_open_gpu(d, err);
	d->host = host_template;
	d->host.ctx = d;
	if (!r)
		r = api_new(&d->host, d->loop, d->socket, &d->api, err);
	return r;
}

int daemon_open(struct daemon *d, struct gq_err *err)
{
	int r;

	d->lock_fd = -1;
	d->capsule = geteuid() == 0;
	d->started_at = gq_now();
	daemon_raise_files();
	r = daemon_dirs(d, err);
	if (!r)
		r = daemon_lock(d, err);
	if (!r)
		r = settings_operator(d, err);
	if (!r)
		r = daemon_open_rooms(d, err);
	if (r < 0)
		return r;
	daemon_watch(d);
	daemon_revive(d);
	r = exec_adopt_done(d->exec);
	if (r > 0)
		log_warn("%d shims of jobs that nobody knows were told to end", r);
	exec_each_left(d->exec, daemon_clean, d);
	daemon_turn(d);
	return 0;
}

/* Jobs, shims and snapshots go on without us. */
void daemon_close(struct daemon *d)
{
	if (d->loop) {
		d->exec_watch = loop_unwatch(d->exec_watch);
		d->gpu_watch = loop_unwatch(d->gpu_watch);
	}
	d->api = api_free(d->api);
	d->gpu = gpu_free(d->gpu);
	d->exec = exec_free(d->exec);
	d->core = core_free(d->core);
	grades_clear(d);
	if (d->store)
		d->store = d->store->ops->close(d->store);
	d->loop = loop_free(d->loop);
	daemon_drop_specs(d);
	free(d->specs);
	free(d->cards);
	effects_clear(&d->effects);
	free(d->state_dir);
	free(d->run_dir);
	free(d->image_dir);
	free(d->socket);
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	conf_clear(&d->conf);
}
