/* SPDX-License-Identifier: MIT
 * verify.c - gq-image verify: is every byte what was written? */
#include "checkpoint/unpack.h"
#include "tool.h"

static int folder(struct tool *t, struct subject *s, struct gq_err *err)
{
	int r = raw_verify(s->path, err);

	if (r == -ENOENT)
		return gq_err_set(err, r, "%s: criu's own files, without a manifest to compare them with",
			s->path);
	if (!r)
		buf_fmt(&t->out, "%s: ok, %zu files\n", s->path, s->names.len);
	return r;
}

int tool_verify(struct tool *t, struct subject *s, struct gq_err *err)
{
	int r = 0;

	if (s->is_folder)
		return folder(t, s, err);
	if (!t->quick)
		r = gqi_verify(&s->image, err);
	if (!r && !t->quick)
		r = unpack_check(&s->image, err);
	if (!r)
		buf_fmt(&t->out, "%s: %s, %u files, %llu bytes, %llu unpacked\n", s->path,
			t->quick ? "index ok" : "ok", s->image.n_files, (unsigned long long)s->image.bytes,
			(unsigned long long)s->image.raw);
	return r;
}
