/* SPDX-License-Identifier: MIT
 * file.h - whole files, and writing them so that a crash leaves the old or the new, never half */
#ifndef GQ_BASE_FILE_H
#define GQ_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* Reads all of @path, at most @max bytes (-EFBIG above). *ret is NUL-terminated; caller frees.
 * Expected errors: -ENOENT. */
int file_read(const char *path, size_t max, char **ret, size_t *ret_len, struct gq_err *err);

/* Temporary name, write, fsync, rename, fsync of the folder. The old file stays on any error. */
int file_write_atomic(const char *path, const void *data, size_t n, mode_t mode, struct gq_err *err);

/* As above without the two fsyncs: survives the death of processes, not of the machine. */
int file_write_fast(const char *path, const void *data, size_t n, mode_t mode, struct gq_err *err);

/* In place: for a new file that nobody reads before it is whole, or that says so itself. */
int file_write_plain(const char *path, const void *data, size_t n, mode_t mode, struct gq_err *err);

int write_all(int fd, const void *data, size_t n); /* 0 or -errno; repeats short writes */
int dir_fsync(const char *path);                   /* 0 or -errno */
int dir_make(const char *path, mode_t mode, struct gq_err *err); /* with parents; fine if it exists */
int dir_remove(const char *path);                  /* with all below, links not followed; 0 or -errno, ENOENT is 0 */
void fd_cloexec_all(int from);                     /* close-on-exec for every descriptor ≥ from */

#endif
