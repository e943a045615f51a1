/* SPDX-License-Identifier: MIT
 * wait.c - waits for a job by long polls, for the commands that need it */
#include "base/cleanup.h"
#include "gqctl.h"

#define POLL_MAX GQ_SEC(60)

static int ask(struct ctl *ctl, uint32_t id, int64_t version, gq_time left,
	struct api_job *ret, struct buf *text, struct gq_err *err)
{
	gq_time poll = left < POLL_MAX ? left : POLL_MAX;
	long long seconds = (poll + GQ_NS_PER_S - 1) / GQ_NS_PER_S;
	struct json_in in;
	char path[128];
	int r;

	if (version < 0)
		snprintf(path, sizeof(path), "/v1/jobs/%u", id);
	else
		snprintf(path, sizeof(path), "/v1/jobs/%u?wait_version=%lld&timeout=%lld",
			id, (long long)version, seconds);
	if (ctl->client)
		client_set_timeout(ctl->client, GQ_SEC(seconds + 30));
	r = ctl_call(ctl, "GET", path, NULL, text, err);
	if (r < 0)
		return r;
	in = (struct json_in){text->data, text->data + text->len};
	return api_decode(&in, &api_job_object, ret, err);
}

int wait_job(struct ctl *ctl, uint32_t id, gq_time timeout,
	int (*is_there)(void *ctx, const struct api_job *j), void *ctx,
	struct api_job *last, struct buf *text, struct gq_err *err)
{
	gq_time start = gq_monotonic(), left = timeout;
	int64_t version = -1;
	int r;

	for (;;) {
		r = ask(ctl, id, version, left, last, text, err);
		if (r < 0)
			return r;
		r = is_there(ctx, last);
		if (r)
			return r > 0;
		version = last->version;
		left = timeout == GQ_NEVER ? GQ_NEVER
					   : timeout - (gq_monotonic() - start);
		if (left <= 0)
			return 0;
	}
}
