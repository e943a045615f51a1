/* SPDX-License-Identifier: MIT
 * tool.h - what the files of gq-simgpu share: the table of commands and reading of arguments */
#ifndef GQ_SIMGPU_TOOL_H
#define GQ_SIMGPU_TOOL_H

#include "base/err.h"
#include "sim.h"

struct tool {
	const char *path; /* the machine's file */
	int argc;         /* the command's own arguments, its name first */
	char **argv;
};

enum { TOOL_OK, TOOL_FAILED, TOOL_USAGE }; /* exit status */

/* 0, -EINVAL (usage), or another -errno (failed); the line for the user is in err. */
int tool_create(struct tool *t, struct gq_err *err);
int tool_list(struct tool *t, struct gq_err *err);
int tool_destroy(struct tool *t, struct gq_err *err);
int tool_set(struct tool *t, struct gq_err *err);
int tool_hold(struct tool *t, struct gq_err *err);
int tool_xid(struct tool *t, struct gq_err *err);
int tool_drop(struct tool *t, struct gq_err *err);
int tool_return(struct tool *t, struct gq_err *err);
int tool_fail(struct tool *t, struct gq_err *err);

/* Opens the machine and takes its mutex: tool_done() gives it back. */
int tool_open(struct tool *t, struct sim *ret, struct gq_err *err);
void tool_done(struct sim *s);

/* Options of a command, "--name VALUE" or "--name=VALUE"; the value is looked up or parsed later.
 * Words that are no options are left in argv[1…], their number is returned, or -EINVAL. */
struct tool_option {
	const char *name;
	const char **value; /* NULL: a flag, see set */
	bool *set;
};
int tool_options(struct tool *t, const struct tool_option *options, size_t n, struct gq_err *err);

int tool_card(const struct sim *s, const char *word, struct gq_err *err); /* index */
int tool_number(const char *option, const char *word, int64_t min, int64_t max, int64_t *ret,
	struct gq_err *err);
int tool_size(const char *option, const char *word, uint64_t *ret_bytes, struct gq_err *err);

#endif
