/* SPDX-License-Identifier: MIT
 * preflight.h - what surely cannot be dumped is said before anything is touched
 * Promises: a refusal names the process and the thing; what passes may still fail in criu, with the
 * job unharmed. */
#ifndef GQ_CHECKPOINT_PREFLIGHT_H
#define GQ_CHECKPOINT_PREFLIGHT_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Looks at every process of the capsule that we are PID 1 of. *ret_bytes: memory an image will
 * hold at most. 0, or -ENOTSUP with the sentence. */
int preflight(pid_t root, uid_t uid, int64_t *ret_bytes, struct gq_err *err);

#endif
