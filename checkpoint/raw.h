/* SPDX-License-Identifier: MIT
 * raw.h - folders of criu's own files: images of the first format, and what tools take apart
 * A folder with a "manifest" (FORMAT.md) that names every file with its sum is an image.
 * Errors: -EILSEQ damaged or foreign, -ENOENT no manifest. */
#ifndef GQ_CHECKPOINT_RAW_H
#define GQ_CHECKPOINT_RAW_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define RAW_HEAD     "gq-image 1"
#define RAW_MANIFEST "manifest"

struct raw_names {
	char **list; /* owned, and so are they; sorted */
	size_t len;
};

int raw_names(int dir, struct raw_names *ret, struct gq_err *err); /* without the manifest */
void raw_names_clear(struct raw_names *n);

/* Its lines, sum checked and cut off; the caller frees. */
int raw_manifest(const char *dir, char **ret, struct gq_err *err);
/* Compares every file with the manifest. */
int raw_verify(const char *dir, struct gq_err *err);
/* Appends to @lines (key=value) what makes them the manifest of the files in @dir. */
int raw_manifest_make(const char *dir, const char *lines, struct buf *ret, struct gq_err *err);

#endif
