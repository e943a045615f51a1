/* SPDX-License-Identifier: MIT
 * cuda_do.c - the CUDA checkpoint calls from a shell: cuda-do PID (state|lock|checkpoint|restore|unlock)…
 * Prints the state's name for `state`; the first call that fails is named and ends it with status 1. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvabi/cuda.h"

static const char *const states[] = {"RUNNING", "LOCKED", "CHECKPOINTED", "FAILED"};

static void *driver;

#define CU(name) ((__typeof__(name) *)dlsym(driver, #name))

static int print_state(int pid)
{
	int state = 0, r = CU(cuCheckpointProcessGetState)(pid, &state);

	if (r == CU_SUCCESS)
		puts(states[state & 3]);
	return r;
}

static int act(const char *word, int pid)
{
	struct cu_lock_args lock = {.timeout_ms = 30000};

	if (strcmp(word, "state") == 0)
		return print_state(pid);
	if (strcmp(word, "lock") == 0)
		return CU(cuCheckpointProcessLock)(pid, &lock);
	if (strcmp(word, "checkpoint") == 0)
		return CU(cuCheckpointProcessCheckpoint)(pid, NULL);
	if (strcmp(word, "restore") == 0)
		return CU(cuCheckpointProcessRestore)(pid, NULL);
	if (strcmp(word, "unlock") == 0)
		return CU(cuCheckpointProcessUnlock)(pid, NULL);
	return CU_ERROR_NOT_SUPPORTED;
}

int main(int argc, char **argv)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver || argc < 3) {
		fprintf(stderr, "cuda-do: %s\n", driver ? "PID ACTION…" : dlerror());
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		const char *name = NULL;
		int r = act(argv[i], strtol(argv[1], NULL, 10));

		if (r == CU_SUCCESS)
			continue;
		CU(cuGetErrorName)(r, &name);
		fprintf(stderr, "cuda-do: %s: %s\n", argv[i], name ? name : "?");
		return 1;
	}
	return 0;
}
