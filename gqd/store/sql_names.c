/* SPDX-License-Identifier: MIT
 * sql_names.c - enum values as the words that stand in the database, and back */
#include "store/sql_names.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/rows.h"

/* job_state_name() is what people read (HELD and PENDING are both "PENDING"); a file needs to
 * tell them apart, so it uses the identifiers of job_state.def. */
static const char *job_state_word(int v)
{
	static const char *const words[JOB_STATE_N] = {
#define JOB_STATE(name, code, slurm, text) [JOB_##name] = #name,
#include "core/job_state.def"
#undef JOB_STATE
	};

	return words[v];
}

/* A move has a row for each state that makes it; the first one names it. */
static const char *job_move_word(int v)
{
	static const struct {
		int move;
		const char *word;
	} rows[] = {
#define JOB_MOVE(from, on, to) {MOVE_##on, #on},
#include "core/job_state.def"
#undef JOB_MOVE
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].move == v)
			return rows[i].word;
	return "?";
}

#define WORDS(type, tag, fn, count)                                                                \
	static const char *tag##_word(int v)                                                       \
	{                                                                                          \
		return fn((enum type)v);                                                           \
	}                                                                                          \
	const struct sql_names sql_##tag = {count, tag##_word}

const struct sql_names sql_job_state = {JOB_STATE_N, job_state_word};
const struct sql_names sql_job_move = {MOVE_N, job_move_word};
WORDS(reason, reason, reason_name, REASON_N);
WORDS(checkpoint_mode, checkpoint, checkpoint_mode_name, CHECKPOINT_N);
WORDS(cause, cause, cause_name, CAUSE_N);
WORDS(how, how, how_name, HOW_N);
WORDS(service_state, service_state, service_state_name, SERVICE_STATE_N);
WORDS(reservation_state, reservation_state, reservation_state_name, RESERVATION_STATE_N);
WORDS(repeat, repeat, repeat_name, REPEAT_N);
WORDS(audit_kind, audit_kind, audit_kind_name, AUDIT_N);

int sql_names_find(const struct sql_names *names, const char *word)
{
	for (int i = 0; i < names->n; i++)
		if (!strcmp(names->name(i), word))
			return i;
	return -ENOENT;
}
