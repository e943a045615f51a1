/* SPDX-License-Identifier: MIT
 * exec_driver.c - drives gqd/exec by a script on stdin, so that shell tests can tell stories
 *
 *   exec-driver DIR [plain] <<END      state, run, images and work below DIR; plain = no capsule
 *   user UID GID                       of the starts that follow
 *   start JOB INC IMAGE SCRIPT [ARG]   output goes to DIR/work/JOB.out
 *   adopt JOB INC | adopt-done | store JOB INC | kill JOB INC | signal JOB INC N
 *   notice JOB INC N | notice-off JOB INC | forget JOB INC | forget-job JOB | drop JOB IMAGE
 *   has JOB IMAGE | owner PID | doctor
 *   die                                SIGKILL to the driver itself
 *   wait REPORT JOB INC                until that report came (again)
 *   lines FILE N                       until FILE has N lines
 *   grows FILE                         until FILE got longer
 *
 * Prints "report JOB INC words…" for each report. Exit 1 when a wait takes over a minute. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "gqd/exec/exec.h"

#define PATIENCE GQ_SEC(60)

static const char *const report_names[] = {
	[EXEC_STARTED] = "started", [EXEC_START_FAILED] = "start-failed", [EXEC_EXITED] = "exited",
	[EXEC_STORED] = "stored", [EXEC_STORE_FAILED] = "store-failed",
	[EXEC_RESTORE_FAILED] = "restore-failed", [EXEC_GONE] = "gone", [EXEC_SIZE] = "size",
	[EXEC_GRADE] = "grade"};

static struct {
	struct exec *x;
	const char *dir;
	uid_t uid;
	gid_t gid;
	/* what we wait for, and whether it came */
	char name[32];
	unsigned job, inc;
	bool came;
} d;

static void give_up(const char *what)
{
	printf("waited in vain for %s\n", what);
	exit(1);
}

static void on_report(void *ctx, const struct exec_report *r)
{
	(void)ctx;
	printf("%s %u %u code=%d signal=%d bytes=%d took_us=%lld frozen_us=%lld%s%s\n",
		report_names[r->type], r->job, r->incarnation, r->exit_code, r->exit_signal,
		r->bytes > 0, (long long)r->took / 1000, (long long)r->took2 / 1000,
		r->text ? " text=" : "", r->text ? r->text : "");
	fflush(stdout);
	if (r->job != d.job || r->incarnation != d.inc || !d.name[0])
		return;
	if (!strcmp(d.name, report_names[r->type]))
		d.came = true;
	else if (r->type != EXEC_STARTED && r->type != EXEC_SIZE && r->type != EXEC_GRADE &&
		r->type != EXEC_STORE_FAILED)
		give_up(d.name); /* another end */
}

static void turn(int ms)
{
	struct pollfd p = {exec_fd(d.x), POLLIN, 0};

	if (poll(&p, 1, ms) > 0)
		exec_dispatch(d.x);
}

static long count_lines(const char *path)
{
	_cleanup_free_ char *text = NULL;
	long n = 0;

	if (file_read(path, 64u << 20, &text, NULL, NULL) < 0)
		return -1;
	for (const char *s = text; *s; s++)
		n += *s == '\n';
	return n;
}

static void wait_lines(const char *path, long want)
{
	gq_time end = gq_monotonic() + PATIENCE;

	while (count_lines(path) < want) {
		if (gq_monotonic() > end)
			give_up(path);
		turn(5);
	}
}

static void wait_report(const char *name, unsigned job, unsigned inc)
{
	gq_time end = gq_monotonic() + PATIENCE;

	str_copy(d.name, sizeof(d.name), name);
	d.job = job;
	d.inc = inc;
	for (d.came = false; !d.came;) {
		if (gq_monotonic() > end)
			give_up(name);
		turn(1000);
	}
	d.name[0] = '\0';
}

static void start(unsigned job, unsigned inc, unsigned image, const char *script, const char *arg)
{
	_cleanup_free_ char *text = NULL, *out = xasprintf("%s/work/%u.out", d.dir, job),
		*cwd = xasprintf("%s/work", d.dir), *env_inc = xasprintf("GQ_INCARNATION=%u", inc);
	const char *env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", env_inc, NULL};
	const char *argv[] = {arg, NULL};
	struct exec_job j = {.job = job, .incarnation = inc, .image = image, .uid = d.uid,
		.gid = d.gid, .umask = 027, .cwd = cwd, .env = env, .argv = argv, .stdout_path = out};
	struct gq_err err = {0};

	if (file_read(script, 4u << 20, &text, &j.script_len, &err) == 0) {
		j.script = text;
		if (exec_start(d.x, &j, &err) == 0)
			return;
	}
	printf("error %u %u %s\n", job, inc, err.text);
}

static void on_finding(void *ctx, const char *what, bool ok, const char *text, const char *cure)
{
	(void)ctx;
	printf("doctor %s: %s: %s%s%s\n", ok ? "ok" : "NOT OK", what, text, cure ? " - " : "",
		cure ? cure : "");
}

static void on_unfinished(void *ctx, const char *what, bool ok, const char *text, const char *cure)
{
	(void)what, (void)ok, (void)text;
	*(bool *)ctx |= cure && !strncmp(cure, "ask again", 9);
}

/* Asks until all is known: criu is checked in the background. */
static void doctor(void)
{
	bool unfinished = true;

	for (int i = 0; i < 100 && unfinished; i++) {
		unfinished = false;
		exec_doctor(d.x, on_unfinished, &unfinished);
		if (unfinished)
			usleep(50000);
	}
	exec_doctor(d.x, on_finding, NULL);
}

static void result(const char *verb, int r)
{
	if (r < 0)
		printf("error %s: %s\n", verb, strerror(-r));
}

static bool command_pair(const char *verb, unsigned job, unsigned inc, int n)
{
	struct gq_err err = {0};

	if (!strcmp(verb, "adopt")) {
		if (exec_adopt(d.x, job, inc, &err) < 0)
			printf("error %u %u %s\n", job, inc, err.text);
	} else if (!strcmp(verb, "store"))
		result(verb, exec_store(d.x, job, inc, GQ_NEVER));
	else if (!strcmp(verb, "kill"))
		result(verb, exec_kill(d.x, job, inc));
	else if (!strcmp(verb, "signal"))
		result(verb, exec_signal(d.x, job, inc, n));
	else if (!strcmp(verb, "notice"))
		result(verb, exec_notice(d.x, job, inc, "reservation", "card 0 is reserved",
				GQ_SEC(1796000000), n));
	else if (!strcmp(verb, "notice-off"))
		result(verb, exec_notice_off(d.x, job, inc));
	else if (!strcmp(verb, "forget"))
		result(verb, exec_forget(d.x, job, inc));
	else if (!strcmp(verb, "forget-job"))
		result(verb, exec_forget_job(d.x, job));
	else if (!strcmp(verb, "drop"))
		result(verb, exec_drop_image(d.x, job, inc));
	else if (!strcmp(verb, "has"))
		printf("has %u %u %s\n", job, inc, exec_has_image(d.x, job, inc) ? "yes" : "no");
	else
		return false;
	return true;
}

static void command(const char *line)
{
	char verb[32], word[4096] = "", arg[4096] = "";
	unsigned a = 0, b = 0, c = 0;
	int n = 0;

	if (sscanf(line, "start %u %u %u %4095s %4095s", &a, &b, &c, word, arg) >= 4)
		start(a, b, c, word, arg[0] ? arg : NULL);
	else if (sscanf(line, "user %u %u", &a, &b) == 2)
		d.uid = a, d.gid = b;
	else if (sscanf(line, "wait %31s %u %u", verb, &a, &b) == 3)
		wait_report(verb, a, b);
	else if (sscanf(line, "lines %4095s %u", word, &a) == 2)
		wait_lines(word, a);
	else if (sscanf(line, "grows %4095s", word) == 1)
		wait_lines(word, count_lines(word) + 1);
	else if (sscanf(line, "owner %u", &a) == 1)
		printf("owner %u %u\n", a, exec_job_of_pid(d.x, (pid_t)a));
	else if (!strcmp(line, "adopt-done"))
		printf("strays %d\n", exec_adopt_done(d.x));
	else if (!strcmp(line, "doctor"))
		doctor();
	else if (!strcmp(line, "die"))
		kill(getpid(), SIGKILL);
	else if (sscanf(line, "%31s %u %u %d", verb, &a, &b, &n) < 2 || !command_pair(verb, a, b, n))
		printf("error unknown command: %s\n", line);
}

int main(int argc, char **argv)
{
	struct exec_conf c = {.dump_timeout = GQ_SEC(60), .restore_timeout = GQ_SEC(60)};
	const char *images = getenv("GQ_TEST_IMAGES"), *dump = getenv("GQ_TEST_DUMP_TIMEOUT_MS");
	struct gq_err err = {0};
	char line[8300];

	if (argc < 2)
		return 2;
	d.dir = argv[1];
	d.uid = getuid();
	d.gid = getgid();
	c.run_dir = xasprintf("%s/run", d.dir);
	c.state_dir = xasprintf("%s/state", d.dir);
	c.image_dir = images ? images : xasprintf("%s/images", d.dir);
	c.shim = getenv("GQ_SHIM");
	c.criu = getenv("GQ_CRIU");
	c.capsule = argc < 3;
	if (dump)
		c.dump_timeout = GQ_MSEC(strtol(dump, NULL, 10));
	if (exec_new(&c, on_report, NULL, &d.x, &err) < 0) {
		printf("error %s\n", err.text);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && line[0] != '#')
			command(line);
		fflush(stdout);
	}
	exec_free(d.x);
	return 0;
}
