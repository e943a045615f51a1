/* SPDX-License-Identifier: MIT
 * edge.c - from samples to edges: who loads the card, what counts at once, what must be seen twice */
#include "edge.h"

#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/mem.h"

static const struct {
	int number;
	enum xid_class class;
	const char *text;
} xids[] = {
#define XID(number, class, text) {number, XID_##class, text},
#include "xid.def"
#undef XID
};

enum xid_class xid_class(int number)
{
	for (size_t i = 0; i < ARRAY_LEN(xids); i++) {
		if (xids[i].number == number)
			return xids[i].class;
	}
	return XID_DRIVER;
}

const char *xid_text(int number)
{
	for (size_t i = 0; i < ARRAY_LEN(xids); i++) {
		if (xids[i].number == number)
			return xids[i].text;
	}
	return "unknown error";
}

bool xid_is_hardware(int number)
{
	enum xid_class c = xid_class(number);

	return c == XID_MEMORY || c == XID_BUS || c == XID_CHIP;
}

void gpu_sample_card(struct gpu_sample *s, const struct gpu_record *r)
{
	*s = (struct gpu_sample){.present = r->gpu.present, .mem_total_mib = r->gpu.total_mib,
		.mem_used_mib = r->gpu.used_mib, .mem_free_mib = r->gpu.free_mib,
		.util_percent = r->gpu.util, .temperature_c = r->gpu.temperature};
	str_copy(s->uuid, sizeof(s->uuid), r->gpu.uuid);
	str_copy(s->model, sizeof(s->model), r->gpu.model);
	str_copy(s->pci_bus_id, sizeof(s->pci_bus_id), r->gpu.bus_id);
}

void gpu_sample_proc(struct gpu_sample *s, const struct gpu_record *r, bool is_ours)
{
	s->n_processes++;
	if (is_ours)
		return;
	s->n_foreign++;
	s->foreign_mib += r->proc.mib;
	if (r->proc.util == GPU_UTIL_UNKNOWN)
		s->foreign_util_unknown = true;
	else
		s->foreign_util += r->proc.util;
	if (s->foreign_pid == 0 || r->proc.mib > s->foreign_largest_mib) {
		s->foreign_pid = r->proc.pid;
		s->foreign_largest_mib = r->proc.mib;
		str_copy(s->foreign_name, sizeof(s->foreign_name), r->proc.name);
	}
}

int gpu_sample_load(const struct gpu_sample *s)
{
	int util = s->util_percent == GPU_UTIL_UNKNOWN ? 0 : s->util_percent;

	/* Load without a process that we can see is somebody's all the same. */
	if (s->n_processes == 0 || (s->n_foreign > 0 && s->foreign_util_unknown))
		return util;
	return s->foreign_util < 100 ? s->foreign_util : 100;
}

static void numbers(struct gpu_card *c, const struct gpu_sample *s)
{
	if (!s->present)
		return; /* the last ones are more use than zeros */
	str_copy(c->uuid, sizeof(c->uuid), s->uuid);
	str_copy(c->model, sizeof(c->model), s->model);
	str_copy(c->pci_bus_id, sizeof(c->pci_bus_id), s->pci_bus_id);
	c->mem_total_mib = s->mem_total_mib;
	c->mem_used_mib = s->mem_used_mib;
	c->mem_free_mib = s->mem_free_mib;
	c->util_percent = s->util_percent == GPU_UTIL_UNKNOWN ? 0 : s->util_percent;
	c->temperature_c = s->temperature_c;
	c->n_processes = s->n_processes;
}

static bool presence(struct gpu_edge *e, const struct gpu_sample *s)
{
	if (e->card.present == s->present)
		return false;
	e->card.present = s->present;
	e->hits = 0;
	if (s->present && e->was_gone) { /* reset or replaced meanwhile: old errors say nothing */
		e->card.fault = false;
		e->card.xid = 0;
	}
	e->was_gone = !s->present;
	return true;
}

static bool busy(const struct gpu_conf *conf, struct gpu_edge *e, const struct gpu_sample *s)
{
	bool now = gpu_sample_load(s) >= conf->busy_percent;

	e->hits = now != e->card.busy ? e->hits + 1 : 0;
	if (e->hits < conf->hits)
		return false;
	e->card.busy = now;
	e->hits = 0;
	return true;
}

/* Small changes of a known holder are noise: caches breathe. */
static bool foreign(const struct gpu_conf *conf, struct gpu_edge *e, const struct gpu_sample *s)
{
	bool counts = s->n_foreign > 0 && s->foreign_mib >= conf->foreign_min_mib;
	int64_t mib = counts ? s->foreign_mib : 0, change = mib - e->card.foreign_mib;
	int64_t noise = e->card.mem_total_mib / 64;
	int pid = counts ? s->foreign_pid : 0;

	if (pid == e->card.foreign_pid && change <= noise && -change <= noise)
		return false;
	e->card.foreign_pid = pid;
	e->card.foreign_mib = mib;
	str_copy(e->card.foreign_name, sizeof(e->card.foreign_name), counts ? s->foreign_name : "");
	return true;
}

bool gpu_edge_step(const struct gpu_conf *conf, struct gpu_edge *e, const struct gpu_sample *s)
{
	bool edge = !e->known;

	numbers(&e->card, s);
	edge |= presence(e, s);
	if (s->present) {
		if (!e->known) /* nobody has been told anything yet: the first sample is believed */
			e->card.busy = gpu_sample_load(s) >= conf->busy_percent;
		edge |= busy(conf, e, s);
		edge |= foreign(conf, e, s);
	}
	e->known = true;
	return edge;
}

bool gpu_edge_xid(struct gpu_edge *e, int number)
{
	bool edge = xid_is_hardware(number) && !e->card.fault;

	e->card.xid = number;
	if (edge)
		e->card.fault = true;
	return edge;
}

bool gpu_edge_lost(struct gpu_edge *e)
{
	bool edge = e->known && e->card.present;

	e->card.present = false;
	e->hits = 0;
	return edge;
}
