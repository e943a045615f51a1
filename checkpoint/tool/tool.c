/* SPDX-License-Identifier: MIT
 * tool.c - gq-image: look at snapshots, check them, take them apart and put them together */
#include "tool.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/usage.h"

enum { OPT_JSON, OPT_QUICK, OPT_DIRECTORY, OPT_OUTPUT, OPT_LEVEL, OPT_WORKERS, OPT_HELP, OPT_VERSION,
	OPT_HELP_MAN, OPT_N };
enum { EXIT_BAD = 1, EXIT_USAGE = 2 };

static const struct usage_option options[OPT_N] = {
	[OPT_JSON] = {"json", 0, NULL, "ls, info: print JSON, an array with an object for each image",
		NULL},
	[OPT_QUICK] = {"quick", 0, NULL, "verify: header, trailer, index and manifest only", NULL},
	[OPT_DIRECTORY] = {"directory", 'C', "DIR", "extract: into DIR (the image's name without .gqi)",
		NULL},
	[OPT_OUTPUT] = {"output", 'o', "FILE", "pack: the image to write (DIR.gqi)", NULL},
	[OPT_LEVEL] = {"level", 'l', "N", "pack: level of zstd, -7 to 19 (1)", NULL},
	[OPT_WORKERS] = {"workers", 'w', "N", "pack: threads that compress, 1 to 8 (as many as CPUs)",
		NULL},
	[OPT_HELP] = {"help", 'h', NULL, "print this", NULL},
	[OPT_VERSION] = {"version", 'V', NULL, "print the version", NULL},
	[OPT_HELP_MAN] = {"help-man", 0, NULL, NULL, NULL},
};

static const struct command {
	const char *name, *words, *help;
	int (*run)(struct tool *t, struct subject *s, struct gq_err *err);
	bool every_word; /* is a subject; else only the first */
} commands[] = {
	{"ls", "IMAGE...", "the files in it: bytes, bytes as stored, frames", tool_ls, true},
	{"info", "IMAGE...", "what it says of itself: job, time, criu, kernel, cards", tool_info, true},
	{"verify", "IMAGE...", "check every byte against its checksum", tool_verify, true},
	{"extract", "IMAGE [NAME...]", "write its files, or those named, into a folder", tool_extract,
		false},
	{"pack", "DIR", "make an image of a folder of criu's files", tool_pack, false},
};

static void help(struct buf *out)
{
	buf_str(out, "usage: gq-image COMMAND [OPTION…] IMAGE…\n"
		"An IMAGE is a file that gq has written, the folder of one, or a folder of criu's files.\n\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		buf_fmt(out, "  %-8s %-16s %s\n", commands[i].name, commands[i].words, commands[i].help);
	buf_chr(out, '\n');
	usage_help(options, OPT_N, out);
}

static void inform(struct tool *t, int option)
{
	if (option == OPT_HELP)
		help(&t->out);
	else if (option == OPT_VERSION)
		buf_str(&t->out, "gq-image " PACKAGE_VERSION "\n");
	else
		usage_man(options, OPT_N, &t->out);
}

static int option_take(struct tool *t, int option, const char *value, struct gq_err *err)
{
	switch (option) {
	case OPT_JSON:
		t->json = true;
		return 0;
	case OPT_QUICK:
		t->quick = true;
		return 0;
	case OPT_DIRECTORY:
		t->directory = value;
		return 0;
	case OPT_OUTPUT:
		t->output = value;
		return 0;
	case OPT_LEVEL:
		return parse_int(value, -7, 19, &t->level, err);
	case OPT_WORKERS:
		return parse_int(value, 1, 8, &t->workers, err);
	}
	inform(t, option);
	return 1;
}

/* 0, 1 nothing is left to do, or -EINVAL. */
static int arguments(struct tool *t, int argc, char **argv, const char **words, struct gq_err *err)
{
	struct usage_scan scan = USAGE_SCAN(argc, argv);
	const char *value;
	int option, r = 0;

	while (!r && (option = usage_next(&scan, options, OPT_N, &value, err)) != USAGE_END) {
		if (option == USAGE_WORD)
			words[t->n_words++] = value;
		else if (option < 0)
			r = option;
		else
			r = option_take(t, option, value, err);
		if (r < 0 && option >= 0)
			gq_err_prefix(err, r, "--%s", options[option].long_name);
	}
	return r;
}

static const struct command *command_find(const char *name, struct gq_err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	gq_err_set(err, -EINVAL, "unknown command '%s': ls, info, verify, extract or pack", name);
	return NULL;
}

static int subject_run(struct tool *t, const struct command *c, const char *word)
{
	_cleanup_subject_ struct subject s = {.image = GQI_EMPTY, .dir = -1};
	struct gq_err err = {0};
	int r = subject_open(word, &s, &err);

	if (!r)
		r = c->run(t, &s, &err);
	if (r < 0)
		fprintf(stderr, "gq-image: %s\n", err.text);
	return r < 0 ? EXIT_BAD : 0;
}

static int run(struct tool *t, const struct command *c)
{
	size_t n = c->every_word ? t->n_words : 1;
	int status = 0;

	for (size_t i = 0; i < n; i++)
		if (subject_run(t, c, t->words[i]))
			status = EXIT_BAD;
	if (c->run == tool_ls || c->run == tool_info)
		json_end(t);
	return status;
}

int main(int argc, char **argv)
{
	_cleanup_free_ const char **words = xnew_n(const char *, (size_t)argc + 1);
	struct tool t = {.level = 1, .workers = 1};
	const struct command *c = NULL;
	struct gq_err err = {0};
	int status = 0, r;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		t.workers = CPU_COUNT(&set);
	r = arguments(&t, argc, argv, words, &err);
	if (!r && t.n_words < 2)
		r = gq_err_set(&err, -EINVAL, "a command and an image: see --help");
	if (!r)
		c = command_find(words[0], &err);
	if (r < 0 || (!r && !c)) {
		fprintf(stderr, "gq-image: %s\n", err.text);
		return EXIT_USAGE;
	}
	if (c) {
		t.words = words + 1;
		t.n_words--;
		status = run(&t, c);
	}
	fputs(buf_c(&t.out), stdout);
	buf_clear(&t.out);
	return fflush(stdout) ? EXIT_BAD : status;
}
