/* SPDX-License-Identifier: MIT
 * notice.c - writes GQ_NOTICE */
#include "notice.h"

#include <unistd.h>

#include "base/file.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/kv.h"

int notice_write(const struct launch *l, const char *message, size_t len)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int64_t deadline = kv_int(message, len, "deadline", 0);
	char text[40];

	kv_add(&b, "reason", kv_get(message, len, "reason"));
	kv_add(&b, "text", kv_get(message, len, "text"));
	if (deadline && deadline != GQ_NEVER) {
		snprintf(text, sizeof(text), "%lld.%03lld", (long long)(deadline / GQ_NS_PER_S),
			(long long)(deadline % GQ_NS_PER_S / GQ_NS_PER_MS));
		kv_add(&b, "deadline", text);
		kv_add(&b, "deadline_iso", gq_time_iso(deadline, text));
	}
	kv_add_int(&b, "job", l->job);
	kv_add_int(&b, "incarnation", l->incarnation);
	kv_to_lines(b.data, b.len);
	return file_write_fast(l->notice, b.data, b.len, 0644, NULL);
}

void notice_remove(const struct launch *l)
{
	unlink(l->notice);
}
