/* SPDX-License-Identifier: MIT
 * shm.h - the capsule's own /dev/shm as a file of the image (FORMAT.md)
 * criu saves the names of named shared memory, and not what is in it, since that is a file.
 * Promises: the same names, contents, owners, modes, and names that were one file stay one file.
 * Leaves to others: mounting it (shim), sockets and fifos in it (criu). */
#ifndef GQ_CHECKPOINT_SHM_H
#define GQ_CHECKPOINT_SHM_H

#include "base/err.h"

#define SHM_DIR  "/dev/shm"
#define SHM_FILE "shm.gq"

int shm_save(const char *image, struct gq_err *err); /* nothing there: writes no file */
int shm_load(const char *image, struct gq_err *err); /* no file: nothing to do */

#endif
