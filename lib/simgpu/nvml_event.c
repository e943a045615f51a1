/* SPDX-License-Identifier: MIT
 * nvml_event.c - simulated NVML: event sets; XIDs come from the machine's ring of events */
#include "nvml_sim.h"

#include <stdlib.h>

struct nv_event_set {
	uint64_t seen; /* events before it are done with */
	bool wanted[SIM_CARDS_MAX];
};

int nvmlEventSetCreate(struct nv_event_set **set)
{
	NV_ENTER_SYSTEM();
	if (!set)
		return NV_INVALID_ARGUMENT;
	*set = calloc(1, sizeof(**set));
	if (!*set)
		return NV_MEMORY;
	(*set)->seen = call.sim->shm->n_events;
	return NV_SUCCESS;
}

int nvmlEventSetFree(struct nv_event_set *set)
{
	free(set);
	return NV_SUCCESS;
}

int nvmlDeviceGetSupportedEventTypes(struct nv_device *device, unsigned long long *types)
{
	NV_ENTER(device);
	if (!types)
		return NV_INVALID_ARGUMENT;
	*types = NV_EVENT_XID;
	return NV_SUCCESS;
}

int nvmlDeviceRegisterEvents(struct nv_device *device, unsigned long long types,
	struct nv_event_set *set)
{
	NV_ENTER(device);
	if (!set)
		return NV_INVALID_ARGUMENT;
	if (types & ~NV_EVENT_XID)
		return NV_NOT_SUPPORTED;
	set->wanted[call.index] = types & NV_EVENT_XID;
	return NV_SUCCESS;
}

static bool next_event(struct nv_call *c, struct nv_event_set *set, struct nv_event *ret)
{
	struct sim_shm *shm = c->sim->shm;

	if (shm->n_events > set->seen + SIM_EVENTS)
		set->seen = shm->n_events - SIM_EVENTS;
	while (set->seen < shm->n_events) {
		const struct sim_event *e = &shm->events[set->seen++ % SIM_EVENTS];

		if (e->card < SIM_CARDS_MAX && set->wanted[e->card]) {
			*ret = (struct nv_event){nv_handle(e->card), NV_EVENT_XID, e->xid,
				NV_NO_INSTANCE, NV_NO_INSTANCE};
			return true;
		}
	}
	return false;
}

static int try_event(struct nv_event_set *set, struct nv_event *ret, uint32_t *ret_bell)
{
	NV_ENTER_SYSTEM();
	*ret_bell = __atomic_load_n(&call.sim->shm->event_bell, __ATOMIC_ACQUIRE);
	return next_event(&call, set, ret) ? NV_SUCCESS : NV_TIMEOUT;
}

int nvmlEventSetWait_v2(struct nv_event_set *set, struct nv_event *event, unsigned timeout_ms)
{
	int64_t until = sim_monotonic() + (int64_t)timeout_ms * 1000000;
	uint32_t bell = 0;
	int r;

	if (!set || !event)
		return NV_INVALID_ARGUMENT;
	for (;;) {
		int64_t left_ms;

		r = try_event(set, event, &bell);
		left_ms = (until - sim_monotonic()) / 1000000;
		if (r != NV_TIMEOUT || left_ms <= 0)
			return r;
		sim_wait(&nv_sim()->shm->event_bell, bell, left_ms < 1000 ? left_ms : 1000);
	}
}

int nvmlEventSetWait(struct nv_event_set *set, struct nv_event_v1 *event, unsigned timeout_ms)
{
	struct nv_event e;
	int r;

	if (!event)
		return NV_INVALID_ARGUMENT;
	r = nvmlEventSetWait_v2(set, &e, timeout_ms);
	if (r == NV_SUCCESS)
		*event = (struct nv_event_v1){e.device, e.type, e.data};
	return r;
}
