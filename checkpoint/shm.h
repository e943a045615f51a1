/* SPDX-License-Identifier: MIT
 * shm.h - the capsule's own /dev/shm as a stream of the image (FORMAT.md)
 * criu saves the names of named shared memory, and not what is in it, since that is a file.
 * Promises: the same names, contents, owners, modes, and names that were one file stay one file.
 * Leaves to others: mounting it (shim), sockets and fifos in it (criu). */
#ifndef GQ_CHECKPOINT_SHM_H
#define GQ_CHECKPOINT_SHM_H

#include <stdbool.h>

#include "base/err.h"

#define SHM_DIR  "/dev/shm"
#define SHM_FILE "shm.gq"

bool shm_any(void); /* is there anything to save? */
int shm_save(int fd, struct gq_err *err);
int shm_load(int fd, struct gq_err *err);

#endif
