/* SPDX-License-Identifier: MIT
 * nvml.c - the driver's library: finding it, its calls in the newest version it has */
#include "nvml.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "nvabi/nvml.h"

#define LIBRARY "libnvidia-ml.so.1"
#define MIB     (UINT64_C(1) << 20)

#define CALL(name) __typeof__(name) *name

struct nvml {
	void *library; /* dlopen handle */
	unsigned n_cards;
	struct nv_event_set *events; /* NULL: no XIDs to be had */
	bool registered[GPU_CARDS_MAX];
	struct nv_device *handles[GPU_CARDS_MAX]; /* last seen; an XID may name a lost card */
	unsigned long long seen_us[GPU_CARDS_MAX]; /* newest sample of per-process utilisation */
	const char *simulated;                     /* who simulates the driver, NULL = a real one */
	CALL(nvmlInit_v2);
	CALL(nvmlShutdown);
	CALL(nvmlErrorString);
	CALL(nvmlSystemGetDriverVersion);
	CALL(nvmlSystemGetCudaDriverVersion_v2);
	CALL(nvmlDeviceGetCount_v2);
	CALL(nvmlDeviceGetHandleByIndex_v2);
	CALL(nvmlDeviceGetUUID);
	CALL(nvmlDeviceGetName);
	CALL(nvmlDeviceGetPciInfo_v3);
	CALL(nvmlDeviceGetMemoryInfo);
	CALL(nvmlDeviceGetMemoryInfo_v2);
	CALL(nvmlDeviceGetUtilizationRates);
	CALL(nvmlDeviceGetTemperature);
	CALL(nvmlDeviceGetComputeRunningProcesses_v3);
	CALL(nvmlDeviceGetGraphicsRunningProcesses_v3);
	CALL(nvmlDeviceGetComputeRunningProcesses);
	CALL(nvmlDeviceGetGraphicsRunningProcesses);
	CALL(nvmlDeviceGetProcessUtilization);
	CALL(nvmlEventSetCreate);
	CALL(nvmlEventSetFree);
	CALL(nvmlEventSetWait_v2);
	CALL(nvmlDeviceRegisterEvents);
};

/* Where each call is kept, and its names from the newest to the oldest of the same layout. */
static const struct {
	size_t at;
	bool needed;
	const char *names[3];
} calls[] = {
#define AT(name) offsetof(struct nvml, name)
	{AT(nvmlInit_v2), true, {"nvmlInit_v2", "nvmlInit"}},
	{AT(nvmlShutdown), true, {"nvmlShutdown"}},
	{AT(nvmlErrorString), true, {"nvmlErrorString"}},
	{AT(nvmlSystemGetDriverVersion), true, {"nvmlSystemGetDriverVersion"}},
	{AT(nvmlSystemGetCudaDriverVersion_v2), false,
		{"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}},
	{AT(nvmlDeviceGetCount_v2), true, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}},
	{AT(nvmlDeviceGetHandleByIndex_v2), true,
		{"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}},
	{AT(nvmlDeviceGetUUID), true, {"nvmlDeviceGetUUID"}},
	{AT(nvmlDeviceGetName), true, {"nvmlDeviceGetName"}},
	{AT(nvmlDeviceGetPciInfo_v3), false, {"nvmlDeviceGetPciInfo_v3"}},
	{AT(nvmlDeviceGetMemoryInfo), true, {"nvmlDeviceGetMemoryInfo"}},
	{AT(nvmlDeviceGetMemoryInfo_v2), false, {"nvmlDeviceGetMemoryInfo_v2"}},
	{AT(nvmlDeviceGetUtilizationRates), false, {"nvmlDeviceGetUtilizationRates"}},
	{AT(nvmlDeviceGetTemperature), false, {"nvmlDeviceGetTemperature"}},
	{AT(nvmlDeviceGetComputeRunningProcesses_v3), false,
		{"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}},
	{AT(nvmlDeviceGetGraphicsRunningProcesses_v3), false,
		{"nvmlDeviceGetGraphicsRunningProcesses_v3",
			"nvmlDeviceGetGraphicsRunningProcesses_v2"}},
	{AT(nvmlDeviceGetComputeRunningProcesses), false, {"nvmlDeviceGetComputeRunningProcesses"}},
	{AT(nvmlDeviceGetGraphicsRunningProcesses), false,
		{"nvmlDeviceGetGraphicsRunningProcesses"}},
	{AT(nvmlDeviceGetProcessUtilization), false, {"nvmlDeviceGetProcessUtilization"}},
	{AT(nvmlEventSetCreate), false, {"nvmlEventSetCreate"}},
	{AT(nvmlEventSetFree), false, {"nvmlEventSetFree"}},
	{AT(nvmlEventSetWait_v2), false, {"nvmlEventSetWait_v2"}},
	{AT(nvmlDeviceRegisterEvents), false, {"nvmlDeviceRegisterEvents"}},
};

static int find_calls(struct nvml *n, struct gq_err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		void *fn = NULL;

		for (size_t k = 0; !fn && k < ARRAY_LEN(calls[i].names) && calls[i].names[k]; k++)
			fn = dlsym(n->library, calls[i].names[k]);
		if (!fn && calls[i].needed)
			return gq_err_set(err, -ENOENT, "NVIDIA driver: %s lacks %s; it needs driver 450 "
							"or newer", LIBRARY, calls[i].names[0]);
		memcpy((char *)n + calls[i].at, &fn, sizeof(fn));
	}
	return 0;
}

static int no_library(const char *library, struct gq_err *err)
{
	if (access("/proc/driver/nvidia/version", F_OK) == 0)
		return gq_err_set(err, -ENOENT, "NVIDIA driver: the kernel module is loaded but %s "
						"cannot be; install its library package "
						"(libnvidia-ml1)", library);
	return gq_err_set(err, -ENOENT, "no NVIDIA driver: %s not found; install the driver, or try "
					"without a card: gq-simgpu create, and gqd with "
					"LD_LIBRARY_PATH=" GQ_LIBDIR "/simgpu", library);
}

static int init(struct nvml *n, struct gq_err *err)
{
	int r = n->nvmlInit_v2();

	if (r == NV_SUCCESS)
		return 0;
	if (r == NV_DRIVER_NOT_LOADED && n->simulated)
		return gq_err_set(err, -ENODEV, "no NVIDIA driver: there is no simulated machine; "
						"gq-simgpu create");
	if (r == NV_DRIVER_NOT_LOADED)
		return gq_err_set(err, -ENODEV, "no NVIDIA driver: it is not loaded; modprobe nvidia, "
						"and look into dmesg");
	if (r == NV_LIB_RM_VERSION_MISMATCH)
		return gq_err_set(err, -ENODEV, "NVIDIA driver: the kernel module and the library have "
						"different versions; reload the module or reboot");
	return gq_err_set(err, -ENODEV, "NVIDIA driver: nvmlInit: %s (%d)", n->nvmlErrorString(r), r);
}

int nvml_open(const char *library, struct nvml **ret, struct gq_err *err)
{
	struct nvml *n = xnew(struct nvml);
	unsigned count = 0;
	int r = 0;

	if (!library)
		library = LIBRARY;
	n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		r = no_library(library, err);
	if (r == 0)
		r = find_calls(n, err);
	if (r == 0) {
		n->simulated = dlsym(n->library, "gq_simgpu_version");
		r = init(n, err);
	}
	if (r < 0) {
		free(n); /* the library stays loaded: some of its threads may run already */
		return r;
	}
	if (n->nvmlDeviceGetCount_v2(&count) == NV_SUCCESS)
		n->n_cards = count < GPU_CARDS_MAX ? count : GPU_CARDS_MAX;
	if (!n->nvmlEventSetCreate || !n->nvmlEventSetWait_v2 || !n->nvmlDeviceRegisterEvents ||
		n->nvmlEventSetCreate(&n->events) != NV_SUCCESS)
		n->events = NULL;
	*ret = n;
	return 0;
}

struct nvml *nvml_close(struct nvml *n)
{
	if (!n)
		return NULL;
	if (n->events && n->nvmlEventSetFree)
		n->nvmlEventSetFree(n->events);
	n->nvmlShutdown();
	free(n);
	return NULL;
}

unsigned nvml_count(const struct nvml *n)
{
	return n->n_cards;
}

static struct gpu_record record(enum gpu_record_type type, unsigned card)
{
	return (struct gpu_record){.magic = GPU_RECORD_MAGIC, .version = GPU_RECORD_VERSION,
		.type = type, .card = card};
}

void nvml_hello(struct nvml *n, struct gpu_record *ret)
{
	*ret = record(GPU_HELLO, 0);
	n->nvmlSystemGetDriverVersion(ret->hello.driver, sizeof(ret->hello.driver));
	if (n->nvmlSystemGetCudaDriverVersion_v2)
		n->nvmlSystemGetCudaDriverVersion_v2(&ret->hello.cuda);
	ret->hello.n_cards = n->n_cards;
	ret->hello.simulated = n->simulated != NULL;
}

static int memory(struct nvml *n, struct nv_device *d, struct gpu_record *ret)
{
	struct nv_memory_v2 v2 = {.version = NV_MEMORY_V2};
	struct nv_memory v1 = {0};
	int r = NV_FUNCTION_NOT_FOUND;

	if (n->nvmlDeviceGetMemoryInfo_v2) /* it alone tells apart what the driver keeps for itself */
		r = n->nvmlDeviceGetMemoryInfo_v2(d, &v2);
	if (r == NV_SUCCESS) {
		v1 = (struct nv_memory){v2.total, v2.free, v2.used};
	} else {
		r = n->nvmlDeviceGetMemoryInfo(d, &v1);
		if (r != NV_SUCCESS)
			return r;
	}
	ret->gpu.total_mib = v1.total / MIB;
	ret->gpu.free_mib = v1.free / MIB;
	ret->gpu.used_mib = (v1.used + MIB - 1) / MIB;
	return NV_SUCCESS;
}

static void register_events(struct nvml *n, unsigned i, struct nv_device *d)
{
	if (n->events && !n->registered[i])
		n->registered[i] =
			n->nvmlDeviceRegisterEvents(d, NV_EVENT_XID, n->events) == NV_SUCCESS;
}

static int read_card(struct nvml *n, unsigned i, struct gpu_record *ret)
{
	struct nv_device *d = NULL;
	struct nv_utilization util;
	struct nv_pci_info pci;
	unsigned celsius;
	int r = n->nvmlDeviceGetHandleByIndex_v2(i, &d);

	if (r == NV_SUCCESS)
		r = n->nvmlDeviceGetUUID(d, ret->gpu.uuid, sizeof(ret->gpu.uuid));
	if (r == NV_SUCCESS)
		r = n->nvmlDeviceGetName(d, ret->gpu.model, sizeof(ret->gpu.model));
	if (r == NV_SUCCESS)
		r = memory(n, d, ret);
	if (r != NV_SUCCESS)
		return r;
	ret->gpu.present = 1;
	n->handles[i] = d;
	register_events(n, i, d);
	if (n->nvmlDeviceGetPciInfo_v3 && n->nvmlDeviceGetPciInfo_v3(d, &pci) == NV_SUCCESS)
		str_copy(ret->gpu.bus_id, sizeof(ret->gpu.bus_id), pci.bus_id);
	if (n->nvmlDeviceGetUtilizationRates &&
		n->nvmlDeviceGetUtilizationRates(d, &util) == NV_SUCCESS)
		ret->gpu.util = util.gpu;
	if (n->nvmlDeviceGetTemperature && n->nvmlDeviceGetTemperature(d, 0, &celsius) == NV_SUCCESS)
		ret->gpu.temperature = celsius;
	return NV_SUCCESS;
}

int nvml_card(struct nvml *n, unsigned i, struct gpu_record *ret, struct gq_err *err)
{
	int r;

	*ret = record(GPU_CARD, i);
	ret->gpu.util = GPU_UTIL_UNKNOWN;
	r = read_card(n, i, ret);
	if (r == NV_UNINITIALIZED || r == NV_DRIVER_NOT_LOADED)
		return gq_err_set(err, -ESHUTDOWN, "NVIDIA driver: %s", n->nvmlErrorString(r));
	if (r != NV_SUCCESS)
		return gq_err_set(err, -ENODEV, "card %u: %s", i, n->nvmlErrorString(r));
	return 0;
}

/* Both lists have one shape in the newer calls and another in the oldest. */
static unsigned list(int (*call)(struct nv_device *, unsigned *, struct nv_process *),
	int (*old)(struct nv_device *, unsigned *, struct nv_process_v1 *), struct nv_device *d,
	struct nv_process *ret)
{
	struct nv_process_v1 v1[GPU_PROCS_MAX];
	unsigned count = GPU_PROCS_MAX;

	if (call)
		return call(d, &count, ret) == NV_SUCCESS ? count : 0;
	if (!old || old(d, &count, v1) != NV_SUCCESS)
		return 0;
	for (unsigned i = 0; i < count; i++)
		ret[i] = (struct nv_process){.pid = v1[i].pid, .used = v1[i].used};
	return count;
}

static void process_name(int pid, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (file_read(path, 64, &text, NULL, NULL) < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	str_copy(buf, size, text);
}

/* A process may both compute and draw: one record, the larger figure. */
static unsigned add_procs(const struct nv_process *from, unsigned n_from, unsigned card,
	struct gpu_record *ret, unsigned n, unsigned max)
{
	for (unsigned i = 0; i < n_from; i++) {
		int64_t mib = from[i].used == NV_NO_MEMORY ? 0 : (from[i].used + MIB - 1) / MIB;
		unsigned k = 0;

		while (k < n && ret[k].proc.pid != (int32_t)from[i].pid)
			k++;
		if (k == max)
			break;
		if (k == n) {
			ret[n] = record(GPU_PROC, card);
			ret[n].proc.pid = from[i].pid;
			ret[n].proc.util = GPU_UTIL_UNKNOWN;
			process_name(from[i].pid, ret[n].proc.name, sizeof(ret[n].proc.name));
			n++;
		}
		if (mib > ret[k].proc.mib)
			ret[k].proc.mib = mib;
	}
	return n;
}

static void add_utils(struct nvml *n, unsigned card, struct nv_device *d, struct gpu_record *procs,
	unsigned n_procs)
{
	struct nv_process_util util[GPU_PROCS_MAX];
	unsigned count = GPU_PROCS_MAX;
	int r = n->nvmlDeviceGetProcessUtilization(d, util, &count, n->seen_us[card]);

	if (r != NV_SUCCESS && r != NV_NOT_FOUND)
		return;
	if (r == NV_NOT_FOUND) /* nobody has computed since the last sample */
		count = 0;
	for (unsigned k = 0; k < n_procs; k++)
		procs[k].proc.util = 0;
	for (unsigned i = 0; i < count; i++) {
		if (util[i].time_us > n->seen_us[card])
			n->seen_us[card] = util[i].time_us;
		for (unsigned k = 0; k < n_procs; k++) {
			if (procs[k].proc.pid == (int32_t)util[i].pid &&
				procs[k].proc.util < (int32_t)util[i].sm && util[i].sm <= 100)
				procs[k].proc.util = util[i].sm;
		}
	}
}

unsigned nvml_procs(struct nvml *n, unsigned i, struct gpu_record *ret, unsigned max)
{
	struct nv_process procs[GPU_PROCS_MAX];
	struct nv_device *d = NULL;
	unsigned count, n_ret;

	if (n->nvmlDeviceGetHandleByIndex_v2(i, &d) != NV_SUCCESS)
		return 0;
	count = list(n->nvmlDeviceGetComputeRunningProcesses_v3,
		n->nvmlDeviceGetComputeRunningProcesses, d, procs);
	n_ret = add_procs(procs, count, i, ret, 0, max);
	count = list(n->nvmlDeviceGetGraphicsRunningProcesses_v3,
		n->nvmlDeviceGetGraphicsRunningProcesses, d, procs);
	n_ret = add_procs(procs, count, i, ret, n_ret, max);
	if (n_ret > 0 && n->nvmlDeviceGetProcessUtilization)
		add_utils(n, i, d, ret, n_ret);
	return n_ret;
}

bool nvml_xid(struct nvml *n, struct gpu_record *ret)
{
	struct nv_event e;

	while (n->events && n->nvmlEventSetWait_v2(n->events, &e, 0) == NV_SUCCESS) {
		if (e.type != NV_EVENT_XID)
			continue;
		for (unsigned i = 0; i < n->n_cards; i++) {
			if (n->handles[i] != e.device)
				continue;
			*ret = record(GPU_XID, i);
			ret->xid.number = e.data;
			return true;
		}
	}
	return false;
}
