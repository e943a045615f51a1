/* SPDX-License-Identifier: MIT
 * signame.h - signals by name: "TERM", "SIGTERM", "15" */
#ifndef GQ_BASE_SIGNAME_H
#define GQ_BASE_SIGNAME_H

#include "base/err.h"

int signal_parse(const char *s, int *ret, struct gq_err *err); /* 1..64 or -EINVAL */
const char *signal_name(int sig);                              /* "TERM"; "?" if unknown */

#endif
