/* SPDX-License-Identifier: MIT
 * kv.c - lists of "key=value" strings */
#include "base/kv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kv_add(struct buf *b, const char *key, const char *value)
{
	if (!value)
		return;
	buf_str(b, key);
	buf_chr(b, '=');
	buf_add(b, value, strlen(value) + 1);
}

void kv_add_int(struct buf *b, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	kv_add(b, key, text);
}

bool kv_check(const char *data, size_t len, const char *head)
{
	return len && data[len - 1] == '\0' && !strcmp(data, head);
}

bool kv_next(const char *data, size_t len, size_t *pos, const char **ret_key,
	size_t *ret_key_len, const char **ret_value)
{
	while (*pos < len) {
		const char *s = data + *pos, *eq = strchr(s, '=');

		*pos += strlen(s) + 1;
		if (!eq)
			continue;
		*ret_key = s;
		*ret_key_len = (size_t)(eq - s);
		*ret_value = eq + 1;
		return true;
	}
	return false;
}

const char *kv_get(const char *data, size_t len, const char *key)
{
	size_t pos = 0, n, want = strlen(key);
	const char *k, *v;

	while (kv_next(data, len, &pos, &k, &n, &v))
		if (n == want && !memcmp(k, key, n))
			return v;
	return NULL;
}

int64_t kv_int(const char *data, size_t len, const char *key, int64_t otherwise)
{
	const char *v = kv_get(data, len, key);
	char *end;
	long long n;

	if (!v || !*v)
		return otherwise;
	errno = 0;
	n = strtoll(v, &end, 10);
	return *end || errno ? otherwise : n;
}

void kv_to_lines(char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!data[i])
			data[i] = '\n';
}

void kv_from_lines(char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] == '\n')
			data[i] = '\0';
}
