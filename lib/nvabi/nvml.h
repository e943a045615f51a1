/* SPDX-License-Identifier: MIT
 * nvml.h - the part of NVML's binary interface that gq uses, in our own words
 * Written from the public function reference; sizes and offsets are asserted below, since a wrong
 * one would be found on a real card only.
 * Promises: calls, numbers and layouts match libnvidia-ml.so.1 of drivers 450 to 610.
 * Leaves to others: loading it (gqd/gpu/nvml.c), simulating it (lib/simgpu). */
#ifndef GQ_NVABI_NVML_H
#define GQ_NVABI_NVML_H

#include <stddef.h>
#include <stdint.h>

enum nv_return {
#define NVML_ERROR(name, value, text) NV_##name = value,
#include "nvml_error.def"
#undef NVML_ERROR
};

enum { NV_FEATURE_OFF, NV_FEATURE_ON };

#define NV_EVENT_XID   UINT64_C(8)    /* a critical XID; the data is its number */
#define NV_NO_MEMORY   UINT64_MAX     /* nv_process.used: not known */
#define NV_NO_INSTANCE UINT32_MAX     /* no MIG instance */
#define NV_NVLINKS     18             /* links of one card at most */
#define NV_MEMORY_V2   (sizeof(struct nv_memory_v2) | 2u << 24)

struct nv_device;    /* a handle; points at nothing that we may look at */
struct nv_event_set; /* likewise */

struct nv_pci_info {
	char bus_id_legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

struct nv_pci_info_v2 { /* of nvmlDeviceGetPciInfo and _v2 */
	char bus_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	unsigned reserved[4];
};

struct nv_memory {
	uint64_t total, free, used;
};

struct nv_memory_v2 {
	unsigned version; /* in: NV_MEMORY_V2 */
	uint64_t total, reserved, free, used;
};

struct nv_utilization {
	unsigned gpu, memory;
};

struct nv_process_v1 {
	unsigned pid;
	uint64_t used;
};

struct nv_process { /* of the _v2 and _v3 calls */
	unsigned pid;
	uint64_t used;
	unsigned gpu_instance, compute_instance;
};

struct nv_process_util {
	unsigned pid;
	uint64_t time_us;
	unsigned sm, mem, enc, dec;
};

struct nv_event_v1 {
	struct nv_device *device;
	uint64_t type, data;
};

struct nv_event {
	struct nv_device *device;
	uint64_t type, data;
	unsigned gpu_instance, compute_instance;
};

_Static_assert(sizeof(struct nv_pci_info) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nv_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nv_process_v1) == 16, "nvmlProcessInfo_v1_t");
_Static_assert(sizeof(struct nv_process) == 24, "nvmlProcessInfo_t");
_Static_assert(offsetof(struct nv_process, gpu_instance) == 16, "nvmlProcessInfo_t");
_Static_assert(sizeof(struct nv_process_util) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(offsetof(struct nv_process_util, sm) == 16, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct nv_event) == 32, "nvmlEventData_t");

int nvmlInit(void);
int nvmlInit_v2(void);
int nvmlInitWithFlags(unsigned flags);
int nvmlShutdown(void);
const char *nvmlErrorString(int result);

int nvmlSystemGetDriverVersion(char *version, unsigned length);
int nvmlSystemGetNVMLVersion(char *version, unsigned length);
int nvmlSystemGetCudaDriverVersion(int *version);
int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length);

int nvmlDeviceGetCount(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex(unsigned index, struct nv_device **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nv_device **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, struct nv_device **device);
int nvmlDeviceGetHandleByPciBusId(const char *bus_id, struct nv_device **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, struct nv_device **device);

int nvmlDeviceGetUUID(struct nv_device *device, char *uuid, unsigned length);
int nvmlDeviceGetName(struct nv_device *device, char *name, unsigned length);
int nvmlDeviceGetIndex(struct nv_device *device, unsigned *index);
int nvmlDeviceGetMinorNumber(struct nv_device *device, unsigned *minor);
int nvmlDeviceGetPciInfo(struct nv_device *device, struct nv_pci_info_v2 *pci);
int nvmlDeviceGetPciInfo_v2(struct nv_device *device, struct nv_pci_info_v2 *pci);
int nvmlDeviceGetPciInfo_v3(struct nv_device *device, struct nv_pci_info *pci);
int nvmlDeviceGetCudaComputeCapability(struct nv_device *device, int *major, int *minor);

int nvmlDeviceGetMemoryInfo(struct nv_device *device, struct nv_memory *memory);
int nvmlDeviceGetMemoryInfo_v2(struct nv_device *device, struct nv_memory_v2 *memory);
int nvmlDeviceGetUtilizationRates(struct nv_device *device, struct nv_utilization *util);
int nvmlDeviceGetTemperature(struct nv_device *device, int sensor, unsigned *celsius);
int nvmlDeviceGetPowerUsage(struct nv_device *device, unsigned *milliwatt);
int nvmlDeviceGetPersistenceMode(struct nv_device *device, int *mode);
int nvmlDeviceGetComputeMode(struct nv_device *device, int *mode);
int nvmlDeviceGetMigMode(struct nv_device *device, unsigned *now, unsigned *pending);
int nvmlDeviceGetMaxMigDeviceCount(struct nv_device *device, unsigned *count);

int nvmlDeviceGetNumaNodeId(struct nv_device *device, unsigned *node);
int nvmlDeviceGetMemoryAffinity(struct nv_device *device, unsigned n_words, unsigned long *nodes,
	unsigned scope);
int nvmlDeviceGetNvLinkState(struct nv_device *device, unsigned link, int *active);
int nvmlDeviceGetNvLinkRemotePciInfo(struct nv_device *device, unsigned link,
	struct nv_pci_info_v2 *pci);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nv_device *device, unsigned link,
	struct nv_pci_info *pci);

int nvmlDeviceGetComputeRunningProcesses(struct nv_device *device, unsigned *count,
	struct nv_process_v1 *list);
int nvmlDeviceGetComputeRunningProcesses_v2(struct nv_device *device, unsigned *count,
	struct nv_process *list);
int nvmlDeviceGetComputeRunningProcesses_v3(struct nv_device *device, unsigned *count,
	struct nv_process *list);
int nvmlDeviceGetGraphicsRunningProcesses(struct nv_device *device, unsigned *count,
	struct nv_process_v1 *list);
int nvmlDeviceGetGraphicsRunningProcesses_v2(struct nv_device *device, unsigned *count,
	struct nv_process *list);
int nvmlDeviceGetGraphicsRunningProcesses_v3(struct nv_device *device, unsigned *count,
	struct nv_process *list);
int nvmlDeviceGetProcessUtilization(struct nv_device *device, struct nv_process_util *list,
	unsigned *count, unsigned long long last_seen_us);

int nvmlEventSetCreate(struct nv_event_set **set);
int nvmlEventSetFree(struct nv_event_set *set);
int nvmlEventSetWait(struct nv_event_set *set, struct nv_event_v1 *event, unsigned timeout_ms);
int nvmlEventSetWait_v2(struct nv_event_set *set, struct nv_event *event, unsigned timeout_ms);
int nvmlDeviceRegisterEvents(struct nv_device *device, unsigned long long types,
	struct nv_event_set *set);
int nvmlDeviceGetSupportedEventTypes(struct nv_device *device, unsigned long long *types);

#endif
