/* SPDX-License-Identifier: MIT
 * kv.h - lists of "key=value" strings: what gqd and a shim write to each other
 * Each string ends with a NUL, so that a value may hold anything else; a key may stand more than
 * once. A reader takes the keys it knows and passes over the others, so either side may be newer.
 * The same list with line ends instead of NULs is a file for people (values then have no '\n'). */
#ifndef GQ_BASE_KV_H
#define GQ_BASE_KV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void kv_add(struct buf *b, const char *key, const char *value); /* NULL adds nothing */
void kv_add_int(struct buf *b, const char *key, int64_t value);

/* Does @data end with a NUL, and is its first string @head? Ask before any of those below. */
bool kv_check(const char *data, size_t len, const char *head);
const char *kv_get(const char *data, size_t len, const char *key); /* the first, lent; or NULL */
int64_t kv_int(const char *data, size_t len, const char *key, int64_t otherwise);

/* The string at *pos: lends key (not terminated: @ret_key_len) and value; false at the end. */
bool kv_next(const char *data, size_t len, size_t *pos, const char **ret_key,
	size_t *ret_key_len, const char **ret_value);

void kv_to_lines(char *data, size_t len);   /* NUL → '\n' */
void kv_from_lines(char *data, size_t len); /* '\n' → NUL */

#endif
