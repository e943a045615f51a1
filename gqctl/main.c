/* SPDX-License-Identifier: MIT
 * main.c - gqctl: the table of commands, and what they have in common */
#include "gqctl.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static const struct command *const commands[] = {
#define ROW(name) &cmd_##name,
	COMMANDS(ROW)
#undef ROW
};

static const struct usage_option common[] = {
	{"socket", 0, "PATH", "talk to the gqd that listens there",
		"The socket of gqd. Without it: \\fBGQ_SOCKET\\fR, else \\fI/run/gq/gqd.sock\\fR, else "
		"\\fI$XDG_RUNTIME_DIR/gq/gqd.sock\\fR."},
	{"help", 'h', NULL, "say what it does", NULL},
};

static const struct usage_option top[] = {
	{"help", 'h', NULL, "list the commands", NULL},
	{"version", 'V', NULL, "print the version", NULL},
	{"help-man", 0, NULL, NULL, NULL},
};

static void help_all(struct buf *out)
{
	buf_str(out,
		"usage: gqctl COMMAND [OPTION…] [WORD…]\n"
		"Inspects and steers gqd: queue, windows, reservations, evictions.\n\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		buf_fmt(out, "  %-14s %s\n", commands[i]->name, commands[i]->help);
	buf_str(out, "\n`gqctl COMMAND --help` says more.\n");
}

static void help_command(const struct ctl *ctl, struct buf *out)
{
	const struct command *c = ctl->command;

	buf_fmt(out, "usage: gqctl %s [OPTION…]%s%s\n%s\n\n", c->name,
		*c->words ? " " : "", c->words, c->help);
	usage_help(ctl->options, ctl->n_options, out);
}

static void man_all(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const struct command *c = commands[i];

		buf_fmt(out, ".SS %s %s\n", c->name, c->words);
		usage_man_text(c->help, out);
		buf_str(out, ".\n");
		if (c->man)
			buf_fmt(out, "%s\n", c->man);
		usage_man(c->options, c->n_options, out);
	}
	buf_str(out, ".SS For every command\n");
	usage_man(common, ARRAY_LEN(common), out);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

static void merge_options(struct ctl *ctl)
{
	const struct command *c = ctl->command;

	for (size_t i = 0; i < c->n_options; i++)
		ctl->options[ctl->n_options++] = c->options[i];
	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		ctl->options[ctl->n_options++] = common[i];
}

static int scan(struct ctl *ctl, int argc, char **argv)
{
	struct usage_scan s = USAGE_SCAN(argc, argv);
	struct gq_err err = {0};
	const char *value;
	int o;

	while ((o = usage_next(&s, ctl->options, ctl->n_options, &value, &err)) !=
		USAGE_END) {
		if (o == USAGE_WORD && ctl->n_words < WORDS_MAX)
			ctl->words[ctl->n_words++] = value;
		else if (o == USAGE_WORD)
			return ctl_usage(
				"%s: more than %d words", ctl->command->name, WORDS_MAX);
		else if (o < 0)
			return ctl_usage("%s: %s", ctl->command->name, err.text);
		else
			ctl->values[o] = value ? value : "";
	}
	return 0;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct ctl ctl = {.command = command};
	int r;

	merge_options(&ctl);
	r = scan(&ctl, argc, argv);
	if (r)
		return r;
	if (ctl_has(&ctl, "help")) {
		_cleanup_buf_ struct buf out = BUF_INIT;

		help_command(&ctl, &out);
		return ctl_print(&out);
	}
	if (ctl.n_words < command->min_words)
		return ctl_usage("%s: %s is missing: see gqctl %s --help", command->name,
			command->words, command->name);
	if (ctl.n_words > command->max_words)
		return ctl_usage("%s: '%s' is one word too many: see gqctl %s --help",
			command->name, ctl.words[command->max_words], command->name);
	r = command->run(&ctl);
	client_close(ctl.client);
	return r;
}

static int run_top(int argc, char **argv)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct usage_scan s = USAGE_SCAN(argc, argv);
	struct gq_err err = {0};
	const char *value;
	int o = usage_next(&s, top, ARRAY_LEN(top), &value, &err);

	if (o == USAGE_END)
		return ctl_usage("no command given: see gqctl --help");
	if (o < 0)
		return ctl_usage("%s", err.text);
	if (o == 0)
		help_all(&out);
	else if (o == 1)
		buf_str(&out, "gqctl " PACKAGE_VERSION "\n");
	else
		man_all(&out);
	return ctl_print(&out);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2 || argv[1][0] == '-')
		return run_top(argc, argv);
	if (strcmp(argv[1], "help") == 0) {
		argv[1] = argc > 2 ? argv[2] : (char *)"--help";
		if (argc > 2 && find_command(argv[2]))
			return run_command(find_command(argv[2]), 2,
				(char *[]){argv[2], (char *)"--help", NULL});
		return run_top(2, argv);
	}
	command = find_command(argv[1]);
	if (!command)
		return ctl_usage("no command '%s': see gqctl --help", argv[1]);
	return run_command(command, argc - 1, argv + 1);
}
