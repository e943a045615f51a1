/* SPDX-License-Identifier: MIT
 * sum.h - a fast 64-bit checksum: finds damage, resists nobody
 * Any change confined to one 8-byte word changes the sum for certain, since every step is
 * reversible; other changes pass unseen with a chance of 2^-64. Golden values stand in the test. */
#ifndef GQ_CHECKPOINT_SUM_H
#define GQ_CHECKPOINT_SUM_H

#include <stddef.h>
#include <stdint.h>

struct sum {
	uint64_t lane[4];
	uint64_t total; /* bytes so far */
	unsigned char rest[32];
	size_t n_rest;
};

void sum_init(struct sum *s);
void sum_add(struct sum *s, const void *data, size_t n);
uint64_t sum_end(const struct sum *s); /* more may be added afterwards */

#endif
