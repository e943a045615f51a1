/* SPDX-License-Identifier: MIT
 * sql_names.h - enum values as the words that stand in the database, and back
 * Promises: what is written is the name, never the number; a name is found again whatever number
 * it has by then. */
#ifndef GQD_STORE_SQL_NAMES_H
#define GQD_STORE_SQL_NAMES_H

struct sql_names {
	int n;                     /* values are 0 … n-1 */
	const char *(*name)(int v); /* unique over the range */
};

extern const struct sql_names sql_job_state, sql_job_move, sql_reason, sql_checkpoint, sql_cause,
	sql_how, sql_service_state, sql_reservation_state, sql_repeat, sql_audit_kind;

int sql_names_find(const struct sql_names *names, const char *word); /* -ENOENT = unknown */

#endif
