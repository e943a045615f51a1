/* SPDX-License-Identifier: MIT
 * sim.h - the simulated machine behind both libraries: one shared file of cards and processes
 * Processes that use a card hold a POSIX record lock on their entry's byte. The kernel drops it
 * when they die, however they die, and tells every reader the holder's pid in the reader's own
 * PID namespace; so entries clean themselves and NVML shows host pids, as the real one does.
 * Promises: a holder that dies under the mutex blocks nobody; memory of dead processes is free.
 * Leaves to others: what the calls mean (nvml_*.c, cuda_*.c), steering (gq_simgpu.c). Format:
 * simgpu.md. Uses libc only, because it is linked into libraries that any program may load. */
#ifndef GQ_SIMGPU_SIM_H
#define GQ_SIMGPU_SIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nvabi/cuda.h"

#define SIM_MAGIC        "GQSIMGPU"
#define SIM_VERSION      1
#define SIM_DEFAULT_PATH "/run/gq-simgpu" /* jobs see it: their capsule has its own /dev/shm */
#define SIM_CARDS_MAX    32
#define SIM_PROCS_MAX    256
#define SIM_EVENTS       64 /* the newest ones; a reader that is slower loses the oldest */
#define SIM_REQUESTS     32
#define SIM_FAULTS       16
#define SIM_HANG         (-1) /* sim_fault.error: the call never returns */
#define SIM_FOREVER      (-1) /* sim_fault.left */

struct sim_card {
	char uuid[48], model[64], bus_id[32];
	struct cu_uuid id; /* the bytes of uuid */
	uint32_t bus;      /* PCI bus number */
	int32_t numa;
	uint64_t bytes;
	uint32_t util, mem_util, temperature, power_mw;
	uint32_t present; /* 0: fallen off the bus */
	uint32_t cc_major, cc_minor;
};

struct sim_owner { /* who a process is, seen from inside it */
	uint64_t ns;    /* inode of its PID namespace */
	uint64_t start; /* start time, clock ticks since boot */
	int32_t pid;
	uint32_t reserved;
};

struct sim_proc {
	uint32_t used; /* 0: free */
	uint32_t state; /* enum cu_process_state */
	struct sim_owner owner;
	char name[32];
	uint64_t bytes[SIM_CARDS_MAX];
	uint32_t contexts[SIM_CARDS_MAX]; /* how many: a process with one is on the card */
	uint32_t util[SIM_CARDS_MAX];     /* percent, constant (gq-simgpu hold) */
	int64_t busy_until[SIM_CARDS_MAX]; /* CLOCK_MONOTONIC ns: computing until then */
};

struct sim_event {
	uint32_t card, xid;
};

enum sim_op { SIM_OP_STATE, SIM_OP_LOCK, SIM_OP_CHECKPOINT, SIM_OP_RESTORE, SIM_OP_UNLOCK };
enum { SIM_REQUEST_FREE, SIM_REQUEST_POSTED, SIM_REQUEST_DONE };

struct sim_request { /* one cuCheckpoint call, from the caller to the process it names */
	uint32_t state; /* a futex */
	uint32_t op;
	struct sim_owner caller;
	uint64_t target_ns;
	int32_t target_pid; /* in that namespace */
	uint32_t timeout_ms;
	int32_t result;
	uint32_t process_state;
	uint32_t n_pairs;
	struct cu_gpu_pair pairs[SIM_CARDS_MAX];
};

struct sim_fault {
	char call[56]; /* "" = free */
	int32_t error, left;
};

struct sim_shm {
	char magic[8];
	uint32_t version, size;
	uint32_t gone; /* destroyed; whoever still has it mapped looks for a new one */
	uint32_t n_cards;
	pthread_mutex_t mutex; /* robust, shared */
	char driver[32];
	int32_t cuda_version;
	uint32_t reserved;
	uint64_t context_bytes; /* that a CUDA context takes */
	uint32_t event_bell, request_bell; /* futexes, counted up */
	uint64_t n_events;                 /* ever; the newest is events[(n - 1) % SIM_EVENTS] */
	struct sim_event events[SIM_EVENTS];
	struct sim_fault faults[SIM_FAULTS];
	struct sim_card cards[SIM_CARDS_MAX];
	struct sim_proc procs[SIM_PROCS_MAX];
	struct sim_request requests[SIM_REQUESTS];
};

struct sim { /* a place in one process */
	struct sim_shm *shm; /* mapped; NULL = none */
	int fd;              /* kept open: closing it would drop the process's locks */
};

#define SIM_INIT {NULL, -1}

const char *sim_path(void); /* $GQ_SIMGPU or SIM_DEFAULT_PATH */

/* 0; -ENOENT no machine is simulated; -EPROTO not this version's file. Again when open: looks
 * whether the machine was destroyed, and then for the new one. */
int sim_open(struct sim *s, const char *path);
void sim_close_fd(struct sim *s); /* a parked process keeps the mapping only */
int sim_create(const char *path, const struct sim_shm *machine); /* -EEXIST, -errno */
int sim_destroy(const char *path);

/* 0, or -ETIMEDOUT after two seconds (the holder is stopped or frozen). */
int sim_lock(struct sim *s);
void sim_unlock(struct sim *s);

/* The error that a call must fail with, 0 = none; hangs where that was asked for. */
int sim_fault(struct sim *s, const char *call);

/* Processes; all with the mutex held. */
int sim_proc_add(struct sim *s, const char *name); /* index, or -ENOSPC */
void sim_proc_drop(struct sim *s, int i);
bool sim_proc_is_mine(const struct sim *s, int i);
pid_t sim_proc_pid(struct sim *s, int i); /* in the reader's namespace; 0 = not visible there */
void sim_prune(struct sim *s);            /* forgets the dead */
bool sim_proc_on_card(const struct sim_proc *p, int card);
uint32_t sim_proc_util(const struct sim_proc *p, int card);
uint64_t sim_card_used(struct sim *s, int card);
uint32_t sim_card_util(struct sim *s, int card);
int sim_card_by_uuid(const struct sim *s, const struct cu_uuid *id); /* index or -1 */

/* A place for one request, held until it is dropped or the caller dies. Mutex held. */
int sim_request_claim(struct sim *s); /* index, -EBUSY */
void sim_request_drop(struct sim *s, int i);

int sim_owner_self(struct sim_owner *ret);
int sim_owner_of(pid_t pid, struct sim_owner *ret); /* -ESRCH, -EACCES */
int sim_comm(pid_t pid, char *buf, size_t size);    /* its name */

void sim_event(struct sim *s, int card, int xid); /* mutex held */
void sim_ring(uint32_t *bell);
void sim_set(uint32_t *word, uint32_t value); /* and wakes who waits for it */
void sim_wait(uint32_t *bell, uint32_t seen, int timeout_ms); /* until it is rung or time is up */
int64_t sim_monotonic(void);

#endif
