/* SPDX-License-Identifier: MIT
 * cuda_helper.c - simulated CUDA: the thread inside a CUDA process that parks and restores it
 * The process's state is private memory of the process, so it survives CRIU; requests come through
 * the machine's file, named by PID namespace and pid, which are looked up anew each time because
 * a restored process has another namespace. */
#include "cuda_sim.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define STACK_BYTES   (256 * 1024)
#define LOOK_AGAIN_MS 250

static void account(int device, uint64_t *ret_bytes, int *ret_contexts)
{
	uint64_t bytes = 0;
	int contexts = 0;

	for (struct cu_context *c = cuda.contexts; c; c = c->next)
		contexts += c->device == device;
	for (struct cuda_mem *m = cuda.mems; m; m = m->next)
		bytes += m->device == device ? m->bytes : 0;
	*ret_contexts = contexts;
	*ret_bytes = bytes + contexts * cuda.sim.shm->context_bytes;
}

int cuda_leave_cards(void)
{
	if (sim_lock(&cuda.sim) < 0)
		return CU_ERROR_OPERATING_SYSTEM;
	sim_proc_drop(&cuda.sim, cuda.entry);
	sim_unlock(&cuda.sim);
	cuda.entry = -1;
	sim_close_fd(&cuda.sim); /* a parked process refers to no device; the mapping is the mailbox */
	return CU_SUCCESS;
}

static int target_card(int device, const struct cu_gpu_pair *pairs, unsigned n_pairs, int *ret)
{
	const struct sim_card *cards = cuda.sim.shm->cards;
	int from = cuda.devices[device].card, to;

	*ret = from;
	if (n_pairs == 0)
		return CU_SUCCESS;
	for (unsigned i = 0; i < n_pairs; i++) {
		if (memcmp(&pairs[i].old_uuid, &cards[from].id, sizeof(struct cu_uuid)) != 0)
			continue;
		to = sim_card_by_uuid(&cuda.sim, &pairs[i].new_uuid);
		if (to < 0 || strcmp(cards[to].model, cards[from].model) != 0)
			return CU_ERROR_INVALID_DEVICE;
		*ret = to;
		return CU_SUCCESS;
	}
	return CU_ERROR_INVALID_VALUE; /* the list must name every GPU that was used */
}

/* Where each device of the process goes; nothing is changed yet. */
static int plan(const struct cu_gpu_pair *pairs, unsigned n_pairs, int *ret_cards)
{
	for (int d = 0; d < cuda.n_devices; d++) {
		uint64_t bytes;
		int contexts, r;

		account(d, &bytes, &contexts);
		ret_cards[d] = cuda.devices[d].card;
		if (bytes == 0 && contexts == 0)
			continue;
		r = target_card(d, pairs, n_pairs, &ret_cards[d]);
		if (r != CU_SUCCESS)
			return r;
	}
	return CU_SUCCESS;
}

static int take_all(const int *cards, bool check)
{
	struct sim_proc *p = &cuda.sim.shm->procs[cuda.entry];

	for (int d = 0; d < cuda.n_devices; d++) {
		const struct sim_card *card = &cuda.sim.shm->cards[cards[d]];
		uint64_t bytes;
		int contexts;

		account(d, &bytes, &contexts);
		if (check && contexts > 0 && !card->present)
			return CU_ERROR_DEVICE_UNAVAILABLE;
		if (check && bytes > card->bytes - sim_card_used(&cuda.sim, cards[d]))
			return CU_ERROR_OUT_OF_MEMORY;
		p->bytes[cards[d]] += bytes;
		p->contexts[cards[d]] += contexts;
	}
	return CU_SUCCESS;
}

static int take_entry(const int *cards, bool check)
{
	int r = CU_ERROR_OPERATING_SYSTEM;

	if (sim_open(&cuda.sim, sim_path()) < 0 || sim_lock(&cuda.sim) < 0)
		return r;
	cuda.entry = sim_proc_add(&cuda.sim, NULL);
	if (cuda.entry >= 0) {
		r = take_all(cards, check);
		if (r != CU_SUCCESS)
			sim_proc_drop(&cuda.sim, cuda.entry);
	}
	sim_unlock(&cuda.sim);
	return r;
}

int cuda_enter_cards(const struct cu_gpu_pair *pairs, unsigned n_pairs)
{
	int cards[SIM_CARDS_MAX], r;

	r = plan(pairs, n_pairs, cards);
	if (r == CU_SUCCESS)
		r = take_entry(cards, true);
	for (int d = 0; r == CU_SUCCESS && d < cuda.n_devices; d++)
		cuda.devices[d].card = cards[d];
	return r;
}

void cuda_reregister(void)
{
	int cards[SIM_CARDS_MAX];

	if (cuda.entry < 0 || cuda.sim.shm->gone || sim_proc_is_mine(&cuda.sim, cuda.entry))
		return;
	plan(NULL, 0, cards);
	take_entry(cards, false);
}

static int lock_process(uint32_t timeout_ms)
{
	struct timespec until;

	if (cuda.state != CU_PROCESS_RUNNING)
		return CU_ERROR_ILLEGAL_STATE;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	cuda.state = CU_PROCESS_LOCKED;
	while (cuda.n_inside > 0) {
		int r = timeout_ms == 0 ?
			pthread_cond_wait(&cuda.turn, &cuda.mutex) :
			pthread_cond_timedwait(&cuda.turn, &cuda.mutex, &until);

		if (r != 0 && cuda.n_inside > 0) {
			cuda.state = CU_PROCESS_RUNNING;
			pthread_cond_broadcast(&cuda.turn);
			return CU_ERROR_NOT_READY;
		}
	}
	return CU_SUCCESS;
}

static int checkpoint_process(void)
{
	int r;

	if (cuda.state != CU_PROCESS_LOCKED)
		return CU_ERROR_ILLEGAL_STATE;
	r = sim_fault(&cuda.sim, "cuCheckpointProcessCheckpoint");
	if (r == CU_SUCCESS)
		r = cuda_leave_cards();
	cuda.state = r == CU_SUCCESS ? CU_PROCESS_CHECKPOINTED : CU_PROCESS_FAILED;
	return r;
}

/* As the real driver does it: a restore that ran out of memory leaves nothing to try again. */
static int restore_process(const struct sim_request *q)
{
	int r;

	if (cuda.state == CU_PROCESS_FAILED)
		return CU_ERROR_OPERATING_SYSTEM;
	if (cuda.state != CU_PROCESS_CHECKPOINTED)
		return CU_ERROR_ILLEGAL_STATE;
	r = sim_fault(&cuda.sim, "cuCheckpointProcessRestore");
	if (r == CU_SUCCESS) {
		r = cuda_enter_cards(q->pairs, q->n_pairs);
		if (r == CU_ERROR_INVALID_VALUE || r == CU_ERROR_INVALID_DEVICE)
			return r; /* a wrong list; nothing happened */
	}
	cuda.state = r == CU_SUCCESS ? CU_PROCESS_LOCKED : CU_PROCESS_FAILED;
	return r;
}

static int unlock_process(void)
{
	if (cuda.state != CU_PROCESS_LOCKED)
		return CU_ERROR_ILLEGAL_STATE;
	cuda.state = CU_PROCESS_RUNNING;
	pthread_cond_broadcast(&cuda.turn);
	return CU_SUCCESS;
}

static int carry_out(const struct sim_request *q)
{
	switch ((enum sim_op)q->op) {
	case SIM_OP_STATE: return CU_SUCCESS;
	case SIM_OP_LOCK: return lock_process(q->timeout_ms);
	case SIM_OP_CHECKPOINT: return checkpoint_process();
	case SIM_OP_RESTORE: return restore_process(q);
	case SIM_OP_UNLOCK: return unlock_process();
	}
	return CU_ERROR_NOT_SUPPORTED;
}

static void serve(struct sim_shm *shm)
{
	struct sim_owner me;

	if (sim_owner_self(&me) < 0)
		return;
	for (int i = 0; i < SIM_REQUESTS; i++) {
		struct sim_request *q = &shm->requests[i];

		if (__atomic_load_n(&q->state, __ATOMIC_ACQUIRE) != SIM_REQUEST_POSTED ||
			q->target_ns != me.ns || q->target_pid != me.pid)
			continue;
		pthread_mutex_lock(&cuda.mutex);
		q->result = carry_out(q);
		q->process_state = cuda.state;
		pthread_mutex_unlock(&cuda.mutex);
		sim_set(&q->state, SIM_REQUEST_DONE);
	}
}

static void *helper(void *arg)
{
	(void)arg;
	for (;;) {
		struct sim_shm *shm = cuda.sim.shm;
		uint32_t bell = __atomic_load_n(&shm->request_bell, __ATOMIC_ACQUIRE);

		serve(shm);
		pthread_mutex_lock(&cuda.mutex);
		cuda_reregister();
		pthread_mutex_unlock(&cuda.mutex);
		sim_wait(&shm->request_bell, bell, LOOK_AGAIN_MS);
	}
	return NULL;
}

/* Named from outside, so that cuCheckpoint calls find it as soon as cuInit() has returned. */
int cuda_helper_start(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int r;

	if (cuda.has_helper)
		return CU_SUCCESS;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the program's, not ours */
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(&thread, &attr, helper, NULL);
	if (r == 0)
		pthread_setname_np(thread, CUDA_HELPER_NAME);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	cuda.has_helper = r == 0;
	return r == 0 ? CU_SUCCESS : CU_ERROR_OPERATING_SYSTEM;
}
