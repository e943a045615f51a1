/* SPDX-License-Identifier: MIT
 * ending.c - the last message, and the same as a file */
#include "ending.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/kv.h"
#include "link.h"

static const char *const outcome_names[] = {
	[OUTCOME_EXITED] = "exited",
	[OUTCOME_STORED] = "stored",
	[OUTCOME_START_FAILED] = "start-failed",
	[OUTCOME_RESTORE_FAILED] = "restore-failed",
};

void ending_message(const struct launch *l, const struct ending *e, struct buf *ret)
{
	link_begin(ret, outcome_names[e->outcome]);
	kv_add_int(ret, "job", l->job);
	kv_add_int(ret, "incarnation", l->incarnation);
	kv_add_int(ret, "at", e->at);
	kv_add_int(ret, "code", e->code);
	kv_add_int(ret, "signal", e->signal);
	kv_add_int(ret, "took", e->took);
	kv_add_int(ret, "frozen", e->frozen);
	kv_add_int(ret, "bytes", e->bytes);
	kv_add(ret, "text", e->text[0] ? e->text : NULL);
	kv_add(ret, "end", "1"); /* a file that was cut off lacks it */
}

int ending_record(const struct launch *l, const struct buf *message, bool sync)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;
	int r;

	r = gq_fault("shim.exit_record");
	if (r < 0)
		return r;
	buf_add(&lines, message->data, message->len);
	kv_to_lines(lines.data, lines.len);
	return sync ? file_write_atomic(l->record, lines.data, lines.len, 0600, NULL)
		    : file_write_plain(l->record, lines.data, lines.len, 0600, NULL);
}
