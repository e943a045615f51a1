/* SPDX-License-Identifier: MIT
 * nvml_sim.h - what the files of the simulated NVML share: how a call begins and ends */
#ifndef GQ_SIMGPU_NVML_SIM_H
#define GQ_SIMGPU_NVML_SIM_H

#include "base/cleanup.h"
#include "nvabi/nvml.h"
#include "sim.h"

struct nv_device { /* one per card; handles are addresses of these */
	int index;
};

struct nv_call {
	struct sim *sim;
	struct sim_card *card; /* NULL for calls about the system */
	int index;
};

/* Locks the machine, takes injected faults and lost cards into account. */
int nv_enter(const char *name, struct nv_device *device, struct nv_call *ret);
int nv_enter_system(const char *name, struct nv_call *ret);
void nv_leave(struct nv_call *c);

struct nv_device *nv_handle(int index);
int nv_text(char *to, unsigned length, const char *from); /* NV_INSUFFICIENT_SIZE */
struct sim *nv_sim(void);

#define NV_ENTER(device)                                                                     \
	_cleanup_(nv_leave) struct nv_call call = {NULL};                                    \
	int entered = nv_enter(__func__, device, &call);                                     \
	if (entered != NV_SUCCESS)                                                           \
	return entered
#define NV_ENTER_SYSTEM()                                                                    \
	_cleanup_(nv_leave) struct nv_call call = {NULL};                                    \
	int entered = nv_enter_system(__func__, &call);                                      \
	if (entered != NV_SUCCESS)                                                           \
	return entered

#endif
