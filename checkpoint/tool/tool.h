/* SPDX-License-Identifier: MIT
 * tool.h - gq-image: one file per command, a row for each in tool.c */
#ifndef GQ_CHECKPOINT_TOOL_H
#define GQ_CHECKPOINT_TOOL_H

#include <stdbool.h>

#include "base/buf.h"
#include "checkpoint/gqi.h"
#include "checkpoint/raw.h"

struct tool {
	bool json, quick;
	const char *directory, *output; /* NULL = not given */
	int64_t level, workers;
	const char *const *words; /* what follows the command */
	size_t n_words;
	struct buf out; /* goes to stdout when the command is done */
	size_t n_shown; /* of --json: objects so far */
};

/* An image, or a folder of criu's files with or without a manifest. */
struct subject {
	const char *path;       /* borrowed: as it was given */
	bool is_folder;
	struct gqi image;       /* !is_folder */
	int dir;                /* is_folder */
	struct raw_names names; /* is_folder */
};

/* A folder that holds image.gqi is that image. */
int subject_open(const char *path, struct subject *ret, struct gq_err *err);
void subject_close(struct subject *s);
#define _cleanup_subject_ __attribute__((cleanup(subject_close)))

void json_text(struct buf *b, const char *text, size_t n); /* with its quotes */
void json_begin(struct tool *t); /* one object for each subject, in one array */
void json_end(struct tool *t);

/* Each is called with all words, or, where the table says so, for every word. */
int tool_ls(struct tool *t, struct subject *s, struct gq_err *err);
int tool_info(struct tool *t, struct subject *s, struct gq_err *err);
int tool_verify(struct tool *t, struct subject *s, struct gq_err *err);
int tool_extract(struct tool *t, struct subject *s, struct gq_err *err);
int tool_pack(struct tool *t, struct subject *s, struct gq_err *err);

#endif
