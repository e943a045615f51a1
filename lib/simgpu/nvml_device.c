/* SPDX-License-Identifier: MIT
 * nvml_device.c - simulated NVML: what a card is and how it does */
#include "nvml_sim.h"

#include <stdio.h>
#include <string.h>

#define A100_DEVICE_ID    0x20b210deu
#define A100_SUBSYSTEM_ID 0x147f10deu
#define NVLINKS_USED      12 /* of an A100 */

int nvmlDeviceGetUUID(struct nv_device *device, char *uuid, unsigned length)
{
	NV_ENTER(device);
	return nv_text(uuid, length, call.card->uuid);
}

int nvmlDeviceGetName(struct nv_device *device, char *name, unsigned length)
{
	NV_ENTER(device);
	return nv_text(name, length, call.card->model);
}

/* The many calls that answer with one number. */
#define NUMBER_CALL(name, type, expression)                                                  \
	int name(struct nv_device *device, type *ret)                                        \
	{                                                                                    \
		NV_ENTER(device);                                                            \
		if (!ret)                                                                    \
			return NV_INVALID_ARGUMENT;                                          \
		*ret = (expression);                                                         \
		return NV_SUCCESS;                                                           \
	}

NUMBER_CALL(nvmlDeviceGetIndex, unsigned, call.index)
NUMBER_CALL(nvmlDeviceGetMinorNumber, unsigned, call.index)
NUMBER_CALL(nvmlDeviceGetPowerUsage, unsigned, call.card->power_mw)
NUMBER_CALL(nvmlDeviceGetPersistenceMode, int, NV_FEATURE_ON)
NUMBER_CALL(nvmlDeviceGetComputeMode, int, 0)
NUMBER_CALL(nvmlDeviceGetMaxMigDeviceCount, unsigned, 0)
NUMBER_CALL(nvmlDeviceGetNumaNodeId, unsigned, call.card->numa)

int nvmlDeviceGetTemperature(struct nv_device *device, int sensor, unsigned *celsius)
{
	NV_ENTER(device);
	if (sensor != 0 || !celsius)
		return NV_INVALID_ARGUMENT;
	*celsius = call.card->temperature;
	return NV_SUCCESS;
}

int nvmlDeviceGetMigMode(struct nv_device *device, unsigned *now, unsigned *pending)
{
	NV_ENTER(device);
	if (!now || !pending)
		return NV_INVALID_ARGUMENT;
	*now = *pending = NV_FEATURE_OFF;
	return NV_SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(struct nv_device *device, int *major, int *minor)
{
	NV_ENTER(device);
	if (!major || !minor)
		return NV_INVALID_ARGUMENT;
	*major = call.card->cc_major;
	*minor = call.card->cc_minor;
	return NV_SUCCESS;
}

static void pci_v3(const struct sim_card *card, struct nv_pci_info *pci)
{
	memset(pci, 0, sizeof(*pci));
	pci->bus = card->bus;
	pci->device_id = A100_DEVICE_ID;
	pci->subsystem_id = A100_SUBSYSTEM_ID;
	snprintf(pci->bus_id_legacy, sizeof(pci->bus_id_legacy), "%.15s", card->bus_id + 4);
	snprintf(pci->bus_id, sizeof(pci->bus_id), "%.31s", card->bus_id);
}

static void pci_v2(const struct sim_card *card, struct nv_pci_info_v2 *pci)
{
	memset(pci, 0, sizeof(*pci));
	pci->bus = card->bus;
	pci->device_id = A100_DEVICE_ID;
	pci->subsystem_id = A100_SUBSYSTEM_ID;
	snprintf(pci->bus_id, sizeof(pci->bus_id), "%.15s", card->bus_id + 4);
}

int nvmlDeviceGetPciInfo_v3(struct nv_device *device, struct nv_pci_info *pci)
{
	NV_ENTER(device);
	if (!pci)
		return NV_INVALID_ARGUMENT;
	pci_v3(call.card, pci);
	return NV_SUCCESS;
}

int nvmlDeviceGetPciInfo_v2(struct nv_device *device, struct nv_pci_info_v2 *pci)
{
	NV_ENTER(device);
	if (!pci)
		return NV_INVALID_ARGUMENT;
	pci_v2(call.card, pci);
	return NV_SUCCESS;
}

int nvmlDeviceGetPciInfo(struct nv_device *device, struct nv_pci_info_v2 *pci)
{
	return nvmlDeviceGetPciInfo_v2(device, pci);
}

int nvmlDeviceGetMemoryInfo(struct nv_device *device, struct nv_memory *memory)
{
	NV_ENTER(device);
	if (!memory)
		return NV_INVALID_ARGUMENT;
	sim_prune(call.sim);
	memory->total = call.card->bytes;
	memory->used = sim_card_used(call.sim, call.index);
	memory->free = memory->total - memory->used;
	return NV_SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(struct nv_device *device, struct nv_memory_v2 *memory)
{
	NV_ENTER(device);
	if (!memory)
		return NV_INVALID_ARGUMENT;
	if (memory->version != NV_MEMORY_V2)
		return NV_ARGUMENT_VERSION_MISMATCH;
	sim_prune(call.sim);
	memory->total = call.card->bytes;
	memory->reserved = 0;
	memory->used = sim_card_used(call.sim, call.index);
	memory->free = memory->total - memory->used;
	return NV_SUCCESS;
}

int nvmlDeviceGetUtilizationRates(struct nv_device *device, struct nv_utilization *util)
{
	NV_ENTER(device);
	if (!util)
		return NV_INVALID_ARGUMENT;
	sim_prune(call.sim);
	util->gpu = sim_card_util(call.sim, call.index);
	util->memory = call.card->mem_util;
	return NV_SUCCESS;
}

int nvmlDeviceGetMemoryAffinity(struct nv_device *device, unsigned n_words,
	unsigned long *nodes, unsigned scope)
{
	NV_ENTER(device);
	if (!nodes || n_words == 0 || scope > 1)
		return NV_INVALID_ARGUMENT;
	memset(nodes, 0, n_words * sizeof(*nodes));
	nodes[0] = 1UL << call.card->numa;
	return NV_SUCCESS;
}

/* Every card reaches every other one; the links are dealt out in turn. */
static int nvlink_peer(const struct nv_call *c, unsigned link)
{
	unsigned others = c->sim->shm->n_cards - 1;

	if (link >= NVLINKS_USED || others == 0)
		return -1;
	return (c->index + 1 + link % others) % c->sim->shm->n_cards;
}

int nvmlDeviceGetNvLinkState(struct nv_device *device, unsigned link, int *active)
{
	NV_ENTER(device);
	if (!active || link >= NV_NVLINKS)
		return NV_INVALID_ARGUMENT;
	*active = nvlink_peer(&call, link) >= 0;
	return NV_SUCCESS;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nv_device *device, unsigned link,
	struct nv_pci_info *pci)
{
	NV_ENTER(device);
	if (!pci || nvlink_peer(&call, link) < 0)
		return NV_INVALID_ARGUMENT;
	pci_v3(&call.sim->shm->cards[nvlink_peer(&call, link)], pci);
	return NV_SUCCESS;
}

int nvmlDeviceGetNvLinkRemotePciInfo(struct nv_device *device, unsigned link,
	struct nv_pci_info_v2 *pci)
{
	NV_ENTER(device);
	if (!pci || nvlink_peer(&call, link) < 0)
		return NV_INVALID_ARGUMENT;
	pci_v2(&call.sim->shm->cards[nvlink_peer(&call, link)], pci);
	return NV_SUCCESS;
}
