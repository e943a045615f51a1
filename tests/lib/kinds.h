/* SPDX-License-Identifier: MIT
 * kinds.h - what the files of the test job "kinds" share
 * A kind is a way to be a process that a snapshot has to cope with: it is set up once, does its
 * thing at every step, and says at the end whether all of it is still as it should be. */
#ifndef TESTS_LIB_KINDS_H
#define TESTS_LIB_KINDS_H

#include <stdint.h>
#include <sys/types.h>

struct kind {
	const char *name;
	void (*setup)(void);
	void (*step)(uint64_t step); /* NULL = nothing */
	void (*end)(uint64_t steps); /* NULL = nothing */
};

extern const struct kind kinds_ipc[], kinds_process[], kinds_file[], kinds_foreign[];

#define need(what) ((what) ? (void)0 : need_failed(__FILE__, __LINE__, #what))
_Noreturn void need_failed(const char *file, int line, const char *what);
/* There is no such thing on this machine: says so, and ends with status 77. */
_Noreturn void not_here(const char *what);
/* A child that does @run for ever and ignores SIGTERM. */
pid_t child(void (*run)(void));
/* Memory that children share; never freed. */
void *shared_memory(size_t size);
/* Waits until the number there is another one. */
void wait_change(const volatile uint64_t *at);
/* A pattern that depends on @seed, and whether it is still there. */
void pattern_fill(void *memory, size_t size, uint64_t seed);
void pattern_check(const void *memory, size_t size, uint64_t seed);

#endif
