/* SPDX-License-Identifier: MIT
 * objects.c - the tables of all messages: field, type, unit, help
 * The order here is the order on the wire. */
#include <string.h>

#include "base/cleanup.h"
#include "message.h"

#define F(s, name, type, unit, help)                                                     \
	{                                                                                \
#name, API_##type, offsetof(struct api_##s, name), unit, help            \
	}

/* clang-format off: one row a line */
static const struct api_field job_fields[] = {
	F(job, job_id, UINT, "", "its number, for life"),
	F(job, incarnation, UINT, "",
		"which run of it this is; 0 before the first start"),
	F(job, name, STR, "", "as submitted"),
	F(job, user, STR, "", "who submitted it"),
	F(job, uid, UINT, "", "the same, as a number"),
	F(job, account, STR, "", "who pays"),
	F(job, state, STR, "", "state code: PD R CK S RE CF CG CD F CA TO PR"),
	F(job, state_name, STR, "", "the same in a word: PENDING, RUNNING, …"),
	F(job, reason, STR, "",
		"why it waits or ended as it did, in Slurm's word where one exists"),
	F(job, reason_text, STR, "", "one line with the numbers: why it waits"),
	F(job, cards, CARDS, "", "indices of the cards it holds"),
	F(job, gpu_uuids, WORDS, "", "their UUIDs"),
	F(job, gpus, UINT, "", "how many cards it asked for"),
	F(job, gpu_type, STR, "", "label or model part it asked for"),
	F(job, vram_mib, INT, "MiB",
		"VRAM per card it asked for; null = what the card may lend"),
	F(job, rss_mib, INT, "MiB", "host memory as last seen"),
	F(job, priority, UINT, "", "larger goes first"),
	F(job, qos, STR, "", "low, normal or high"),
	F(job, submit_time, TIME, "", "when it was accepted"),
	F(job, begin_time, TIME, "", "not before"),
	F(job, start_time, TIME, "", "when it first ran"),
	F(job, end_time, TIME, "", "when it ended"),
	F(job, run_s, SECS, "s", "computing time so far that counts"),
	F(job, lost_s, SECS, "s", "computing time that had to be done again"),
	F(job, time_limit_s, SECS, "s", "null = none"),
	F(job, time_min_s, SECS, "s",
		"smallest useful window it asked for; 0 = the pool's"),
	F(job, grace_s, SECS, "s", "exit period it asked for; null = the pool's"),
	F(job, promise_s, SECS, "s", "how long it needs to leave"),
	F(job, store_s, SECS, "s", "how long its last snapshot took; 0 = none yet"),
	F(job, restore_s, SECS, "s", "how long its last restore took; 0 = none yet"),
	F(job, checkpoint, STR, "", "auto, app or none"),
	F(job, grade, STR, "", "how well it can be snapshotted: C0 not at all, C1 only in host memory, "
		"C2 on disk, C3 and onto another card; null = not looked yet"),
	F(job, findings, WORDS, "", "why not better: what and, behind a dash, the cure"),
	F(job, requeue, BOOL, "", "may be started from its beginning again"),
	F(job, exit_code, INT, "", "null until it ended by itself"),
	F(job, exit_signal, INT, "", "signal that ended it; null = none"),
	F(job, ended, BOOL, "", "it will not run again"),
	F(job, evictions, UINT, "", "times it was told to leave"),
	F(job, requeues, UINT, "", "times it was started from its beginning again"),
	F(job, image, ID, "", "incarnation whose image can be restored; null = none"),
	F(job, cause, STR, "", "why it must leave now; null = it need not"),
	F(job, notice_time, TIME, "", "when it was told"),
	F(job, due_time, TIME, "", "when its cards must be free"),
	F(job, error, STR, "", "its last failure, one line"),
	F(job, version, INT, "", "grows with every change; see wait_version"),
	F(job, spec, RAW, "",
		"the whole submission, only with ?spec=1 and for its user and operators"),
};

static const struct api_field gpu_fields[] = {
	F(gpu, index, UINT, "", "as the driver counts"),
	F(gpu, uuid, STR, "", "for life"),
	F(gpu, model, STR, "", "as the driver names it"),
	F(gpu, labels, STR, "", "from the configuration, comma separated"),
	F(gpu, state, STR, "", "idle, offline (lent), online, unmanaged or down"),
	F(gpu, job_id, ID, "", "the job that holds it"),
	F(gpu, service, STR, "", "the service that it belongs to"),
	F(gpu, vram_total_mib, INT, "MiB", "all of it"),
	F(gpu, vram_used_mib, INT, "MiB", "at the last sample"),
	F(gpu, vram_lendable_mib, INT, "MiB", "what a job may have of it now"),
	F(gpu, util_percent, INT, "%", "at the last sample"),
	F(gpu, temperature_c, INT, "°C", "at the last sample"),
	F(gpu, present, BOOL, "", "the driver sees it"),
	F(gpu, fault, BOOL, "", "it reported a hardware fault"),
	F(gpu, busy, BOOL, "", "somebody other than our jobs computes on it"),
	F(gpu, idle_since, TIME, "", "null = in use"),
	F(gpu, foreign_pid, ID, "", "largest process on it that is not ours"),
	F(gpu, foreign_name, STR, "", "its name"),
	F(gpu, foreign_mib, INT, "MiB", "VRAM of all processes that are not ours"),
};

static const struct api_field window_fields[] = {
	F(window, card, UINT, "", "its index"),
	F(window, uuid, STR, "", "its UUID"),
	F(window, state, STR, "", "state of the card"),
	F(window, idle_since, TIME, "", "null = in use"),
	F(window, until, TIME, "", "start of the next reservation; null = none known"),
	F(window, length_s, SECS, "s", "from now until then; null = open"),
	F(window, reservation_id, ID, "", "that reservation"),
	F(window, vram_mib, INT, "MiB", "VRAM that may be lent"),
	F(window, lendable, BOOL, "", "an average job would be admitted now"),
	F(window, why, STR, "", "one line: why, or why not"),
};

static const struct api_field reservation_fields[] = {
	F(reservation, reservation_id, UINT, "", "its number"),
	F(reservation, service, STR, "", "null = an operator's own"),
	F(reservation, user, STR, "", "who made it"),
	F(reservation, uid, UINT, "", "the same, as a number"),
	F(reservation, state, STR, "",
		"planned, waiting (started, a card is late), honoured, ended, deleted"),
	F(reservation, start_time, TIME, "", "of the present occurrence"),
	F(reservation, end_time, TIME, "", "null = open"),
	F(reservation, cards, CARDS, "", "indices"),
	F(reservation, vram_mib, INT, "MiB", "per card; null = the whole card"),
	F(reservation, repeat, STR, "", "none, daily or weekly"),
	F(reservation, sudden, BOOL, "",
		"made with less notice than a job needed to leave"),
	F(reservation, created_time, TIME, "", "when it was made"),
	F(reservation, free_time, TIME, "", "when its cards were free; null = not yet"),
	F(reservation, late_ms, MS, "ms", "how long after its start that was"),
};

static const struct api_field service_fields[] = {
	F(service, service_id, UINT, "", "its number"),
	F(service, name, STR, "", "unique"),
	F(service, user, STR, "", "who may change it, beside operators"),
	F(service, uid, UINT, "", "the same, as a number"),
	F(service, from_config, BOOL, "",
		"stands in the configuration: cannot be deleted here"),
	F(service, state, STR, "", "idle or busy, as it said last"),
	F(service, lease_lost, BOOL, "", "it did not renew in time: counts as busy"),
	F(service, cards, CARDS, "", "indices"),
	F(service, reserve_vram_mib, INT, "MiB", "VRAM per card that is always its own"),
	F(service, lease_s, SECS, "s", "it must renew this often; 0 = need not"),
	F(service, lease_until, TIME, "", "null = without a lease"),
	F(service, notice_s, SECS, "s",
		"the least notice its reservations give; 0 = not said"),
	F(service, changed_time, TIME, "", "last change"),
};

static const struct api_field eviction_fields[] = {
	F(eviction, eviction_id, UINT, "", "its number"),
	F(eviction, job, UINT, "", "the job that had to leave"),
	F(eviction, incarnation, UINT, "", "which run of it"),
	F(eviction, cards, CARDS, "", "indices of the cards it gave back"),
	F(eviction, cause, STR, "",
		"reservation, service, lease, foreign, operator or card"),
	F(eviction, cause_id, ID, "", "number of that reservation or service"),
	F(eviction, notice_at, TIME, "", "when the job was told"),
	F(eviction, due_at, TIME, "", "when the cards had to be free; null = at once"),
	F(eviction, predicted_free_at, TIME, "", "when gqd expected them to be"),
	F(eviction, free_at, TIME, "", "when they were; null = not yet"),
	F(eviction, late_ms, MS, "ms", "how long after due_at that was"),
	F(eviction, how, STR, "", "pending, exit, app, store, requeue or called-off"),
	F(eviction, lost_s, SECS, "s", "computing time thrown away"),
	F(eviction, sudden, BOOL, "", "there was less notice than the job needed"),
	F(eviction, error, STR, "", "why the first choice did not work"),
};

static const struct api_field history_fields[] = {
	F(history, time, TIME, "", "when"),
	F(history, kind, STR, "", "job, card, service, reservation or daemon"),
	F(history, id, UINT, "", "of that kind"),
	F(history, user, STR, "", "who asked; null = gqd itself"),
	F(history, text, STR, "", "what happened, one line"),
};

static const struct api_field finding_fields[] = {
	F(finding, what, STR, "", "what was looked at"),
	F(finding, ok, BOOL, "", "it works"),
	F(finding, essential, BOOL, "", "without it jobs are not run or not kept"),
	F(finding, text, STR, "", "what was found"),
	F(finding, cure, STR, "", "what to do; null = nothing"),
};

static const struct api_field ping_fields[] = {
	F(ping, version, STR, "", "of gqd"),
	F(ping, api, UINT, "", "1"),
	F(ping, pid, UINT, "", "of gqd"),
	F(ping, time, TIME, "", "gqd's clock now"),
	F(ping, started_time, TIME, "", "when it began to serve"),
	F(ping, cards, UINT, "", "how many it knows"),
	F(ping, jobs, UINT, "", "that have not ended"),
	F(ping, jobs_waiting, UINT, "", "of those: PD and S"),
	F(ping, jobs_running, UINT, "", "of those: the others"),
	F(ping, jobs_version, INT, "",
		"of the newest change of any job; see wait_version"),
	F(ping, is_operator, BOOL, "", "you may act on everything"),
};

static const struct api_field conf_fields[] = {
	F(conf, unified, BOOL, "", "cards of services are lent too"),
	F(conf, online_priority, BOOL, "", "reservations evict jobs"),
	F(conf, offline_fill, BOOL, "", "idle cards are lent"),
	F(conf, can_store, BOOL, "", "snapshots work here"),
	F(conf, vram_permille, INT, "permille",
		"share of a card's VRAM that jobs may have"),
	F(conf, online_reserve_vram, STR, "", "always, busy or never"),
	F(conf, graceful_exit_s, SECS, "s", "longest exit period"),
	F(conf, min_window_s, SECS, "s", "shorter windows lend nothing"),
	F(conf, idle_hold_s, SECS, "s", "a card is idle after this long without load"),
	F(conf, margin_s, SECS, "s", "smallest margin of an exit promise"),
	F(conf, keep_ended_s, SECS, "s", "how long ended jobs stay in the plain list"),
	F(conf, max_requeue, INT, "", "then a job is held"),
	F(conf, max_jobs, INT, "", "that have not ended"),
	F(conf, max_jobs_per_user, INT, "", "the same, of one user"),
};

static const struct api_field made_fields[] = {
	F(made, job_id, ID, "", "the job"),
	F(made, reservation_id, ID, "", "the reservation"),
	F(made, service_id, ID, "", "the service"),
	F(made, message, STR, "", "of a test_only request: what would happen"),
};

static const struct api_field error_fields[] = {
	F(error, code, STR, "", "an errno name, as EINVAL"),
	F(error, message, STR, "", "one line for the user"),
};

static const struct api_field reserve_body_fields[] = {
	F(reserve_body, service, STR, "",
		"for which service; operators may leave it out"),
	F(reserve_body, start, STR, "",
		"a point in time: 2026-12-01T08:00Z, 16:00, now+1hour"),
	F(reserve_body, in, STR, "", "instead of start: a duration from now, as 10s"),
	F(reserve_body, end, STR, "",
		"a point in time; without end and duration it is open"),
	F(reserve_body, duration, STR, "", "instead of end, as 1h"),
	F(reserve_body, cards, WORDS, "",
		"indices, UUIDs (or a unique beginning) or labels"),
	F(reserve_body, count, INT, "",
		"instead of cards: that many of the service's, gqd chooses"),
	F(reserve_body, label, STR, "",
		"with count: only cards with this label or model part"),
	F(reserve_body, vram, STR, "", "per card, as 30G; without it the whole card"),
	F(reserve_body, repeat, STR, "", "daily or weekly"),
	F(reserve_body, notice, STR, "",
		"the service's least notice from now on, as 10s"),
};

static const struct api_field service_body_fields[] = {
	F(service_body, cards, WORDS, "",
		"indices, UUIDs (or a unique beginning) or labels"),
	F(service_body, reserve_vram, STR, "", "per card, always its own, as 30G"),
	F(service_body, lease, STR, "", "it must renew this often, as 30s; 0 = need not"),
	F(service_body, notice, STR, "",
		"the least notice its reservations give, as 10s"),
	F(service_body, state, STR, "", "idle or busy"),
};

static const struct api_field renew_body_fields[] = {
	F(renew_body, state, STR, "", "idle or busy; without it as before"),
};

static const struct api_field evict_body_fields[] = {
	F(evict_body, mode, STR, "",
		"store (keep its state) or requeue; without it the job's own way"),
	F(evict_body, grace, STR, "", "exit period, as 5s; without it the job's own"),
};

/* clang-format on */
#define OBJECT(name_, help_)                                                             \
	const struct api_object api_##name_##_object = {#name_, help_,                   \
		sizeof(struct api_##name_), name_##_fields, ARRAY_LEN(name_##_fields)};  \
	_Static_assert(ARRAY_LEN(name_##_fields) <= 64, "a mask has 64 bits")

OBJECT(job, "a job");
OBJECT(gpu, "a card");
OBJECT(window, "how long a card is idle, and whether it is lent");
OBJECT(reservation, "cards that must be free for online work at a time");
OBJECT(service, "an online inference service");
OBJECT(eviction, "one time that a job had to give its cards back");
OBJECT(history, "one thing that happened");
OBJECT(finding, "one thing that gqctl doctor looked at");
OBJECT(ping, "the daemon itself");
OBJECT(conf, "the settings in force that matter to users");
OBJECT(made, "what was made; exactly one field is not null");
OBJECT(error, "a refusal: sent as {\"error\": …}");
OBJECT(reserve_body, "request: a reservation");
OBJECT(service_body, "request: a service");
OBJECT(renew_body, "request: the service is alive");
OBJECT(evict_body, "request: the job has to leave");

const struct api_object *const api_objects[] = {
#define API_LIST(name) &api_##name##_object,
	API_OBJECTS(API_LIST)
#undef API_LIST
		NULL,
};

uint64_t api_field_bit(const struct api_object *o, const char *name)
{
	for (size_t i = 0; i < o->n_fields; i++) {
		if (strcmp(o->fields[i].name, name) == 0)
			return UINT64_C(1) << i;
	}
	return 0;
}

int api_fields_parse(
	const struct api_object *o, const char *list, uint64_t *ret, struct gq_err *err)
{
	uint64_t mask = 0, bit;
	char name[64];

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n >= sizeof(name))
			return gq_err_set(err, -EINVAL, "fields: name too long");
		memcpy(name, list, n);
		name[n] = '\0';
		bit = api_field_bit(o, name);
		if (!bit)
			return gq_err_set(err, -EINVAL, "fields: a %s has no field '%s'",
				o->name, name);
		mask |= bit;
		list += n + (list[n] == ',');
	}
	if (!mask)
		return gq_err_set(err, -EINVAL, "fields: the list is empty");
	*ret = mask;
	return 0;
}
