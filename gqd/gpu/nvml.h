/* SPDX-License-Identifier: MIT
 * nvml.h - the driver's library, loaded when it is there
 * Calls may block for as long as the driver likes: only gq-sampler uses this.
 * Promises: works with drivers from 450 on; a call that an old one lacks leaves "unknown".
 * Leaves to others: what the numbers mean (edge.c). */
#ifndef GQD_GPU_NVML_H
#define GQD_GPU_NVML_H

#include <stdbool.h>

#include "base/err.h"
#include "record.h"

struct nvml;

/* @library NULL = libnvidia-ml.so.1 as the loader finds it. Errors are for people; the code is
 * -ENOENT without a library, -ENODEV without a running driver. */
int nvml_open(const char *library, struct nvml **ret, struct gq_err *err);
struct nvml *nvml_close(struct nvml *n); /* returns NULL */

void nvml_hello(struct nvml *n, struct gpu_record *ret);
unsigned nvml_count(const struct nvml *n);

/* Fills a CARD record. 0; -ENODEV the card is lost (present = 0); -ESHUTDOWN the driver is gone:
 * close, and open again later. */
int nvml_card(struct nvml *n, unsigned i, struct gpu_record *ret, struct gq_err *err);
/* PROC records of the processes on it; how many were written, at most @max. */
unsigned nvml_procs(struct nvml *n, unsigned i, struct gpu_record *ret, unsigned max);
/* The next XID that has happened, without waiting. */
bool nvml_xid(struct nvml *n, struct gpu_record *ret);

#endif
