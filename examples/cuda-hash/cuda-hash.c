/* SPDX-License-Identifier: MIT
 * cuda-hash.c - a job whose state is on the card: a hash chain through device memory
 * Usage: cuda-hash [STEPS [MIB]]. No line of checkpoint code; the last line is the same however often
 * it was evicted in between. Runs on the real driver and on the simulated one alike. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nvabi/cuda.h"

static void *driver;

#define CU(name) ((__typeof__(name) *)dlsym(driver, #name))

static void check(int result, const char *what)
{
	const char *name = NULL;

	if (result == CU_SUCCESS)
		return;
	CU(cuGetErrorName)(result, &name);
	fprintf(stderr, "cuda-hash: %s: %s\n", what, name ? name : "unknown error");
	exit(1);
}

static uint64_t hash(uint64_t h, uint64_t step)
{
	for (int i = 0; i < 8; i++) {
		h ^= step >> (8 * i) & 0xff;
		h *= UINT64_C(0x100000001b3);
	}
	return h;
}

/* Step n reads one word and writes the next: all of the memory is part of the result. */
static void chain(cu_ptr words, uint64_t n_words, uint64_t steps)
{
	uint64_t h = 0;

	for (uint64_t i = 0; i < steps; i++) {
		uint64_t from = i % n_words, to = (i + 1) % n_words;

		check(CU(cuMemcpyDtoH_v2)(&h, words + 8 * from, 8), "copy from the card");
		h = hash(h ^ UINT64_C(0xcbf29ce484222325), i);
		check(CU(cuMemcpyHtoD_v2)(words + 8 * to, &h, 8), "copy to the card");
		if (i % 1000 == 999) {
			printf("step %llu\n", (unsigned long long)i + 1);
			fflush(stdout);
			usleep(10000);
		}
	}
	printf("result %016llx\n", (unsigned long long)h);
}

int main(int argc, char **argv)
{
	uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	uint64_t mib = argc > 2 ? strtoull(argv[2], NULL, 10) : 64;
	struct cu_context *ctx = NULL;
	char name[64] = "";
	cu_ptr words = 0;

	if (steps == 0 || mib == 0) {
		fprintf(stderr, "Usage: cuda-hash [STEPS [MIB]]\n");
		return 2;
	}
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver) {
		fprintf(stderr, "cuda-hash: no CUDA driver: %s\n", dlerror());
		return 1;
	}
	check(CU(cuInit)(0), "start the driver");
	check(CU(cuDeviceGetName)(name, sizeof(name), 0), "look at the card");
	check(CU(cuDevicePrimaryCtxRetain)(&ctx, 0), "use the card");
	check(CU(cuCtxSetCurrent)(ctx), "use the card");
	check(CU(cuMemAlloc_v2)(&words, mib << 20), "take memory");
	check(CU(cuMemsetD8_v2)(words, 0, mib << 20), "clear memory");
	printf("%s, %llu MiB\n", name, (unsigned long long)mib);
	fflush(stdout);
	chain(words, mib << 17, steps);
	check(CU(cuMemFree_v2)(words), "give memory back");
	check(CU(cuDevicePrimaryCtxRelease_v2)(0), "leave the card");
	return 0;
}
