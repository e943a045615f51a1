/* SPDX-License-Identifier: MIT
 * facts.h - what an image should say about where it was made */
#ifndef GQ_CHECKPOINT_FACTS_H
#define GQ_CHECKPOINT_FACTS_H

#include <sys/types.h>

#include "base/buf.h"

/* Lines kernel=, cpu=, cpu_flags=, driver=, cards= (of the process @root), criu_options= (of the
 * process @criu); each only if it is known. */
void facts_lines(pid_t root, pid_t criu, struct buf *out);

#endif
