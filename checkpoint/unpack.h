/* SPDX-License-Identifier: MIT
 * unpack.h - whole files into and out of an image, one after the other
 * What tools and small needs want; criu is served by serve.h. */
#ifndef GQ_CHECKPOINT_UNPACK_H
#define GQ_CHECKPOINT_UNPACK_H

#include "gqi_write.h"

/* Writes the file @name to @fd. -ENOENT: there is none. */
int unpack_file(const struct gqi *g, const char *name, int fd, struct gq_err *err);

/* Reads and decodes every frame and counts the bytes: zstd's checksums too. */
int unpack_check(const struct gqi *g, struct gq_err *err);

/* The regular files of @dir, except "manifest", into a new image; @names in this order. */
int pack_files(const struct gqi_write *w, int level, unsigned workers, int dir,
	const char *const *names, size_t n, const char *manifest, struct gq_err *err);

#endif
