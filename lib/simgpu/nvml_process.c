/* SPDX-License-Identifier: MIT
 * nvml_process.c - simulated NVML: who is on a card
 * Pids are those of the reader's PID namespace; processes that it cannot see are left out. */
#include "nvml_sim.h"

#include <string.h>

static unsigned list_processes(struct nv_call *c, struct nv_process *list)
{
	unsigned n = 0;

	sim_prune(c->sim);
	for (int i = 0; i < SIM_PROCS_MAX; i++) {
		const struct sim_proc *p = &c->sim->shm->procs[i];
		pid_t pid;

		if (!sim_proc_on_card(p, c->index))
			continue;
		pid = sim_proc_pid(c->sim, i);
		if (pid > 0)
			list[n++] = (struct nv_process){pid, p->bytes[c->index], NV_NO_INSTANCE,
				NV_NO_INSTANCE};
	}
	return n;
}

/* All list calls: *count is the room, and then how many there are. */
static int fits(unsigned *count, unsigned n, const void *list)
{
	unsigned room = *count;

	*count = n;
	if (n > 0 && (!list || room < n))
		return NV_INSUFFICIENT_SIZE;
	return NV_SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct nv_device *device, unsigned *count,
	struct nv_process *list)
{
	struct nv_process all[SIM_PROCS_MAX];
	int r;

	NV_ENTER(device);
	if (!count)
		return NV_INVALID_ARGUMENT;
	r = fits(count, list_processes(&call, all), list);
	if (r == NV_SUCCESS && *count > 0)
		memcpy(list, all, *count * sizeof(*list));
	return r;
}

int nvmlDeviceGetComputeRunningProcesses_v2(struct nv_device *device, unsigned *count,
	struct nv_process *list)
{
	return nvmlDeviceGetComputeRunningProcesses_v3(device, count, list);
}

int nvmlDeviceGetComputeRunningProcesses(struct nv_device *device, unsigned *count,
	struct nv_process_v1 *list)
{
	struct nv_process all[SIM_PROCS_MAX];
	int r;

	NV_ENTER(device);
	if (!count)
		return NV_INVALID_ARGUMENT;
	r = fits(count, list_processes(&call, all), list);
	for (unsigned i = 0; r == NV_SUCCESS && i < *count; i++)
		list[i] = (struct nv_process_v1){all[i].pid, all[i].used};
	return r;
}

/* Nobody draws on these cards. */
int nvmlDeviceGetGraphicsRunningProcesses_v3(struct nv_device *device, unsigned *count,
	struct nv_process *list)
{
	(void)list;
	NV_ENTER(device);
	if (!count)
		return NV_INVALID_ARGUMENT;
	*count = 0;
	return NV_SUCCESS;
}

int nvmlDeviceGetGraphicsRunningProcesses_v2(struct nv_device *device, unsigned *count,
	struct nv_process *list)
{
	return nvmlDeviceGetGraphicsRunningProcesses_v3(device, count, list);
}

int nvmlDeviceGetGraphicsRunningProcesses(struct nv_device *device, unsigned *count,
	struct nv_process_v1 *list)
{
	(void)list;
	return nvmlDeviceGetGraphicsRunningProcesses_v3(device, count, NULL);
}

static unsigned list_utils(struct nv_call *c, struct nv_process_util *list)
{
	uint64_t now_us = sim_monotonic() / 1000;
	unsigned n = 0;

	sim_prune(c->sim);
	for (int i = 0; i < SIM_PROCS_MAX; i++) {
		const struct sim_proc *p = &c->sim->shm->procs[i];
		pid_t pid;

		if (!sim_proc_on_card(p, c->index))
			continue;
		pid = sim_proc_pid(c->sim, i);
		if (pid > 0)
			list[n++] = (struct nv_process_util){.pid = pid, .time_us = now_us,
				.sm = sim_proc_util(p, c->index)};
	}
	return n;
}

int nvmlDeviceGetProcessUtilization(struct nv_device *device, struct nv_process_util *list,
	unsigned *count, unsigned long long last_seen_us)
{
	struct nv_process_util all[SIM_PROCS_MAX];
	unsigned n;
	int r;

	(void)last_seen_us; /* samples here are always new */
	NV_ENTER(device);
	if (!count)
		return NV_INVALID_ARGUMENT;
	n = list_utils(&call, all);
	if (n == 0)
		return NV_NOT_FOUND;
	r = fits(count, n, list);
	if (r == NV_SUCCESS)
		memcpy(list, all, n * sizeof(*list));
	return r;
}
