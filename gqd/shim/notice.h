/* SPDX-License-Identifier: MIT
 * notice.h - the file that tells a job that it must leave soon, and why */
#ifndef GQD_SHIM_NOTICE_H
#define GQD_SHIM_NOTICE_H

#include <stddef.h>

#include "launch.h"

/* From a "notice" message; readers see the old file or the new one, never half. 0 or -errno. */
int notice_write(const struct launch *l, const char *message, size_t len);
void notice_remove(const struct launch *l);

#endif
