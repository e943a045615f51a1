/* SPDX-License-Identifier: MIT
 * json.h - JSON straight into a buffer, and read in place out of one; no tree, no allocation
 * The reader is for answers of gqd (and to cut a batch into its entries): it trusts the text to be
 * JSON but survives anything. Bodies from clients are checked by jansson, strictly (gqd/api/body.c).
 * Promises: what is written is valid JSON in valid UTF-8 whatever the strings hold. */
#ifndef GQ_API_JSON_H
#define GQ_API_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/gqtime.h"

void json_write_str(struct buf *out, const char *s); /* quoted; NULL is null */
void json_write_int(struct buf *out, int64_t v);
void json_write_time(
	struct buf *out, gq_time t); /* ISO 8601 UTC with ms; 0 and GQ_NEVER: null */
void json_write_secs(struct buf *out, gq_time d); /* 1.25; GQ_NEVER: null */

/* A cursor over text that ends with a NUL at @end; strings are unescaped where they stand. */
struct json_in {
	char *p, *end;
};

/* All return 0, or -EBADMSG where the text is something else. */
int json_open(struct json_in *in, char bracket); /* '[' or '{' */
/* Before each element: 1 = there is one, 0 = the closing bracket was read. */
int json_more(struct json_in *in, char closing, bool first);
int json_str(struct json_in *in, char **ret); /* NULL for null */
int json_key(struct json_in *in, char **ret); /* and its colon */
/* A number times 10^@digits, rounded towards zero; @none for null. */
int json_scaled(struct json_in *in, int digits, int64_t none, int64_t *ret);
int json_bool(struct json_in *in, bool *ret); /* null is false */
int json_skip(struct json_in *in);            /* any value */
/* The text of the next value, without changing it. */
int json_slice(struct json_in *in, char **ret, size_t *ret_len);
bool json_at_end(struct json_in *in); /* nothing but blanks is left */

#endif
