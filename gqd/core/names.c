/* SPDX-License-Identifier: MIT
 * names.c - printed names of everything that rows.h numbers, and the table of moves */
#include <stdlib.h>

#include "base/cleanup.h"
#include "core.h"

static const struct {
	const char *code, *name, *help;
} states[JOB_STATE_N] = {
#define JOB_STATE(id, code, name, help) [JOB_##id] = {code, name, help},
#include "job_state.def"
#undef JOB_STATE
};

static const struct {
	const char *name, *help;
} reasons[REASON_N] = {
#define REASON(id, name, help) [REASON_##id] = {name, help},
#include "reason.def"
#undef REASON
};

/* [from][move] = target + 1; 0 = not allowed */
static const uint8_t moves[JOB_STATE_N][MOVE_N] = {
#define JOB_MOVE(from, move, to) [JOB_##from][MOVE_##move] = JOB_##to + 1,
#include "job_state.def"
#undef JOB_MOVE
};

#define NAME_OF(table, i) ((size_t)(i) < ARRAY_LEN(table) && (table)[i] ? (table)[i] : "?")

const char *job_state_code(enum job_state s)
{
	return s < JOB_STATE_N ? states[s].code : "?";
}

const char *job_state_name(enum job_state s)
{
	return s < JOB_STATE_N ? states[s].name : "?";
}

const char *job_state_help(enum job_state s)
{
	return s < JOB_STATE_N ? states[s].help : "?";
}

bool job_state_is_ended(enum job_state s)
{
	return s >= JOB_COMPLETED && s < JOB_STATE_N;
}

bool job_state_has_cards(enum job_state s)
{
	switch (s) {
	case JOB_STARTING:
	case JOB_RUNNING:
	case JOB_NOTICE:
	case JOB_STORING:
	case JOB_RESTORING:
	case JOB_ENDING:
		return true;
	default:
		return false;
	}
}

enum job_state job_move_target(enum job_state from, enum job_move move)
{
	uint8_t to = from < JOB_STATE_N && move < MOVE_N ? moves[from][move] : 0;

	return to ? (enum job_state)(to - 1) : JOB_STATE_N;
}

const char *reason_name(enum reason r)
{
	return r < REASON_N ? reasons[r].name : "?";
}

const char *reason_help(enum reason r)
{
	return r < REASON_N ? reasons[r].help : "?";
}

const char *cause_name(enum cause c)
{
	static const char *const names[] = {[CAUSE_NONE] = "none",
		[CAUSE_RESERVATION] = "reservation", [CAUSE_SERVICE] = "service-busy",
		[CAUSE_LEASE] = "lease-lost", [CAUSE_FOREIGN] = "foreign-process",
		[CAUSE_OPERATOR] = "operator", [CAUSE_CARD] = "card-lost"};

	return NAME_OF(names, c);
}

const char *how_name(enum how h)
{
	static const char *const names[] = {[HOW_PENDING] = "pending", [HOW_EXIT] = "exit",
		[HOW_APP] = "app", [HOW_STORE] = "store", [HOW_REQUEUE] = "requeue",
		[HOW_CALLED_OFF] = "called-off"};

	return NAME_OF(names, h);
}

const char *card_state_name(enum card_state s)
{
	static const char *const names[] = {[CARD_IDLE] = "idle", [CARD_OFFLINE] = "offline",
		[CARD_ONLINE] = "online", [CARD_UNMANAGED] = "unmanaged", [CARD_DOWN] = "down"};

	return NAME_OF(names, s);
}

const char *service_state_name(enum service_state s)
{
	static const char *const names[] = {[SERVICE_IDLE] = "idle", [SERVICE_BUSY] = "busy"};

	return NAME_OF(names, s);
}

const char *reservation_state_name(enum reservation_state s)
{
	static const char *const names[] = {[RESERVATION_PLANNED] = "planned",
		[RESERVATION_WAITING] = "waiting", [RESERVATION_HONOURED] = "honoured",
		[RESERVATION_ENDED] = "ended", [RESERVATION_DELETED] = "deleted"};

	return NAME_OF(names, s);
}

const char *repeat_name(enum repeat r)
{
	static const char *const names[] = {[REPEAT_NONE] = "none", [REPEAT_DAILY] = "daily",
		[REPEAT_WEEKLY] = "weekly"};

	return NAME_OF(names, r);
}

const char *audit_kind_name(enum audit_kind k)
{
	static const char *const names[] = {[AUDIT_JOB] = "job", [AUDIT_CARD] = "card",
		[AUDIT_SERVICE] = "service", [AUDIT_RESERVATION] = "reservation",
		[AUDIT_DAEMON] = "daemon"};

	return NAME_OF(names, k);
}

const char *checkpoint_mode_name(enum checkpoint_mode m)
{
	static const char *const names[] = {[CHECKPOINT_AUTO] = "auto", [CHECKPOINT_APP] = "app",
		[CHECKPOINT_NONE] = "none"};

	return NAME_OF(names, m);
}

void job_clear(struct job *j)
{
	free(j->name);
	free(j->account);
	free(j->gpu_type);
	free(j->error);
	j->name = j->account = j->gpu_type = j->error = NULL;
}
