/* SPDX-License-Identifier: MIT
 * field.h - takes single values out of a JSON text that gqd wrote, without a library or a tree
 * Promises: never reads past the NUL; a text that is no JSON finds nothing.
 * Leaves to others: checking a text from strangers (jansson does that in gqd). */
#ifndef GQ_CLIENT_FIELD_H
#define GQ_CLIENT_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* The value behind a path of member names, the last one NULL: field_find(s, "error", "message",
 * NULL). NULL if it is not there. */
const char *field_find(const char *json, ...) __attribute__((sentinel));

/* Elements of an array: for (v = field_first(array); v; v = field_next(v)). */
const char *field_first(const char *array);
const char *field_next(const char *value);

/* Each reads the value at @v (NULL allowed) and sets *ret only on success: 0, or -EINVAL when
 * it is of another type or null. */
int field_text(const char *v, struct buf *out); /* appended, decoded to UTF-8 */
int field_int(const char *v, int64_t *ret);     /* a fraction is cut off */
int field_bool(const char *v, bool *ret);

#endif
