/* SPDX-License-Identifier: MIT
 * chain.c - a job whose whole state is in memory: a hash chain, one line per step
 *   chain STEPS [MIB]   MIB: so much memory that takes part in the chain */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t hash(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(1099511628211);
	return h ^ h >> 29;
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	size_t words = (size_t)(argc > 2 ? strtol(argv[2], NULL, 10) : 1) << 17;
	uint64_t *memory = malloc(words * sizeof(*memory)), h = 1;

	if (!memory)
		return 1;
	for (size_t i = 0; i < words; i++)
		memory[i] = h = hash(h, i);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (long step = 1; step <= steps; step++) {
		for (int i = 0; i < 20000; i++) {
			uint64_t *w = &memory[h % words];

			h = hash(h, *w);
			*w = hash(*w, h);
		}
		printf("%ld %016" PRIx64 "\n", step, h);
		if (step < steps) /* its last line is its end */
			usleep(10000);
	}
	return 5;
}
