/* SPDX-License-Identifier: MIT
 * cuda_sim.h - what the files of the simulated CUDA driver share: the state of one process
 * The bytes of device memory live in the process (mmap, without reserving), the accounting in the
 * shared file. All of it that a snapshot must carry is private memory, so CRIU carries it.
 * Promises: while the process is not RUNNING no call gets past cuda_enter(), and once it is LOCKED
 * none is inside. */
#ifndef GQ_SIMGPU_CUDA_SIM_H
#define GQ_SIMGPU_CUDA_SIM_H

#include "base/cleanup.h"
#include "nvabi/cuda.h"
#include "sim.h"

struct cu_context {
	struct cu_context *next;
	int device; /* ordinal in this process */
	int refs;   /* primary contexts: how often retained */
	bool primary;
};

struct cuda_mem {
	struct cuda_mem *next;
	cu_ptr ptr; /* address of the mapping */
	size_t bytes;
	int device;
};

struct cuda_device {
	int card;     /* in the machine; changes when a restore maps to another one */
	int bus_card; /* whose PCI bus id is told: it stays the old one, as with the real driver */
};

struct cuda {
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t turn;   /* state or n_inside changed */
	bool initialised, has_helper;
	enum cu_process_state state;
	int n_inside; /* calls that are being carried out */
	struct sim sim;
	int entry; /* in the machine's table of processes, -1 = none */
	int n_devices;
	struct cuda_device devices[SIM_CARDS_MAX];
	struct cu_context *contexts; /* owned list */
	struct cuda_mem *mems;       /* owned list */
};

extern struct cuda cuda;
extern _Thread_local struct cu_context *cuda_current;

/* Begin and end of a call. The first waits while the process is locked. */
int cuda_enter(const char *name);
int cuda_enter_context(const char *name, struct cu_context **ret); /* and needs a context */
void cuda_leave(const int *entered);

#define CUDA_ENTER()                                                                         \
	_cleanup_(cuda_leave) int entered = cuda_enter(__func__);                            \
	if (entered != CU_SUCCESS)                                                           \
	return entered
#define CUDA_ENTER_CONTEXT()                                                                 \
	struct cu_context *ctx = NULL;                                                       \
	_cleanup_(cuda_leave) int entered = cuda_enter_context(__func__, &ctx);              \
	if (entered != CU_SUCCESS)                                                           \
	return entered

/* Accounting, with cuda.mutex held. */
int cuda_charge(int device, uint64_t bytes, int contexts); /* OUT_OF_MEMORY, DEVICE_UNAVAILABLE */
void cuda_release(int device, uint64_t bytes, int contexts);
void cuda_computes(int device); /* the card is busy for the next second */
int cuda_leave_cards(void);     /* gives everything back, keeps the contents */
int cuda_enter_cards(const struct cu_gpu_pair *pairs, unsigned n_pairs); /* takes it again */
void cuda_reregister(void);     /* the process was restored without our help: be seen again */

int cuda_visible_devices(const struct sim *s, struct cuda_device *ret); /* how many */
int cuda_helper_start(void);
#define CUDA_HELPER_NAME "cuda-restore" /* the thread that carries out checkpoint requests */

#endif
