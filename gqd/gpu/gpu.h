/* SPDX-License-Identifier: MIT
 * gpu.h - sees: the cards through NVML, as edges with hysteresis
 * NVML is loaded with dlopen in a worker process (gq-sampler) that samples at 1 Hz; gqd never calls
 * the driver and cannot be stalled by it. A worker that hangs or dies is started again, and its
 * cards are reported as not present after @lost_after.
 * Promises: an edge is reported once; numbers for people come with every sample.
 * Leaves to others: whose process it is (asked back through owner()), what follows (core). */
#ifndef GQD_GPU_GPU_H
#define GQD_GPU_GPU_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/gqtime.h"

struct gpu;

struct gpu_conf {
	const char *sampler;      /* path of gq-sampler */
	const char *nvml_library; /* NULL = libnvidia-ml.so.1 by the loader's search */
	gq_time period;           /* 1 s */
	int busy_percent;         /* utilisation at or above: busy */
	int hits;                 /* samples in a row for an edge of utilisation, 2 */
	int64_t foreign_min_mib;  /* smaller foreign allocations are noise, 0 */
	gq_time lost_after;       /* no sample for so long: not present, 5 s */
};

struct gpu_card {
	uint16_t index;   /* NVML order = PCI order */
	char uuid[48];
	char model[64];
	char pci_bus_id[32];
	bool present;
	bool fault;       /* a hardware XID was seen (48, 63, 64, 74, 79, 92, 94, 95 …) */
	int xid;          /* the last one, 0 = none */
	bool busy;        /* utilisation by others than our jobs, with hysteresis */
	int foreign_pid;  /* largest process that is not ours, 0 = none */
	char foreign_name[32];
	int64_t foreign_mib; /* VRAM of all processes that are not ours */
	int64_t mem_total_mib, mem_used_mib, mem_free_mib;
	int util_percent, temperature_c;
	int n_processes;
};

/* @sample_only: numbers changed, no edge. */
typedef void (*gpu_report_fn)(void *ctx, const struct gpu_card *card, bool sample_only);
/* Job that @pid belongs to, 0 = foreign. */
typedef uint32_t (*gpu_owner_fn)(void *ctx, pid_t pid);

int gpu_new(const struct gpu_conf *conf, gpu_report_fn report, gpu_owner_fn owner, void *ctx,
	struct gpu **ret, struct gq_err *err); /* starts the worker; cards come by dispatch */
struct gpu *gpu_free(struct gpu *g);       /* ends the worker; returns NULL */
int gpu_fd(const struct gpu *g);           /* poll for reading, then gpu_dispatch() */
void gpu_dispatch(struct gpu *g);
gq_time gpu_next_deadline(const struct gpu *g); /* monotonic; call gpu_dispatch() then too */
void gpu_poke(struct gpu *g);              /* sample now (a card should be free by now) */

/* For gqctl doctor: "NVIDIA driver 570.86, 2 cards" or why there is none; simulated or real. */
void gpu_describe(const struct gpu *g, char *buf, size_t size, bool *ret_simulated);

#endif
