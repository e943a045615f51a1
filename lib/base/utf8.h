/* SPDX-License-Identifier: MIT
 * utf8.h - is a text what it should be? */
#ifndef GQ_BASE_UTF8_H
#define GQ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Is @s valid UTF-8 without NUL and without control characters (tab excepted)? */
bool str_is_clean(const char *s);

/* First byte of @s that is not UTF-8, NULL if all is well; NUL and control characters are allowed.
 * s[len] is a NUL. */
const char *utf8_fault(const char *s, size_t len);

#endif
