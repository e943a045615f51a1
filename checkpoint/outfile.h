/* SPDX-License-Identifier: MIT
 * outfile.h - a file written from front to end past the page cache
 * New pages of the cache cost more than the disk does; so the file is written with O_DIRECT, 4 MiB
 * at a time, where the file system takes that, and else through the cache with the disk kept busy.
 * Promises: after outfile_end() every byte is on the disk. */
#ifndef GQ_CHECKPOINT_OUTFILE_H
#define GQ_CHECKPOINT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct outfile {
	int fd;
	bool direct;
	char *path;         /* owned; for messages */
	unsigned char *buf; /* owned; OUTFILE_BUF bytes */
	size_t len;         /* of buf used */
	uint64_t at;        /* bytes written before buf */
};

#define OUTFILE_BUF   (4u << 20)
#define OUTFILE_EMPTY {.fd = -1}

/* The file must not exist; it will be 0600. */
int outfile_open(const char *path, bool direct, struct outfile *ret, struct gq_err *err);
int outfile_add(struct outfile *o, const void *data, size_t n, struct gq_err *err);
uint64_t outfile_size(const struct outfile *o);
int outfile_end(struct outfile *o, struct gq_err *err); /* fsync too */
void outfile_clear(struct outfile *o);

#endif
