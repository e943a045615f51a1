/* SPDX-License-Identifier: MIT
 * edge.h - from samples to edges: pure functions, no clock and no driver
 * Promises: load must be seen gpu_conf.hits times in a row to count, either way; processes that are
 * not ours, lost cards and hardware errors count at once. */
#ifndef GQD_GPU_EDGE_H
#define GQD_GPU_EDGE_H

#include "gpu.h"
#include "record.h"

enum xid_class { XID_APP, XID_DRIVER, XID_MEMORY, XID_BUS, XID_CHIP };

enum xid_class xid_class(int number);
const char *xid_text(int number); /* "unknown error" if not listed */
bool xid_is_hardware(int number);

struct gpu_sample { /* one card in one round */
	bool present;
	char uuid[48], model[64], pci_bus_id[32];
	int64_t mem_total_mib, mem_used_mib, mem_free_mib;
	int util_percent, temperature_c; /* util: GPU_UTIL_UNKNOWN */
	int n_processes, n_foreign;
	int foreign_util; /* sum of the known ones */
	bool foreign_util_unknown;
	int foreign_pid; /* the largest */
	char foreign_name[32];
	int64_t foreign_mib, foreign_largest_mib;
};

void gpu_sample_card(struct gpu_sample *s, const struct gpu_record *card);
void gpu_sample_proc(struct gpu_sample *s, const struct gpu_record *proc, bool is_ours);
int gpu_sample_load(const struct gpu_sample *s); /* percent of the card used by others */

struct gpu_edge { /* what is known about one card */
	struct gpu_card card;
	bool known;
	bool was_gone; /* the driver said so; that we could not look is another thing */
	int hits; /* samples in a row that speak against card.busy */
};

/* Takes a sample in. True: something changed that the core must know; false: numbers only. */
bool gpu_edge_step(const struct gpu_conf *conf, struct gpu_edge *e, const struct gpu_sample *s);
bool gpu_edge_xid(struct gpu_edge *e, int number);
bool gpu_edge_lost(struct gpu_edge *e); /* no sample for too long */

#endif
