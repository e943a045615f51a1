/* SPDX-License-Identifier: MIT
 * nvml_system.c - simulated NVML: opening, closing, the driver, finding cards */
#include "nvml_sim.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static struct {
	pthread_mutex_t mutex; /* of n_users */
	int n_users;           /* nvmlInit calls that were not shut down */
	struct sim sim;
	struct nv_device devices[SIM_CARDS_MAX];
} nv = {.mutex = PTHREAD_MUTEX_INITIALIZER, .sim = SIM_INIT};

/* The only sign by which a program can tell this library from the real one. */
extern const char gq_simgpu_version[];
const char gq_simgpu_version[] = "simulated by gq " PACKAGE_VERSION;

struct sim *nv_sim(void)
{
	return &nv.sim;
}

struct nv_device *nv_handle(int index)
{
	return &nv.devices[index];
}

int nv_text(char *to, unsigned length, const char *from)
{
	if (!to)
		return NV_INVALID_ARGUMENT;
	if (strlen(from) >= length)
		return NV_INSUFFICIENT_SIZE;
	memcpy(to, from, strlen(from) + 1);
	return NV_SUCCESS;
}

int nv_enter_system(const char *name, struct nv_call *ret)
{
	int r;

	if (nv.n_users == 0)
		return NV_UNINITIALIZED;
	if (nv.sim.shm->gone)
		return NV_DRIVER_NOT_LOADED;
	r = sim_fault(&nv.sim, name);
	if (r != 0)
		return r;
	if (sim_lock(&nv.sim) < 0)
		return NV_TIMEOUT;
	ret->sim = &nv.sim;
	return NV_SUCCESS;
}

int nv_enter(const char *name, struct nv_device *device, struct nv_call *ret)
{
	int r = nv_enter_system(name, ret);

	if (r != NV_SUCCESS)
		return r;
	if (device < nv.devices || device >= nv.devices + nv.sim.shm->n_cards)
		return NV_INVALID_ARGUMENT;
	ret->index = device->index;
	ret->card = &nv.sim.shm->cards[device->index];
	return ret->card->present ? NV_SUCCESS : NV_GPU_IS_LOST;
}

void nv_leave(struct nv_call *c)
{
	if (c->sim)
		sim_unlock(c->sim);
}

int nvmlInitWithFlags(unsigned flags)
{
	int r = NV_SUCCESS;

	(void)flags;
	pthread_mutex_lock(&nv.mutex);
	for (int i = 0; i < SIM_CARDS_MAX; i++)
		nv.devices[i].index = i;
	if (sim_open(&nv.sim, sim_path()) < 0)
		r = NV_DRIVER_NOT_LOADED;
	else
		r = sim_fault(&nv.sim, "nvmlInit_v2");
	if (r == NV_SUCCESS)
		nv.n_users++;
	pthread_mutex_unlock(&nv.mutex);
	return r;
}

int nvmlInit_v2(void)
{
	return nvmlInitWithFlags(0);
}

int nvmlInit(void)
{
	return nvmlInitWithFlags(0);
}

int nvmlShutdown(void)
{
	int r = NV_SUCCESS;

	/* The file stays open: closing it would drop the record lock of a CUDA user here. */
	pthread_mutex_lock(&nv.mutex);
	if (nv.n_users == 0)
		r = NV_UNINITIALIZED;
	else
		nv.n_users--;
	pthread_mutex_unlock(&nv.mutex);
	return r;
}

const char *nvmlErrorString(int result)
{
	switch (result) {
#define NVML_ERROR(name, value, text)                                                        \
	case value: return text;
#include "nvabi/nvml_error.def"
#undef NVML_ERROR
	default: return "Unknown Error";
	}
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
	NV_ENTER_SYSTEM();
	return nv_text(version, length, call.sim->shm->driver);
}

int nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
	char text[64];

	NV_ENTER_SYSTEM();
	snprintf(text, sizeof(text), "%d.%s", call.sim->shm->cuda_version / 1000,
		call.sim->shm->driver);
	return nv_text(version, length, text);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	NV_ENTER_SYSTEM();
	if (!version)
		return NV_INVALID_ARGUMENT;
	*version = call.sim->shm->cuda_version;
	return NV_SUCCESS;
}

int nvmlSystemGetCudaDriverVersion(int *version)
{
	return nvmlSystemGetCudaDriverVersion_v2(version);
}

int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length)
{
	char comm[64];

	NV_ENTER_SYSTEM();
	if (sim_comm(pid, comm, sizeof(comm)) < 0)
		return NV_NOT_FOUND;
	return nv_text(name, length, comm);
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	NV_ENTER_SYSTEM();
	if (!count)
		return NV_INVALID_ARGUMENT;
	*count = call.sim->shm->n_cards;
	return NV_SUCCESS;
}

int nvmlDeviceGetCount(unsigned *count)
{
	return nvmlDeviceGetCount_v2(count);
}

static int find(struct nv_call *c, int index, struct nv_device **device)
{
	if (!device || index < 0 || (unsigned)index >= c->sim->shm->n_cards)
		return NV_INVALID_ARGUMENT;
	if (!c->sim->shm->cards[index].present)
		return NV_GPU_IS_LOST;
	*device = nv_handle(index);
	return NV_SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nv_device **device)
{
	NV_ENTER_SYSTEM();
	return find(&call, index < SIM_CARDS_MAX ? (int)index : -1, device);
}

int nvmlDeviceGetHandleByIndex(unsigned index, struct nv_device **device)
{
	return nvmlDeviceGetHandleByIndex_v2(index, device);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, struct nv_device **device)
{
	NV_ENTER_SYSTEM();
	for (unsigned i = 0; uuid && i < call.sim->shm->n_cards; i++) {
		if (strcmp(call.sim->shm->cards[i].uuid, uuid) == 0)
			return find(&call, i, device);
	}
	return uuid ? NV_NOT_FOUND : NV_INVALID_ARGUMENT;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, struct nv_device **device)
{
	NV_ENTER_SYSTEM();
	for (unsigned i = 0; bus_id && i < call.sim->shm->n_cards; i++) {
		const char *id = call.sim->shm->cards[i].bus_id;

		/* a domain of four digits is as good as one of eight */
		if (strcasecmp(id, bus_id) == 0 || strcasecmp(id + 4, bus_id) == 0)
			return find(&call, i, device);
	}
	return bus_id ? NV_NOT_FOUND : NV_INVALID_ARGUMENT;
}

int nvmlDeviceGetHandleByPciBusId(const char *bus_id, struct nv_device **device)
{
	return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}
