/* SPDX-License-Identifier: MIT
 * kinds.c - a job that is one kind of process: kinds KIND [probe]
 * One line per step: its number and a checksum of a megabyte that changes with each step. SIGTERM
 * makes it look at everything once more; then it ends with 5. Whatever is wrong is its last line,
 * and the status is 1. */
#include "kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS ((size_t)1 << 17)

static volatile sig_atomic_t over;

void need_failed(const char *file, int line, const char *what)
{
	const char *slash = strrchr(file, '/');

	printf("WRONG: %s:%d: %s (%s)\n", slash ? slash + 1 : file, line, what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

void not_here(const char *what)
{
	printf("none: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(77);
}

pid_t child(void (*run)(void))
{
	pid_t pid = fork();

	need(pid >= 0);
	if (pid)
		return pid;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		run();
}

void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED);
	return p;
}

void wait_change(const volatile uint64_t *at)
{
	uint64_t was = *at;

	while (*at == was)
		usleep(500);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(1099511628211);
	return h ^ h >> 29;
}

void pattern_fill(void *memory, size_t size, uint64_t seed)
{
	uint64_t *w = memory, h = seed;

	for (size_t i = 0; i < size / sizeof(*w); i++)
		w[i] = h = mix(h, i);
}

void pattern_check(const void *memory, size_t size, uint64_t seed)
{
	const uint64_t *w = memory;
	uint64_t h = seed;

	for (size_t i = 0; i < size / sizeof(*w); i++) {
		h = mix(h, i);
		need(w[i] == h);
	}
}

/* The memory that every kind has: each step changes all of it and prints its sum. */
static uint64_t advance(uint64_t *words, uint64_t step)
{
	uint64_t h = step;

	for (size_t i = 0; i < WORDS; i++)
		words[i] = h = mix(h, words[i]);
	return h;
}

static const struct kind *find(const char *name)
{
	static const struct kind plain[] = {{.name = "plain"}, {0}};
	const struct kind *const lists[] = {plain, kinds_ipc, kinds_process, kinds_file, kinds_foreign};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (const struct kind *k = lists[i]; k->name; k++)
			if (!strcmp(k->name, name))
				return k;
	fprintf(stderr, "kinds: no kind '%s'\n", name);
	exit(2);
}

static void on_term(int sig)
{
	(void)sig;
	over = 1;
}

/* The same from the start, undisturbed. */
static void check_memory(uint64_t *words, uint64_t steps)
{
	uint64_t *fresh = calloc(WORDS, sizeof(*fresh));

	need(fresh != NULL);
	for (uint64_t step = 1; step <= steps; step++)
		advance(fresh, step);
	need(!memcmp(words, fresh, WORDS * sizeof(*words)));
	free(fresh);
}

int main(int argc, char **argv)
{
	const struct kind *k = find(argc > 1 ? argv[1] : "plain");
	uint64_t *words = calloc(WORDS, sizeof(*words)), step = 0;

	need(words != NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGTERM, on_term);
	if (k->setup)
		k->setup();
	if (argc > 2)
		return 0; /* the question was only whether it is possible here */
	while (!over) {
		uint64_t sum = advance(words, ++step);

		if (k->step)
			k->step(step);
		printf("%" PRIu64 " %016" PRIx64 "\n", step, sum);
		usleep(10000);
	}
	check_memory(words, step);
	if (k->end)
		k->end(step);
	return 5;
}
