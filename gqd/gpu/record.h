/* SPDX-License-Identifier: MIT
 * record.h - what gq-sampler writes to gqd: records of one size, in rounds
 *
 *     HELLO  CARD PROC PROC CARD … END   CARD CARD END   XID   CARD … END   FAILED
 *            '------ one round -------'
 *
 * FAILED is the last record of a worker. An unknown type is skipped; a wrong magic or version
 * ends the worker, since both programs come from one build. */
#ifndef GQD_GPU_RECORD_H
#define GQD_GPU_RECORD_H

#include <stdint.h>

#define GPU_RECORD_MAGIC   0x52535147u /* "GQSR" */
#define GPU_RECORD_VERSION 1
#define GPU_CARDS_MAX      64
#define GPU_PROCS_MAX      256 /* per card */
#define GPU_UTIL_UNKNOWN   (-1)

enum gpu_record_type { GPU_HELLO, GPU_FAILED, GPU_CARD, GPU_PROC, GPU_XID, GPU_END };

struct gpu_record {
	uint32_t magic;
	uint16_t version, type;
	uint32_t card; /* CARD, PROC, XID */
	uint32_t reserved;
	union {
		struct {
			char driver[32];
			int32_t cuda; /* 13000 = 13.0 */
			uint32_t n_cards, simulated;
		} hello;
		struct {
			char text[256];
		} failed;
		struct {
			char uuid[48], model[64], bus_id[32];
			uint32_t present;
			int32_t util, temperature; /* GPU_UTIL_UNKNOWN */
			uint32_t reserved;
			int64_t total_mib, used_mib, free_mib;
		} gpu;
		struct {
			int32_t pid; /* of the host */
			int32_t util; /* GPU_UTIL_UNKNOWN */
			int64_t mib;
			char name[32];
		} proc;
		struct {
			uint32_t number;
		} xid;
	};
};

_Static_assert(sizeof(struct gpu_record) == 272, "a record has one size on every machine");

#endif
