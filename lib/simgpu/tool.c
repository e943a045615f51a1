/* SPDX-License-Identifier: MIT
 * tool.c - gq-simgpu: makes and steers a simulated machine of GPUs */
#include "tool.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/parse.h"

static const struct command {
	const char *name, *arguments, *help;
	int (*run)(struct tool *t, struct gq_err *err);
} commands[] = {
	{"create", "[--cards N] [--memory SIZE] [--model NAME] [--driver V] [--cuda V]",
		"make a machine: 2 cards of 80G, NVIDIA A100-SXM4-80GB;\n"
		"also --context-memory SIZE (256M), --numa NODES (1), --replace",
		tool_create},
	{"list", "", "cards and the processes on them", tool_list},
	{"set", "CARD [--util P] [--mem-util P] [--temp C] [--power W]",
		"what the card reports; the load belongs to no process", tool_set},
	{"hold", "CARD --vram SIZE [--util P] [--name NAME] [--detach]",
		"be a foreign process on the card until killed; prints the pid", tool_hold},
	{"xid", "CARD NUMBER", "let the driver report an XID error", tool_xid},
	{"drop", "CARD", "the card falls off the bus", tool_drop},
	{"return", "CARD", "and is back", tool_return},
	{"fail", "CALL ERROR [--times N] | --clear",
		"let an NVML or CUDA call fail: number, name (GPU_IS_LOST,\n"
		"ERROR_OUT_OF_MEMORY), `hang`, or 0 for not any more",
		tool_fail},
	{"destroy", "", "remove the machine; its users see the driver gone", tool_destroy},
};

static void print_help(FILE *f)
{
	fprintf(f, "Usage: gq-simgpu [-f FILE] COMMAND [ARGUMENTS]\n"
		   "Makes and steers simulated NVIDIA GPUs for programs that load the simulated\n"
		   "libnvidia-ml.so.1 and libcuda.so.1.\n\n"
		   "  -f FILE     the machine (default $GQ_SIMGPU, else " SIM_DEFAULT_PATH ")\n"
		   "  -h, --help  this text\n"
		   "  --version\n\nCommands; CARD is an index or a UUID:\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const char *line = commands[i].help;

		fprintf(f, "  %s %s\n", commands[i].name, commands[i].arguments);
		while (*line) {
			size_t n = strcspn(line, "\n");

			fprintf(f, "        %.*s\n", (int)n, line);
			line += n + (line[n] == '\n');
		}
	}
	fprintf(f, "\nUUIDs are always the same: card N is GPU-67710000-7369-6d67-7075-N in twelve\n"
		   "hexadecimal digits. Exit status: 0 done, 1 failed, 2 wrong usage.\n");
}

int tool_options(struct tool *t, const struct tool_option *options, size_t n, struct gq_err *err)
{
	int words = 0;

	for (int i = 1; i < t->argc; i++) {
		char *arg = t->argv[i], *value = strchr(arg, '=');
		size_t len = value ? (size_t)(value - arg) : strlen(arg), k = 0;

		if (arg[0] != '-') {
			t->argv[1 + words++] = arg;
			continue;
		}
		while (k < n && (strlen(options[k].name) != len || strncmp(options[k].name, arg, len)))
			k++;
		if (k == n)
			return gq_err_set(err, -EINVAL, "%s: unknown option %s", t->argv[0], arg);
		if (options[k].set)
			*options[k].set = true;
		if (!options[k].value)
			continue;
		if (!value && i + 1 == t->argc)
			return gq_err_set(err, -EINVAL, "%s: %s needs a value", t->argv[0], arg);
		*options[k].value = value ? value + 1 : t->argv[++i];
	}
	return words;
}

int tool_card(const struct sim *s, const char *word, struct gq_err *err)
{
	int64_t i;

	for (uint32_t k = 0; k < s->shm->n_cards; k++) {
		if (strcmp(s->shm->cards[k].uuid, word) == 0)
			return k;
	}
	if (parse_int(word, 0, s->shm->n_cards - 1, &i, NULL) < 0)
		return gq_err_set(err, -EINVAL, "card %s: not there, cards are 0 to %u", word,
			s->shm->n_cards - 1);
	return i;
}

int tool_number(const char *option, const char *word, int64_t min, int64_t max, int64_t *ret,
	struct gq_err *err)
{
	int r;

	if (!word)
		return 0;
	r = parse_int(word, min, max, ret, err);
	return r < 0 ? gq_err_prefix(err, r, "%s", option) : 0;
}

int tool_size(const char *option, const char *word, uint64_t *ret_bytes, struct gq_err *err)
{
	int64_t mib = 0;
	int r;

	if (!word)
		return 0;
	r = parse_size_mib(word, &mib, err);
	if (r < 0)
		return gq_err_prefix(err, r, "%s", option);
	*ret_bytes = (uint64_t)mib << 20;
	return 0;
}

int tool_open(struct tool *t, struct sim *ret, struct gq_err *err)
{
	int r = sim_open(ret, t->path);

	if (r == -ENOENT)
		return gq_err_set(err, r, "%s: no simulated machine; make one: gq-simgpu create",
			t->path);
	if (r == -EPROTO)
		return gq_err_set(err, r, "%s: made by another version of gq-simgpu, or by another "
					  "program; gq-simgpu create --replace", t->path);
	if (r == 0)
		r = sim_lock(ret);
	return r < 0 ? gq_err_sys(err, r, "%s", t->path) : 0;
}

void tool_done(struct sim *s)
{
	sim_unlock(s);
}

static int run(const struct command *c, struct tool *t)
{
	struct gq_err err = {0};
	int r = c->run(t, &err);

	if (r >= 0)
		return TOOL_OK;
	fprintf(stderr, "gq-simgpu: %s\n", err.text);
	if (r == -EINVAL)
		fprintf(stderr, "Usage: gq-simgpu %s %s\n", c->name, c->arguments);
	return r == -EINVAL ? TOOL_USAGE : TOOL_FAILED;
}

int main(int argc, char **argv)
{
	struct tool t = {.path = sim_path()};
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
			print_help(stdout);
			return TOOL_OK;
		}
		if (strcmp(argv[i], "--version") == 0) {
			puts("gq-simgpu " PACKAGE_VERSION);
			return TOOL_OK;
		}
		if (strcmp(argv[i], "-f") != 0 || i + 1 == argc) {
			fprintf(stderr, "gq-simgpu: %s %s; see gq-simgpu --help\n", argv[i],
				strcmp(argv[i], "-f") == 0 ? "needs a file" : "is no option");
			return TOOL_USAGE;
		}
		t.path = argv[++i];
	}
	if (i == argc) {
		print_help(stderr);
		return TOOL_USAGE;
	}
	t.argc = argc - i;
	t.argv = argv + i;
	for (size_t k = 0; k < ARRAY_LEN(commands); k++) {
		if (strcmp(commands[k].name, argv[i]) == 0)
			return run(&commands[k], &t);
	}
	fprintf(stderr, "gq-simgpu: no command %s; see gq-simgpu --help\n", argv[i]);
	return TOOL_USAGE;
}
