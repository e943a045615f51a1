/* SPDX-License-Identifier: MIT
 * main.c - gqd: options, signals, and the daemon between them */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/usage.h"
#include "daemon.h"

enum option {
	OPTION_CONFIG, OPTION_CHECK, OPTION_STATE, OPTION_RUN, OPTION_SAMPLE, OPTION_FAULTS,
	OPTION_VERSION, OPTION_HELP, OPTION_HELP_MAN
};

static const struct usage_option options[] = {
	[OPTION_CONFIG] = {"config", 'c', "FILE", "read the settings from FILE",
		"Read the settings from \\fIFILE\\fR; without it "
		"\\fI/etc/gq/gq.conf\\fR where that exists, else the defaults. See gq.conf(5)."},
	[OPTION_CHECK] = {"check-config", 0, NULL, "read the config, say what is wrong, and leave", NULL},
	[OPTION_STATE] = {"state-dir", 0, "DIR", "database, scripts, images (over the config's)", NULL},
	[OPTION_RUN] = {"run-dir", 0, "DIR", "sockets and notices (over the config's)", NULL},
	[OPTION_SAMPLE] = {"sample-config", 0, NULL, "print a config with every option and its default",
		NULL},
	[OPTION_FAULTS] = {"list-faults", 0, NULL, "print the named fault points (debug builds)", NULL},
	[OPTION_VERSION] = {"version", 'V', NULL, "print the version", NULL},
	[OPTION_HELP] = {"help", 'h', NULL, "print this", NULL},
	[OPTION_HELP_MAN] = {"help-man", 0, NULL, NULL, NULL},
};

struct args {
	const char *config, *state_dir, *run_dir;
	bool check;
};

static void print_buf(struct buf *b)
{
	fwrite(buf_c(b), 1, b->len, stdout);
	buf_clear(b);
}

static void print_help(void)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "Usage: gqd [OPTION]...\n"
		    "Lends idle GPUs to offline jobs and gives them back on time.\n\n");
	usage_help(options, ARRAY_LEN(options), &b);
	print_buf(&b);
}

/* Options that print and leave; -1 for the others. */
static int print_and_leave(int o)
{
	struct buf b = BUF_INIT;

	switch (o) {
	case OPTION_SAMPLE: conf_print_sample(&b); break;
	case OPTION_FAULTS: gq_fault_list(stdout); break;
	case OPTION_VERSION: puts(PACKAGE_STRING); break;
	case OPTION_HELP: print_help(); break;
	case OPTION_HELP_MAN: usage_man(options, ARRAY_LEN(options), &b); break;
	default: return -1;
	}
	print_buf(&b);
	return fflush(stdout) ? 1 : 0;
}

/* -1 = go on, else the exit status. */
static int read_args(int argc, char **argv, struct args *a)
{
	struct usage_scan scan = USAGE_SCAN(argc, argv);
	struct gq_err err = {0};
	const char *value;
	int o, r;

	while ((o = usage_next(&scan, options, ARRAY_LEN(options), &value, &err)) != USAGE_END) {
		if (o == USAGE_WORD) {
			fprintf(stderr, "gqd: unexpected word '%s': see gqd --help\n", value);
			return 2;
		}
		if (o < 0) {
			fprintf(stderr, "gqd: %s\n", err.text);
			return 2;
		}
		r = print_and_leave(o);
		if (r >= 0)
			return r;
		if (o == OPTION_CONFIG)
			a->config = value;
		else if (o == OPTION_STATE)
			a->state_dir = value;
		else if (o == OPTION_RUN)
			a->run_dir = value;
		else
			a->check = true;
	}
	return -1;
}

static void on_stop(void *ctx)
{
	struct daemon *d = ctx;

	log_info("stopping; jobs go on");
	d->stopping = true;
	loop_quit(d->loop);
}

static void on_reload(void *ctx)
{
	struct daemon *d = ctx;

	if (d->conf.log_file)
		log_to_file(d->conf.log_file);
	daemon_reload(d);
}

static int open_log(const struct gq_conf *c, struct gq_err *err)
{
	int r;

	log_open("gqd", c->log_level, true);
	r = c->log_file ? log_to_file(c->log_file) : 0;
	return r < 0 ? gq_err_sys(err, r, "log.file: %s", c->log_file) : 0;
}

static int serve(struct daemon *d, struct gq_err *err)
{
	int r = open_log(&d->conf, err);

	if (!r)
		r = daemon_open(d, err);
	if (r < 0)
		return r;
	loop_signal(d->loop, SIGTERM, on_stop, d);
	loop_signal(d->loop, SIGINT, on_stop, d);
	loop_signal(d->loop, SIGHUP, on_reload, d);
	log_info("%s serves at %s (pid %d)", PACKAGE_STRING, d->socket, (int)getpid());
	return loop_run(d->loop, err);
}

int main(int argc, char **argv)
{
	static struct daemon d = {.lock_fd = -1};
	struct gq_err err = {0};
	struct args args = {0};
	int r = read_args(argc, argv, &args);

	if (r >= 0)
		return r;
	if (!args.config && access(GQ_SYSCONFDIR "/gq.conf", R_OK) == 0)
		args.config = GQ_SYSCONFDIR "/gq.conf";
	if (conf_load(args.config, &d.conf, &err) < 0) {
		fprintf(stderr, "gqd: %s\n", err.text);
		return args.check ? 1 : 2;
	}
	if (args.check) {
		printf("%s: good\n", args.config ? args.config : "(no file, all defaults)");
		conf_clear(&d.conf);
		return 0;
	}
	d.conf_path = args.config;
	d.state_arg = args.state_dir;
	d.run_arg = args.run_dir;
	r = serve(&d, &err);
	if (r < 0)
		fprintf(stderr, "gqd: %s\n", err.text);
	daemon_close(&d);
	return r < 0 ? 1 : 0;
}
