/* SPDX-License-Identifier: MIT
 * thp.c - gq_thp.so, preloaded into `criu restore --stream`: restored memory in 2 MiB pages
 * There criu makes every private mapping of the job with the C library's mmap() and then reads the
 * contents into it, so one advice at the right moment turns 512 page faults into one. (The advice
 * that a job itself once gave comes too late for that: criu repeats it after the reading.)
 * Huge pages must not grow the job: mappings get the advice only up to GQ_THP_BYTES together, which
 * is a little more than the image holds, so a large sparse one gets none. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAST (2u << 20)

static int64_t bytes_left = -1;

/* It is meant for criu alone, not for the programs that criu starts (the gate among them). */
__attribute__((constructor)) static void keep_to_criu(void)
{
	unsetenv("LD_PRELOAD");
}

static int is_wanted(size_t n, int prot, int flags, int fd)
{
	const int must = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	const char *limit;

	if (fd != -1 || n < LEAST || !(prot & PROT_WRITE) || (flags & must) != must ||
		flags & (MAP_NORESERVE | MAP_STACK | MAP_GROWSDOWN | MAP_HUGETLB))
		return 0;
	if (bytes_left < 0) {
		limit = getenv("GQ_THP_BYTES");
		bytes_left = limit ? strtoll(limit, NULL, 10) : 0;
	}
	if ((int64_t)n > bytes_left)
		return 0;
	bytes_left -= (int64_t)n;
	return 1;
}

void *mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset)
{
	void *p = (void *)syscall(SYS_mmap, addr, n, prot, flags, fd, offset);

	if (p != MAP_FAILED && is_wanted(n, prot, flags, fd))
		madvise(p, n, MADV_HUGEPAGE); /* refused: then it is only slower */
	return p;
}

void *mmap64(void *addr, size_t n, int prot, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));
