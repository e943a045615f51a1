/* SPDX-License-Identifier: MIT
 * kinds_file.c - files, locks, mappings, memory of odd kinds */
#include "kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define BYTES     ((size_t)1 << 20)
#define BIG_BYTES ((size_t)8 << 20)
#define PAGE      ((size_t)4096)

static int file, file2;

static int file_new(const char *name, size_t size)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	need(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	return fd;
}

/* --- a watch on a folder --------------------------------------------------------------------- */

static void inotify_setup(void)
{
	need(mkdir("kind.watched", 0700) == 0 || errno == EEXIST);
	file = inotify_init1(0);
	need(inotify_add_watch(file, "kind.watched", IN_CREATE) >= 0);
}

static void inotify_step(uint64_t step)
{
	char name[64], path[128];
	_Alignas(struct inotify_event) char data[512];
	const struct inotify_event *e = (const void *)data;

	snprintf(name, sizeof(name), "n%llu", (unsigned long long)step);
	snprintf(path, sizeof(path), "kind.watched/%s", name);
	close(file_new(path, 0));
	need(unlink(path) == 0);
	need(read(file, data, sizeof(data)) > 0);
	need(e->mask & IN_CREATE && !strcmp(e->name, name));
}

/* --- a big file and a mapped one, both without a name ------------------------------------------ */

static uint64_t *big;

static void unlinked_setup(void)
{
	file = file_new("kind.big", BIG_BYTES);
	big = malloc(BIG_BYTES);
	pattern_fill(big, BIG_BYTES, 3);
	need(write(file, big, BIG_BYTES) == (ssize_t)BIG_BYTES && unlink("kind.big") == 0);
	free(big);
	file2 = file_new("kind.mapped", BYTES);
	big = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file2, 0);
	need(big != MAP_FAILED && unlink("kind.mapped") == 0);
}

static void unlinked_step(uint64_t step)
{
	uint64_t n;

	need(big[7] == step - 1);
	big[7] = step;
	need(pread(file2, &n, sizeof(n), 56) == sizeof(n) && n == step);
}

static void unlinked_end(uint64_t steps)
{
	uint64_t *all = malloc(BIG_BYTES);

	(void)steps;
	need(pread(file, all, BIG_BYTES, 0) == (ssize_t)BIG_BYTES);
	need(lseek(file, 0, SEEK_CUR) == (off_t)BIG_BYTES);
	pattern_check(all, BIG_BYTES, 3);
}

/* --- a data file mapped twice -------------------------------------------------------------------- */

static uint64_t *open_map, *own_map;

static void mapped_setup(void)
{
	file = file_new("kind.data", BYTES);
	open_map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	own_map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	need(open_map != MAP_FAILED && own_map != MAP_FAILED);
	pattern_fill(open_map, BYTES, 4);
	pattern_fill(own_map, BYTES / 2, 5);
}

static void mapped_step(uint64_t step)
{
	uint64_t n;

	open_map[BYTES / 8 - 1] = step;
	own_map[0] = own_map[0];
	need(pread(file, &n, sizeof(n), BYTES - 8) == sizeof(n) && n == step);
}

static void mapped_end(uint64_t steps)
{
	(void)steps;
	pattern_check(open_map, BYTES - PAGE, 4);
	pattern_check(own_map, BYTES / 2, 5);
}

/* --- locks of three kinds, and a child that must not get them ------------------------------------- */

static int ask[2], answer[2];

static void try_locks(void)
{
	struct flock l = {.l_type = F_WRLCK};
	int fd = open("kind.flock", O_RDWR);
	char c;

	if (read(ask[0], &c, 1) != 1)
		_exit(1);
	c = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? 'y' : 'n';
	close(fd);
	fd = open("kind.fcntl", O_RDWR);
	if (fcntl(fd, F_GETLK, &l) < 0 || l.l_type != F_WRLCK || l.l_pid != getppid())
		c = 'n';
	close(fd);
	fd = open("kind.ofd", O_RDWR);
	l = (struct flock){.l_type = F_WRLCK};
	if (fcntl(fd, F_OFD_SETLK, &l) == 0)
		c = 'n';
	close(fd);
	need(write(answer[1], &c, 1) == 1);
}

static void locks_setup(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_start = 0, .l_len = 100};
	int ofd = file_new("kind.ofd", 10);

	file = file_new("kind.flock", 10);
	file2 = file_new("kind.fcntl", 1000);
	need(pipe2(ask, 0) == 0 && pipe2(answer, 0) == 0);
	child(try_locks);
	need(flock(file, LOCK_EX) == 0 && fcntl(file2, F_SETLK, &l) == 0);
	l.l_len = 0;
	need(fcntl(ofd, F_OFD_SETLK, &l) == 0);
}

static void locks_step(uint64_t step)
{
	char c = 0;

	(void)step;
	need(write(ask[1], "?", 1) == 1 && read(answer[0], &c, 1) == 1);
	need(c == 'y');
}

/* --- asynchronous input and output ------------------------------------------------------------------ */

static aio_context_t context;

static void aio_setup(void)
{
	file = file_new("kind.aio", PAGE);
	if (syscall(SYS_io_setup, 8, &context) < 0)
		not_here("io_setup");
}

static void aio_step(uint64_t step)
{
	struct iocb cb = {.aio_fildes = (unsigned)file, .aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_buf = (uintptr_t)&step, .aio_nbytes = sizeof(step), .aio_data = step};
	struct iocb *list[] = {&cb};
	struct io_event event;
	uint64_t n;

	need(syscall(SYS_io_submit, context, 1, list) == 1);
	need(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
	need(event.data == step && event.res == sizeof(step));
	need(pread(file, &n, sizeof(n), 0) == sizeof(n) && n == step);
}

/* --- no folder to stand in ---------------------------------------------------------------------------- */

static void cwd_setup(void)
{
	need(mkdir("kind.gone", 0700) == 0 && chdir("kind.gone") == 0 && rmdir("../kind.gone") == 0);
}

static void cwd_step(uint64_t step)
{
	char path[256];

	(void)step;
	need(!getcwd(path, sizeof(path)) && errno == ENOENT);
}

/* --- locked, forbidden and huge pages, holes, memory that children do not get --------------------------- */

static char *locked, *guarded, *huge;

static char *pages(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED);
	return p;
}

static bool readable(const char *at)
{
	char c;
	struct iovec to = {&c, 1}, from = {(void *)at, 1};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

static void memory_setup(void)
{
	locked = pages(16 * PAGE);
	pattern_fill(locked, 16 * PAGE, 6);
	if (mlock(locked, 16 * PAGE) < 0)
		need(errno == ENOMEM || errno == EPERM);
	guarded = pages(64 * PAGE);
	pattern_fill(guarded, 32 * PAGE, 7);
	need(mprotect(guarded + 32 * PAGE, PAGE, PROT_NONE) == 0);
	need(munmap(guarded + 40 * PAGE, PAGE) == 0);
	huge = pages(BIG_BYTES);
	need(madvise(huge, BIG_BYTES, MADV_HUGEPAGE) == 0 || errno == EINVAL);
	need(madvise(huge, BIG_BYTES, MADV_DONTFORK) == 0);
	pattern_fill(huge, BIG_BYTES / 2, 8);
}

static void memory_step(uint64_t step)
{
	(void)step;
	need(readable(guarded) && !readable(guarded + 32 * PAGE) && readable(guarded + 33 * PAGE));
	need(!readable(guarded + 40 * PAGE));
}

static void memory_end(uint64_t steps)
{
	memory_step(steps);
	pattern_check(locked, 16 * PAGE, 6);
	pattern_check(guarded, 32 * PAGE, 7);
	pattern_check(huge, BIG_BYTES / 2, 8);
	for (size_t i = BIG_BYTES / 2; i < BIG_BYTES; i++)
		need(!huge[i]);
}

const struct kind kinds_file[] = {
	{"inotify", inotify_setup, inotify_step, NULL},
	{"unlinked", unlinked_setup, unlinked_step, unlinked_end},
	{"mapped", mapped_setup, mapped_step, mapped_end},
	{"locks", locks_setup, locks_step, NULL},
	{"aio", aio_setup, aio_step, NULL},
	{"cwd", cwd_setup, cwd_step, NULL},
	{"memory", memory_setup, memory_step, memory_end},
	{0},
};
