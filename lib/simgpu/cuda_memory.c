/* SPDX-License-Identifier: MIT
 * cuda_memory.c - simulated CUDA: contexts and memory, and their accounts on the cards */
#include "cuda_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BUSY_NS INT64_C(1000000000) /* a call that computes makes the card busy so long */

static struct sim_card *card_of(int device, int *ret_index)
{
	*ret_index = cuda.devices[device].card;
	return &cuda.sim.shm->cards[*ret_index];
}

int cuda_charge(int device, uint64_t bytes, int contexts)
{
	int i, r = CU_SUCCESS;
	const struct sim_card *card = card_of(device, &i);
	struct sim_proc *p = &cuda.sim.shm->procs[cuda.entry];

	if (sim_lock(&cuda.sim) < 0)
		return CU_ERROR_OPERATING_SYSTEM;
	sim_prune(&cuda.sim);
	if (!card->present) {
		r = CU_ERROR_DEVICE_UNAVAILABLE;
	} else if (bytes > card->bytes - sim_card_used(&cuda.sim, i)) {
		r = CU_ERROR_OUT_OF_MEMORY;
	} else {
		p->bytes[i] += bytes;
		p->contexts[i] += contexts;
	}
	sim_unlock(&cuda.sim);
	return r;
}

void cuda_release(int device, uint64_t bytes, int contexts)
{
	int i;
	struct sim_proc *p = &cuda.sim.shm->procs[cuda.entry];

	card_of(device, &i);
	if (sim_lock(&cuda.sim) < 0)
		return; /* the account is too high until the process ends: the safe side */
	p->bytes[i] -= bytes;
	p->contexts[i] -= contexts;
	sim_unlock(&cuda.sim);
}

void cuda_computes(int device)
{
	int i;

	card_of(device, &i);
	__atomic_store_n(&cuda.sim.shm->procs[cuda.entry].busy_until[i], sim_monotonic() + BUSY_NS,
		__ATOMIC_RELAXED);
}

static int context_new(int device, bool primary, struct cu_context **ret)
{
	struct cu_context *ctx = calloc(1, sizeof(*ctx));
	int r;

	if (!ctx)
		return CU_ERROR_OUT_OF_MEMORY;
	r = cuda_charge(device, cuda.sim.shm->context_bytes, 1);
	if (r != CU_SUCCESS) {
		free(ctx);
		return r;
	}
	*ctx = (struct cu_context){cuda.contexts, device, 1, primary};
	cuda.contexts = ctx;
	*ret = ctx;
	return CU_SUCCESS;
}

static struct cu_context *primary_of(int device)
{
	struct cu_context *ctx = cuda.contexts;

	while (ctx && !(ctx->primary && ctx->device == device))
		ctx = ctx->next;
	return ctx;
}

static int mem_free(struct cuda_mem **at)
{
	struct cuda_mem *m = *at;

	*at = m->next;
	munmap((void *)(uintptr_t)m->ptr, m->bytes);
	cuda_release(m->device, m->bytes, 0);
	free(m);
	return CU_SUCCESS;
}

/* The last context of a card takes its memory along. */
static void free_orphans(int device)
{
	for (struct cu_context *c = cuda.contexts; c; c = c->next) {
		if (c->device == device)
			return;
	}
	for (struct cuda_mem **m = &cuda.mems; *m;) {
		if ((*m)->device == device)
			mem_free(m);
		else
			m = &(*m)->next;
	}
}

static int context_free(struct cu_context *ctx)
{
	struct cu_context **at = &cuda.contexts;

	while (*at && *at != ctx)
		at = &(*at)->next;
	if (!*at)
		return CU_ERROR_INVALID_CONTEXT;
	*at = ctx->next;
	cuda_release(ctx->device, cuda.sim.shm->context_bytes, 1);
	free_orphans(ctx->device);
	if (cuda_current == ctx)
		cuda_current = NULL;
	free(ctx);
	return CU_SUCCESS;
}

static void unlock(pthread_mutex_t **m)
{
	pthread_mutex_unlock(*m);
}

#define WITH_MUTEX()                                                                         \
	_cleanup_(unlock) pthread_mutex_t *held = &cuda.mutex;                               \
	pthread_mutex_lock(held)

int cuDevicePrimaryCtxRetain(struct cu_context **context, cu_device device)
{
	CUDA_ENTER();
	WITH_MUTEX();
	if (!context)
		return CU_ERROR_INVALID_VALUE;
	if (device < 0 || device >= cuda.n_devices)
		return CU_ERROR_INVALID_DEVICE;
	*context = primary_of(device);
	if (!*context)
		return context_new(device, true, context);
	(*context)->refs++;
	return CU_SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(cu_device device)
{
	struct cu_context *ctx;

	CUDA_ENTER();
	WITH_MUTEX();
	ctx = primary_of(device);
	if (!ctx)
		return CU_ERROR_INVALID_CONTEXT;
	return --ctx->refs > 0 ? CU_SUCCESS : context_free(ctx);
}

int cuCtxCreate_v2(struct cu_context **context, unsigned flags, cu_device device)
{
	int r;

	(void)flags;
	CUDA_ENTER();
	WITH_MUTEX();
	if (!context)
		return CU_ERROR_INVALID_VALUE;
	if (device < 0 || device >= cuda.n_devices)
		return CU_ERROR_INVALID_DEVICE;
	r = context_new(device, false, context);
	if (r == CU_SUCCESS)
		cuda_current = *context;
	return r;
}

int cuCtxDestroy_v2(struct cu_context *context)
{
	CUDA_ENTER();
	WITH_MUTEX();
	return context_free(context);
}

int cuCtxSetCurrent(struct cu_context *context)
{
	CUDA_ENTER();
	cuda_current = context;
	return CU_SUCCESS;
}

int cuCtxGetCurrent(struct cu_context **context)
{
	CUDA_ENTER();
	if (!context)
		return CU_ERROR_INVALID_VALUE;
	*context = cuda_current;
	return CU_SUCCESS;
}

int cuCtxGetDevice(cu_device *device)
{
	CUDA_ENTER_CONTEXT();
	if (!device)
		return CU_ERROR_INVALID_VALUE;
	*device = ctx->device;
	return CU_SUCCESS;
}

int cuCtxSynchronize(void)
{
	CUDA_ENTER_CONTEXT();
	return CU_SUCCESS;
}

int cuMemAlloc_v2(cu_ptr *ptr, size_t bytes)
{
	struct cuda_mem *m;
	void *p;
	int r;

	CUDA_ENTER_CONTEXT();
	WITH_MUTEX();
	if (!ptr || bytes == 0)
		return CU_ERROR_INVALID_VALUE;
	r = cuda_charge(ctx->device, bytes, 0);
	if (r != CU_SUCCESS)
		return r;
	m = malloc(sizeof(*m));
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!m || p == MAP_FAILED) {
		free(m);
		cuda_release(ctx->device, bytes, 0);
		return CU_ERROR_OUT_OF_MEMORY;
	}
	*m = (struct cuda_mem){cuda.mems, (uintptr_t)p, bytes, ctx->device};
	cuda.mems = m;
	*ptr = m->ptr;
	return CU_SUCCESS;
}

int cuMemFree_v2(cu_ptr ptr)
{
	struct cuda_mem **at = &cuda.mems;

	CUDA_ENTER();
	WITH_MUTEX();
	if (ptr == 0)
		return CU_SUCCESS;
	while (*at && (*at)->ptr != ptr)
		at = &(*at)->next;
	return *at ? mem_free(at) : CU_ERROR_INVALID_VALUE;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
	int i;
	const struct sim_card *card;

	CUDA_ENTER_CONTEXT();
	if (!free_bytes || !total_bytes)
		return CU_ERROR_INVALID_VALUE;
	card = card_of(ctx->device, &i);
	if (sim_lock(&cuda.sim) < 0)
		return CU_ERROR_OPERATING_SYSTEM;
	sim_prune(&cuda.sim);
	*total_bytes = card->bytes;
	*free_bytes = card->bytes - sim_card_used(&cuda.sim, i);
	sim_unlock(&cuda.sim);
	return CU_SUCCESS;
}

/* The bytes behind a device range that lies in one allocation; the device computes on them. */
static void *device_range(cu_ptr ptr, size_t bytes)
{
	WITH_MUTEX();
	for (struct cuda_mem *m = cuda.mems; m; m = m->next) {
		if (ptr < m->ptr || ptr - m->ptr > m->bytes || bytes > m->bytes - (ptr - m->ptr))
			continue;
		cuda_computes(m->device);
		return (void *)(uintptr_t)ptr;
	}
	return NULL;
}

int cuMemcpyHtoD_v2(cu_ptr to, const void *from, size_t bytes)
{
	void *p;

	CUDA_ENTER_CONTEXT();
	p = device_range(to, bytes);
	if (!p || !from)
		return CU_ERROR_INVALID_VALUE;
	memcpy(p, from, bytes);
	return CU_SUCCESS;
}

int cuMemcpyDtoH_v2(void *to, cu_ptr from, size_t bytes)
{
	void *p;

	CUDA_ENTER_CONTEXT();
	p = device_range(from, bytes);
	if (!p || !to)
		return CU_ERROR_INVALID_VALUE;
	memcpy(to, p, bytes);
	return CU_SUCCESS;
}

int cuMemcpyDtoD_v2(cu_ptr to, cu_ptr from, size_t bytes)
{
	void *p, *q;

	CUDA_ENTER_CONTEXT();
	p = device_range(to, bytes);
	q = device_range(from, bytes);
	if (!p || !q)
		return CU_ERROR_INVALID_VALUE;
	memmove(p, q, bytes);
	return CU_SUCCESS;
}

int cuMemsetD8_v2(cu_ptr to, unsigned char value, size_t n)
{
	void *p;

	CUDA_ENTER_CONTEXT();
	p = device_range(to, n);
	if (!p)
		return CU_ERROR_INVALID_VALUE;
	memset(p, value, n);
	return CU_SUCCESS;
}

int cuMemsetD32_v2(cu_ptr to, unsigned value, size_t n)
{
	unsigned *p;

	CUDA_ENTER_CONTEXT();
	p = n <= SIZE_MAX / sizeof(*p) ? device_range(to, n * sizeof(*p)) : NULL;
	if (!p || to % sizeof(*p) != 0)
		return CU_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++)
		p[i] = value;
	return CU_SUCCESS;
}

int cuMemAllocHost_v2(void **ptr, size_t bytes)
{
	CUDA_ENTER_CONTEXT();
	if (!ptr || bytes == 0)
		return CU_ERROR_INVALID_VALUE;
	return posix_memalign(ptr, 4096, bytes) == 0 ? CU_SUCCESS : CU_ERROR_OUT_OF_MEMORY;
}

int cuMemFreeHost(void *ptr)
{
	CUDA_ENTER();
	free(ptr);
	return CU_SUCCESS;
}
