/* SPDX-License-Identifier: MIT
 * streamer.c - gq-streamer: stands between criu and one image file, for one dump or one restore
 * A program of its own because it has threads and a compressor, which the parent of a job must not
 * have. Errors are one line on stderr; the status is 0 only when all went well. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/gqtime.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/usage.h"
#include "capture.h"
#include "serve.h"
#include "squeeze.h"
#include "unpack.h"
#include "wire.h"

enum { OPT_DIR, OPT_SOCKET, OPT_GATE, OPT_JOB, OPT_INCARNATION, OPT_LEVEL, OPT_WORKERS, OPT_BUFFERED,
	OPT_HELP, OPT_VERSION, OPT_N };

static const struct usage_option options[OPT_N] = {
	[OPT_DIR] = {"dir", 'D', "DIR", "make the socket there, where criu --stream -D DIR looks", NULL},
	[OPT_SOCKET] = {"socket-fd", 0, "N", "the listening socket is descriptor N", NULL},
	[OPT_GATE] = {"gate-fd", 0, "N", "capture: the gate's listening socket is descriptor N", NULL},
	[OPT_JOB] = {"job", 0, "ID", "capture: noted in the image", NULL},
	[OPT_INCARNATION] = {"incarnation", 0, "N", "capture: noted in the image", NULL},
	[OPT_LEVEL] = {"level", 'l', "N", "capture: of zstd, -7 to 19 (1)", NULL},
	[OPT_WORKERS] = {"workers", 'w', "N", "threads that (de)compress, 1 to 8 (as many as CPUs)", NULL},
	[OPT_BUFFERED] = {"buffered", 0, NULL, "capture: write through the page cache", NULL},
	[OPT_HELP] = {"help", 'h', NULL, "print this", NULL},
	[OPT_VERSION] = {"version", 'V', NULL, "print the version", NULL},
};

struct order {
	const char *verb, *image, *file, *dir;
	int64_t socket_fd, level, workers;
	int64_t gate_fd, job, incarnation;
	bool buffered;
	bool done; /* --help and the like */
};

static int64_t cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : CPU_COUNT(&set);
}

static int inform(struct order *o, int option)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (option == OPT_HELP) {
		buf_str(&out, "usage: gq-streamer capture|serve [OPTION…] IMAGE\n"
			"       gq-streamer cat IMAGE FILE\n"
			"Takes what `criu dump --stream` writes into one image, gives it to `criu restore "
			"--stream`,\nor prints one file of it. It is started by gq-shim.\n\n");
		usage_help(options, OPT_N, &out);
	} else {
		buf_str(&out, "gq-streamer " PACKAGE_VERSION "\n");
	}
	fputs(buf_c(&out), stdout);
	o->done = true;
	return 0;
}

static int option_take(struct order *o, int option, const char *value, struct gq_err *err)
{
	switch (option) {
	case OPT_DIR:
		o->dir = value;
		return 0;
	case OPT_SOCKET:
		return parse_int(value, 0, INT32_MAX, &o->socket_fd, err);
	case OPT_GATE:
		return parse_int(value, 0, INT32_MAX, &o->gate_fd, err);
	case OPT_JOB:
		return parse_int(value, 0, INT64_MAX, &o->job, err);
	case OPT_INCARNATION:
		return parse_int(value, 0, INT64_MAX, &o->incarnation, err);
	case OPT_LEVEL:
		return parse_int(value, -7, 19, &o->level, err);
	case OPT_WORKERS:
		return parse_int(value, 1, SQUEEZE_WORKERS, &o->workers, err);
	case OPT_BUFFERED:
		o->buffered = true;
		return 0;
	}
	return inform(o, option);
}

static int word_take(struct order *o, const char *word, struct gq_err *err)
{
	if (!o->verb && strcmp(word, "capture") && strcmp(word, "serve") && strcmp(word, "cat"))
		return gq_err_set(err, -EINVAL, "unknown verb '%s': capture, serve or cat", word);
	if (!o->verb)
		o->verb = word;
	else if (!o->image)
		o->image = word;
	else if (!o->file && !strcmp(o->verb, "cat"))
		o->file = word;
	else
		return gq_err_set(err, -EINVAL, "one image, not '%s' as well", word);
	return 0;
}

static int order_check(const struct order *o, struct gq_err *err)
{
	if (!o->image)
		return gq_err_set(err, -EINVAL, "capture, serve or cat, and an image: see --help");
	if (!strcmp(o->verb, "cat"))
		return o->file ? 0 : gq_err_set(err, -EINVAL, "cat: which file of %s?", o->image);
	if (o->dir ? o->socket_fd >= 0 : o->socket_fd < 0)
		return gq_err_set(err, -EINVAL, "%s: needs --dir: see --help", o->verb);
	return 0;
}

static int order_read(struct order *o, int argc, char **argv, struct gq_err *err)
{
	struct usage_scan scan = USAGE_SCAN(argc, argv);
	const char *value;
	int option, r = 0;

	while (!r && !o->done) {
		option = usage_next(&scan, options, OPT_N, &value, err);
		if (option == USAGE_END)
			break;
		if (option < 0) {
			r = option == USAGE_WORD ? word_take(o, value, err) : option;
			continue;
		}
		r = option_take(o, option, value, err);
		if (r < 0)
			gq_err_prefix(err, r, "--%s", options[option].long_name);
	}
	return r || o->done ? r : order_check(o, err);
}

/* Relative to the directory, so that its path may be longer than the name of a socket. */
static int listen_in(const char *dir, const char *name, struct gq_err *err)
{
	_cleanup_close_ int d = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (d < 0)
		return gq_err_sys(err, -errno, "%s", dir);
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", d, name);
	unlinkat(d, name, 0);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1) < 0)
		return gq_err_sys(err, -errno, "%s/%s", dir, name);
	return TAKE_FD(fd);
}

static int say(int r, const struct gq_err *err)
{
	if (r < 0)
		fprintf(stderr, "%s\n", err->text);
	return r < 0;
}

static int capture(const struct order *o)
{
	const struct capture_order order = {
		.image = {.path = o->image, .job = o->job, .incarnation = o->incarnation,
			.created = gq_now(), .direct = !o->buffered},
		.listen_fd = (int)o->socket_fd,
		.gate_fd = (int)o->gate_fd,
		.level = (int)o->level,
		.workers = (unsigned)o->workers,
	};
	struct capture *c = NULL;
	struct gq_err err = {0};
	int status = say(capture_new(&order, &c, &err), &err);

	if (!status)
		status = say(capture_run(c, &err), &err);
	capture_free(c);
	return status;
}

static int serve(const struct order *o)
{
	_cleanup_gqi_ struct gqi image = GQI_EMPTY;
	struct serve *s = NULL;
	struct gq_err err = {0};
	int status = say(gqi_open(o->image, &image, &err), &err);

	if (!status)
		status = say(serve_new(&image, (int)o->socket_fd, (unsigned)o->workers, &s, &err), &err);
	if (!status)
		status = say(serve_run(s, &err), &err);
	serve_free(s);
	return status;
}

/* One file of the image to stdout: what is needed before criu runs. */
static int cat(const struct order *o)
{
	_cleanup_gqi_ struct gqi image = GQI_EMPTY;
	struct gq_err err = {0};
	int status = say(gqi_open(o->image, &image, &err), &err);

	return status ? status : say(unpack_file(&image, o->file, STDOUT_FILENO, &err), &err);
}

int main(int argc, char **argv)
{
	struct order o = {.socket_fd = -1, .gate_fd = -1, .level = 1, .workers = cpus()};
	struct gq_err err = {0};
	bool is_capture;

	if (order_read(&o, argc, argv, &err) < 0) {
		fprintf(stderr, "gq-streamer: %s\n", err.text);
		return 2;
	}
	if (o.done)
		return 0;
	signal(SIGPIPE, SIG_IGN);
	umask(0077);
	if (!strcmp(o.verb, "cat"))
		return cat(&o);
	is_capture = !strcmp(o.verb, "capture");
	if (o.dir)
		o.socket_fd = listen_in(o.dir, is_capture ? WIRE_CAPTURE : WIRE_SERVE, &err);
	if (o.socket_fd < 0)
		return say((int)o.socket_fd, &err);
	return is_capture ? capture(&o) : serve(&o);
}
