/* SPDX-License-Identifier: MIT
 * cuda_checkpoint.c - simulated CUDA: the caller's side of the checkpoint calls
 * @pid is in the caller's PID namespace. A process that is frozen or stopped does not answer and
 * the call waits, as with the real driver. */
#include "cuda_sim.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_AGAIN_MS 100

static bool is_helper(int pid, const char *tid)
{
	char path[64], comm[32] = "";
	_cleanup_fclose_ FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", pid, tid);
	f = fopen(path, "re");
	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	return strcmp(comm, CUDA_HELPER_NAME) == 0;
}

static int helper_tid(int pid)
{
	_cleanup_closedir_ DIR *d = NULL;
	struct dirent *e;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] != '.' && is_helper(pid, e->d_name))
			return strtol(e->d_name, NULL, 10);
	}
	return 0;
}

static int machine(void)
{
	int r;

	pthread_mutex_lock(&cuda.mutex);
	r = sim_open(&cuda.sim, sim_path());
	pthread_mutex_unlock(&cuda.mutex);
	return r < 0 ? CU_ERROR_NOT_INITIALIZED : CU_SUCCESS;
}

static int await(struct sim_request *q, int pid, const struct sim_owner *target)
{
	for (;;) {
		struct sim_owner now;

		if (__atomic_load_n(&q->state, __ATOMIC_ACQUIRE) == SIM_REQUEST_DONE)
			return q->result;
		if (sim_owner_of(pid, &now) < 0 || now.start != target->start)
			return CU_ERROR_OPERATING_SYSTEM; /* it died meanwhile */
		sim_wait(&q->state, SIM_REQUEST_POSTED, LOOK_AGAIN_MS);
	}
}

/* Sends @want to the helper of @pid and waits; *want holds the answer then. */
static int request(int pid, struct sim_request *want)
{
	struct sim_owner target;
	struct sim_request *q;
	int i, r;

	r = sim_owner_of(pid, &target);
	if (r < 0)
		return r == -EACCES ? CU_ERROR_NOT_PERMITTED : CU_ERROR_INVALID_VALUE;
	if (sim_lock(&cuda.sim) < 0)
		return CU_ERROR_OPERATING_SYSTEM;
	i = sim_request_claim(&cuda.sim);
	sim_unlock(&cuda.sim);
	if (i < 0)
		return CU_ERROR_NOT_READY;
	q = &cuda.sim.shm->requests[i];
	q->op = want->op;
	q->target_ns = target.ns;
	q->target_pid = target.pid;
	q->timeout_ms = want->timeout_ms;
	q->n_pairs = want->n_pairs;
	memcpy(q->pairs, want->pairs, want->n_pairs * sizeof(*q->pairs));
	__atomic_store_n(&q->state, SIM_REQUEST_POSTED, __ATOMIC_RELEASE);
	sim_ring(&cuda.sim.shm->request_bell);
	r = await(q, pid, &target);
	want->process_state = q->process_state;
	if (sim_lock(&cuda.sim) == 0) {
		sim_request_drop(&cuda.sim, i);
		sim_unlock(&cuda.sim);
	}
	return r;
}

static int checked_request(const char *name, int pid, struct sim_request *want)
{
	int r = machine();

	if (r == CU_SUCCESS && want->op != SIM_OP_CHECKPOINT && want->op != SIM_OP_RESTORE)
		r = sim_fault(&cuda.sim, name); /* those two fail in the process, with its state */
	if (r != CU_SUCCESS)
		return r;
	if (pid <= 0 || helper_tid(pid) == 0)
		return CU_ERROR_INVALID_VALUE;
	return request(pid, want);
}

static bool is_zero(const void *p, size_t n)
{
	const unsigned char *b = p;

	while (n > 0 && *b == 0) {
		b++;
		n--;
	}
	return n == 0;
}

int cuCheckpointProcessGetRestoreThreadId(int pid, int *tid)
{
	int r = machine(), found;

	if (r == CU_SUCCESS)
		r = sim_fault(&cuda.sim, __func__);
	if (r != CU_SUCCESS)
		return r;
	found = pid > 0 ? helper_tid(pid) : 0;
	if (!tid || found == 0)
		return CU_ERROR_INVALID_VALUE;
	*tid = found;
	return CU_SUCCESS;
}

int cuCheckpointProcessGetState(int pid, int *state)
{
	struct sim_request q = {.op = SIM_OP_STATE};
	int r;

	if (!state)
		return CU_ERROR_INVALID_VALUE;
	r = checked_request(__func__, pid, &q);
	if (r == CU_SUCCESS)
		*state = q.process_state;
	return r;
}

int cuCheckpointProcessLock(int pid, struct cu_lock_args *args)
{
	struct sim_request q = {.op = SIM_OP_LOCK};

	if (args && (args->reserved0 != 0 || !is_zero(args->reserved1, sizeof(args->reserved1))))
		return CU_ERROR_INVALID_VALUE;
	if (args)
		q.timeout_ms = args->timeout_ms;
	return checked_request(__func__, pid, &q);
}

int cuCheckpointProcessCheckpoint(int pid, struct cu_checkpoint_args *args)
{
	struct sim_request q = {.op = SIM_OP_CHECKPOINT};

	if (args && !is_zero(args, sizeof(*args)))
		return CU_ERROR_INVALID_VALUE;
	return checked_request(__func__, pid, &q);
}

int cuCheckpointProcessRestore(int pid, struct cu_restore_args *args)
{
	struct sim_request q = {.op = SIM_OP_RESTORE};

	if (args && (!is_zero(args->reserved, sizeof(args->reserved)) || args->reserved1 != 0))
		return CU_ERROR_INVALID_VALUE;
	if (args && args->n_pairs > 0) {
		if (!args->pairs || args->n_pairs > SIM_CARDS_MAX)
			return CU_ERROR_INVALID_VALUE;
		q.n_pairs = args->n_pairs;
		memcpy(q.pairs, args->pairs, q.n_pairs * sizeof(*q.pairs));
	}
	return checked_request(__func__, pid, &q);
}

int cuCheckpointProcessUnlock(int pid, struct cu_unlock_args *args)
{
	struct sim_request q = {.op = SIM_OP_UNLOCK};

	if (args && !is_zero(args, sizeof(*args)))
		return CU_ERROR_INVALID_VALUE;
	return checked_request(__func__, pid, &q);
}
