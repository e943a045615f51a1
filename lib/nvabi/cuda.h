/* SPDX-License-Identifier: MIT
 * cuda.h - the part of the CUDA driver's binary interface that gq uses, in our own words
 * Written from the public reference of the driver API; sizes are asserted below.
 * Promises: calls, numbers and layouts match libcuda.so.1 of CUDA 12.8 and later.
 * Leaves to others: loading it (checkpoint), simulating it (lib/simgpu). */
#ifndef GQ_NVABI_CUDA_H
#define GQ_NVABI_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum cu_result {
#define CUDA_ERROR(name, value, text) CU_##name = value,
#include "cuda_error.def"
#undef CUDA_ERROR
};

enum cu_process_state { CU_PROCESS_RUNNING, CU_PROCESS_LOCKED, CU_PROCESS_CHECKPOINTED,
	CU_PROCESS_FAILED };

enum cu_attribute { /* the ones that programs ask for first */
	CU_ATTR_MAX_THREADS_PER_BLOCK = 1,
	CU_ATTR_WARP_SIZE = 10,
	CU_ATTR_MULTIPROCESSORS = 16,
	CU_ATTR_PCI_BUS_ID = 33,
	CU_ATTR_PCI_DEVICE_ID = 34,
	CU_ATTR_UNIFIED_ADDRESSING = 41,
	CU_ATTR_PCI_DOMAIN_ID = 50,
	CU_ATTR_MAJOR = 75,
	CU_ATTR_MINOR = 76,
};

enum { CU_PROC_FOUND, CU_PROC_NOT_FOUND, CU_PROC_TOO_OLD };

typedef int cu_device;
typedef uint64_t cu_ptr;
struct cu_context; /* a handle */

struct cu_uuid {
	unsigned char bytes[16];
};

struct cu_lock_args {
	unsigned timeout_ms; /* 0 = no timeout */
	unsigned reserved0;
	uint64_t reserved1[7];
};

struct cu_checkpoint_args {
	uint64_t reserved[8];
};

struct cu_gpu_pair {
	struct cu_uuid old_uuid, new_uuid;
};

struct cu_restore_args {
	struct cu_gpu_pair *pairs; /* all checkpointed GPUs, or NULL: back to the same ones */
	unsigned n_pairs;
	char reserved[52 - sizeof(struct cu_gpu_pair *)];
	uint64_t reserved1;
};

struct cu_unlock_args {
	uint64_t reserved[8];
};

_Static_assert(sizeof(struct cu_lock_args) == 64, "CUcheckpointLockArgs");
_Static_assert(sizeof(struct cu_checkpoint_args) == 64, "CUcheckpointCheckpointArgs");
_Static_assert(sizeof(struct cu_restore_args) == 64, "CUcheckpointRestoreArgs");
_Static_assert(sizeof(struct cu_unlock_args) == 64, "CUcheckpointUnlockArgs");

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int result, const char **name);
int cuGetErrorString(int result, const char **text);
int cuGetProcAddress(const char *symbol, void **fn, int cuda_version, uint64_t flags);
int cuGetProcAddress_v2(const char *symbol, void **fn, int cuda_version, uint64_t flags,
	int *status);

int cuDeviceGetCount(int *count);
int cuDeviceGet(cu_device *device, int ordinal);
int cuDeviceGetName(char *name, int length, cu_device device);
int cuDeviceGetUuid(struct cu_uuid *uuid, cu_device device);
int cuDeviceGetUuid_v2(struct cu_uuid *uuid, cu_device device);
int cuDeviceTotalMem_v2(size_t *bytes, cu_device device);
int cuDeviceGetAttribute(int *value, int attribute, cu_device device);
int cuDeviceGetPCIBusId(char *bus_id, int length, cu_device device);

int cuDevicePrimaryCtxRetain(struct cu_context **context, cu_device device);
int cuDevicePrimaryCtxRelease_v2(cu_device device);
int cuCtxCreate_v2(struct cu_context **context, unsigned flags, cu_device device);
int cuCtxDestroy_v2(struct cu_context *context);
int cuCtxSetCurrent(struct cu_context *context);
int cuCtxGetCurrent(struct cu_context **context);
int cuCtxGetDevice(cu_device *device);
int cuCtxSynchronize(void);

int cuMemAlloc_v2(cu_ptr *ptr, size_t bytes);
int cuMemFree_v2(cu_ptr ptr);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
int cuMemcpyHtoD_v2(cu_ptr to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, cu_ptr from, size_t bytes);
int cuMemcpyDtoD_v2(cu_ptr to, cu_ptr from, size_t bytes);
int cuMemsetD8_v2(cu_ptr to, unsigned char value, size_t n);
int cuMemsetD32_v2(cu_ptr to, unsigned value, size_t n);
int cuMemAllocHost_v2(void **ptr, size_t bytes);
int cuMemFreeHost(void *ptr);

int cuCheckpointProcessGetRestoreThreadId(int pid, int *tid);
int cuCheckpointProcessGetState(int pid, int *state);
int cuCheckpointProcessLock(int pid, struct cu_lock_args *args);
int cuCheckpointProcessCheckpoint(int pid, struct cu_checkpoint_args *args);
int cuCheckpointProcessRestore(int pid, struct cu_restore_args *args);
int cuCheckpointProcessUnlock(int pid, struct cu_unlock_args *args);

#endif
