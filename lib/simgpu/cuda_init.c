/* SPDX-License-Identifier: MIT
 * cuda_init.c - simulated CUDA: starting, the gate every call passes, errors, finding calls */
#include "cuda_sim.h"

#include <stdlib.h>
#include <string.h>

struct cuda cuda = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER,
	.sim = SIM_INIT, .entry = -1};
_Thread_local struct cu_context *cuda_current;

/* A forked child has the memory but not the driver: it must start over, as with the real one. */
static void forked(void)
{
	int fd = cuda.sim.fd;

	cuda = (struct cuda){.mutex = PTHREAD_MUTEX_INITIALIZER,
		.turn = PTHREAD_COND_INITIALIZER, .sim = {cuda.sim.shm, fd}, .entry = -1};
	cuda_current = NULL;
}

static int initialise(void)
{
	if (sim_open(&cuda.sim, sim_path()) < 0)
		return CU_ERROR_NO_DEVICE;
	cuda.n_devices = cuda_visible_devices(&cuda.sim, cuda.devices);
	if (cuda.n_devices == 0)
		return CU_ERROR_NO_DEVICE;
	if (sim_lock(&cuda.sim) < 0)
		return CU_ERROR_OPERATING_SYSTEM;
	cuda.entry = sim_proc_add(&cuda.sim, NULL);
	sim_unlock(&cuda.sim);
	if (cuda.entry < 0)
		return CU_ERROR_OPERATING_SYSTEM;
	cuda.initialised = true;
	return cuda_helper_start();
}

int cuInit(unsigned flags)
{
	int r = CU_SUCCESS;

	if (flags != 0)
		return CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&cuda.mutex);
	if (!cuda.initialised)
		r = initialise();
	if (r == CU_SUCCESS)
		r = sim_fault(&cuda.sim, __func__);
	pthread_mutex_unlock(&cuda.mutex);
	return r;
}

int cuda_enter(const char *name)
{
	int r;

	pthread_mutex_lock(&cuda.mutex);
	while (cuda.initialised && cuda.state != CU_PROCESS_RUNNING)
		pthread_cond_wait(&cuda.turn, &cuda.mutex);
	r = cuda.initialised ? CU_SUCCESS : CU_ERROR_NOT_INITIALIZED;
	if (r == CU_SUCCESS)
		cuda.n_inside++;
	pthread_mutex_unlock(&cuda.mutex);
	if (r != CU_SUCCESS)
		return r;
	r = sim_fault(&cuda.sim, name);
	if (r != CU_SUCCESS)
		cuda_leave(&(int){CU_SUCCESS});
	return r;
}

int cuda_enter_context(const char *name, struct cu_context **ret)
{
	int r = cuda_enter(name);

	if (r != CU_SUCCESS)
		return r;
	if (!cuda_current) {
		cuda_leave(&r);
		return CU_ERROR_INVALID_CONTEXT;
	}
	*ret = cuda_current;
	return CU_SUCCESS;
}

void cuda_leave(const int *entered)
{
	if (*entered != CU_SUCCESS)
		return;
	pthread_mutex_lock(&cuda.mutex);
	cuda.n_inside--;
	pthread_cond_broadcast(&cuda.turn);
	pthread_mutex_unlock(&cuda.mutex);
}

__attribute__((constructor)) static void at_load(void)
{
	pthread_atfork(NULL, NULL, forked);
}

int cuDriverGetVersion(int *version)
{
	struct sim s = SIM_INIT;

	if (!version)
		return CU_ERROR_INVALID_VALUE;
	if (cuda.sim.shm) { /* works before cuInit, as the real one */
		*version = cuda.sim.shm->cuda_version;
		return CU_SUCCESS;
	}
	if (sim_open(&s, sim_path()) < 0) {
		*version = 0;
		return CU_SUCCESS;
	}
	*version = s.shm->cuda_version;
	cuda.sim = s;
	return CU_SUCCESS;
}

int cuGetErrorName(int result, const char **name)
{
	if (!name)
		return CU_ERROR_INVALID_VALUE;
	switch (result) {
#define CUDA_ERROR(id, value, text)                                                          \
	case value: *name = "CUDA_" #id; return CU_SUCCESS;
#include "nvabi/cuda_error.def"
#undef CUDA_ERROR
	default: *name = NULL; return CU_ERROR_INVALID_VALUE;
	}
}

int cuGetErrorString(int result, const char **text)
{
	if (!text)
		return CU_ERROR_INVALID_VALUE;
	switch (result) {
#define CUDA_ERROR(id, value, words)                                                         \
	case value: *text = words; return CU_SUCCESS;
#include "nvabi/cuda_error.def"
#undef CUDA_ERROR
	default: *text = NULL; return CU_ERROR_INVALID_VALUE;
	}
}

/* Calls by the name that programs ask for (no version behind), and since which CUDA. */
static const struct {
	const char *name;
	void *fn;
	int since;
} calls[] = {
	{"cuInit", cuInit, 2000},
	{"cuDriverGetVersion", cuDriverGetVersion, 2020},
	{"cuGetErrorName", cuGetErrorName, 6000},
	{"cuGetErrorString", cuGetErrorString, 6000},
	{"cuGetProcAddress", cuGetProcAddress_v2, 12000},
	{"cuDeviceGetCount", cuDeviceGetCount, 2000},
	{"cuDeviceGet", cuDeviceGet, 2000},
	{"cuDeviceGetName", cuDeviceGetName, 2000},
	{"cuDeviceGetUuid", cuDeviceGetUuid_v2, 11040},
	{"cuDeviceTotalMem", cuDeviceTotalMem_v2, 3020},
	{"cuDeviceGetAttribute", cuDeviceGetAttribute, 2000},
	{"cuDeviceGetPCIBusId", cuDeviceGetPCIBusId, 4010},
	{"cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain, 7000},
	{"cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2, 11000},
	{"cuCtxCreate", cuCtxCreate_v2, 3020},
	{"cuCtxDestroy", cuCtxDestroy_v2, 4000},
	{"cuCtxSetCurrent", cuCtxSetCurrent, 4000},
	{"cuCtxGetCurrent", cuCtxGetCurrent, 4000},
	{"cuCtxGetDevice", cuCtxGetDevice, 2000},
	{"cuCtxSynchronize", cuCtxSynchronize, 2000},
	{"cuMemAlloc", cuMemAlloc_v2, 3020},
	{"cuMemFree", cuMemFree_v2, 3020},
	{"cuMemGetInfo", cuMemGetInfo_v2, 3020},
	{"cuMemcpyHtoD", cuMemcpyHtoD_v2, 3020},
	{"cuMemcpyDtoH", cuMemcpyDtoH_v2, 3020},
	{"cuMemcpyDtoD", cuMemcpyDtoD_v2, 3020},
	{"cuMemsetD8", cuMemsetD8_v2, 3020},
	{"cuMemsetD32", cuMemsetD32_v2, 3020},
	{"cuMemAllocHost", cuMemAllocHost_v2, 3020},
	{"cuMemFreeHost", cuMemFreeHost, 2000},
	{"cuCheckpointProcessGetRestoreThreadId", cuCheckpointProcessGetRestoreThreadId, 12080},
	{"cuCheckpointProcessGetState", cuCheckpointProcessGetState, 12080},
	{"cuCheckpointProcessLock", cuCheckpointProcessLock, 12080},
	{"cuCheckpointProcessCheckpoint", cuCheckpointProcessCheckpoint, 12080},
	{"cuCheckpointProcessRestore", cuCheckpointProcessRestore, 12080},
	{"cuCheckpointProcessUnlock", cuCheckpointProcessUnlock, 12080},
};

int cuGetProcAddress_v2(const char *symbol, void **fn, int cuda_version, uint64_t flags,
	int *status)
{
	int found = CU_PROC_NOT_FOUND;

	(void)flags;
	if (!symbol || !fn)
		return CU_ERROR_INVALID_VALUE;
	*fn = NULL;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		if (strcmp(calls[i].name, symbol) != 0)
			continue;
		found = calls[i].since <= cuda_version ? CU_PROC_FOUND : CU_PROC_TOO_OLD;
		if (found == CU_PROC_FOUND)
			*fn = calls[i].fn;
	}
	if (status)
		*status = found;
	return found == CU_PROC_FOUND || status ? CU_SUCCESS : CU_ERROR_NOT_FOUND;
}

int cuGetProcAddress(const char *symbol, void **fn, int cuda_version, uint64_t flags)
{
	return cuGetProcAddress_v2(symbol, fn, cuda_version, flags, NULL);
}
