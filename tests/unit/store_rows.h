/* SPDX-License-Identifier: MIT
 * store_rows.h - rows for the tests of the store: every field set, and different for each id */
#ifndef TESTS_STORE_ROWS_H
#define TESTS_STORE_ROWS_H

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/store.h"

/* A new temporary directory, at @where (NULL: the usual place). Caller frees the name. */
static inline char *store_dir_new(const char *where)
{
	char *dir = xasprintf("%s/gq-store-XXXXXX",
		where ? where : getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");

	if (!mkdtemp(dir)) {
		perror(dir);
		exit(99);
	}
	return dir;
}

static inline void store_dir_remove(char **dir)
{
	if (*dir)
		dir_remove(*dir);
	free(*dir);
}

#define _cleanup_dir_ _cleanup_(store_dir_remove)

static inline void store_close(struct store **s)
{
	if (*s)
		*s = (*s)->ops->close(*s);
}

#define _cleanup_store_ _cleanup_(store_close)

/* Every byte of the numbers is set, so that a column that was forgotten shows. */
static inline struct job job_row(uint32_t id, enum job_state state)
{
	int64_t t = (int64_t)id * 1000000007 + 5;
	struct job j = {.id = id, .incarnation = id + 1, .image = id + 2, .state = (uint8_t)state,
		.reason = (uint8_t)(id % REASON_N), .checkpoint = (uint8_t)(id % CHECKPOINT_N),
		.exit_saved = 85, .signal = 12, .cause = (uint8_t)(id % CAUSE_N),
		.after = (uint8_t)(id % MOVE_N), .requeue = id & 1, .restored = id & 2,
		.sudden = id & 4, .hold_after = id & 8, .level = (int8_t)((int)(id % 3) - 1),
		.n_cards = (uint8_t)(id % (JOB_CARDS_MAX + 1)), .store_tries = 1,
		.restore_tries = 2, .start_tries = 3, .gpus = 4, .uid = 1000 + id % 7,
		.gid = 4294967294u, .priority = 4000000000u, .exit_code = -7, .exit_signal = 9,
		.vram_mib = t + 1, .rss_mib = t + 2, .signal_before = t + 3,
		.time_limit = GQ_NEVER, .time_min = t + 4, .grace = GQ_NEVER, .begin_at = t + 5,
		.submitted_at = t + 6, .started_at = t + 7, .ended_at = t + 8, .run_since = t + 9,
		.ran = t + 10, .ran_saved = t + 11, .lost = t + 12, .store_cost = t + 13,
		.restore_cost = t + 14, .evictions = 15, .requeues = 16, .eviction = 17,
		.notice_at = t + 18, .store_at = t + 19, .due_at = t + 20, .kill_at = GQ_NEVER,
		.version = (uint64_t)t + 21, .name = xasprintf("job %u ü'\"\\;", id),
		.account = id & 1 ? xstrdup("") : NULL, .gpu_type = id & 2 ? xstrdup("a100") : NULL,
		.error = id & 4 ? xstrdup("dump: no\tspace") : NULL};

	for (unsigned i = 0; i < j.n_cards; i++)
		j.cards[i] = (uint16_t)(65535 - i);
	return j;
}

static inline bool str_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The structs were zeroed whole on both sides, so all but the pointers compares as bytes. */
static inline bool job_same(const struct job *a, const struct job *b)
{
	struct job x = *a, y = *b;

	x.name = x.account = x.gpu_type = x.error = NULL;
	y.name = y.account = y.gpu_type = y.error = NULL;
	return !memcmp(&x, &y, sizeof(x)) && str_same(a->name, b->name) &&
		str_same(a->account, b->account) && str_same(a->gpu_type, b->gpu_type) &&
		str_same(a->error, b->error);
}

#endif
