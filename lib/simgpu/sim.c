/* SPDX-License-Identifier: MIT
 * sim.c - the shared file: making, finding, locking it; bells and injected faults */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOCK_WAIT_S 2

const char *sim_path(void)
{
	const char *path = getenv("GQ_SIMGPU");

	return path && *path ? path : SIM_DEFAULT_PATH;
}

int64_t sim_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_current(const struct sim *s)
{
	return s->shm && s->fd >= 0 && !__atomic_load_n(&s->shm->gone, __ATOMIC_ACQUIRE);
}

static int map(int fd, struct sim_shm **ret)
{
	struct stat st;
	struct sim_shm *shm;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size != (off_t)sizeof(*shm))
		return -EPROTO;
	shm = mmap(NULL, sizeof(*shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shm == MAP_FAILED)
		return -errno;
	if (memcmp(shm->magic, SIM_MAGIC, sizeof(shm->magic)) != 0 || shm->version != SIM_VERSION ||
		shm->size != sizeof(*shm)) {
		munmap(shm, sizeof(*shm));
		return -EPROTO;
	}
	*ret = shm;
	return 0;
}

int sim_open(struct sim *s, const char *path)
{
	struct sim_shm *shm = NULL;
	int fd, r;

	if (is_current(s))
		return 0;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = map(fd, &shm);
	if (r < 0) {
		close(fd);
		return r;
	}
	/* An old mapping is left alone: other threads of the process may still look at it. */
	sim_close_fd(s);
	s->shm = shm;
	s->fd = fd;
	return 0;
}

void sim_close_fd(struct sim *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int mutex_init(pthread_mutex_t *m)
{
	pthread_mutexattr_t a;
	int r;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	r = pthread_mutex_init(m, &a);
	pthread_mutexattr_destroy(&a);
	return -r;
}

static int fill(int fd, const struct sim_shm *machine)
{
	struct sim_shm *shm;
	int r;

	/* Jobs of every user allocate, so everybody may write; umask must not narrow that. */
	if (fchmod(fd, 0666) < 0 || ftruncate(fd, sizeof(*shm)) < 0)
		return -errno;
	shm = mmap(NULL, sizeof(*shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shm == MAP_FAILED)
		return -errno;
	*shm = *machine;
	memcpy(shm->magic, SIM_MAGIC, sizeof(shm->magic));
	shm->version = SIM_VERSION;
	shm->size = sizeof(*shm);
	r = mutex_init(&shm->mutex);
	munmap(shm, sizeof(*shm));
	return r;
}

int sim_create(const char *path, const struct sim_shm *machine)
{
	char tmp[PATH_MAX];
	int fd, r;

	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = fill(fd, machine);
	close(fd);
	if (r == 0 && link(tmp, path) < 0)
		r = -errno;
	unlink(tmp);
	return r;
}

int sim_destroy(const char *path)
{
	struct sim s = SIM_INIT;
	int r = sim_open(&s, path);

	if (r < 0)
		return r;
	__atomic_store_n(&s.shm->gone, 1, __ATOMIC_RELEASE);
	sim_ring(&s.shm->event_bell);
	sim_ring(&s.shm->request_bell);
	munmap(s.shm, sizeof(*s.shm));
	sim_close_fd(&s);
	return unlink(path) < 0 ? -errno : 0;
}

int sim_lock(struct sim *s)
{
	struct timespec until;
	int r;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOCK_WAIT_S;
	r = pthread_mutex_timedlock(&s->shm->mutex, &until);
	if (r == EOWNERDEAD) {
		/* Every change is a few plain stores to one entry, and a dead process's entry is
		 * dropped as a whole: there is nothing to repair. */
		pthread_mutex_consistent(&s->shm->mutex);
		r = 0;
	}
	return -r;
}

void sim_unlock(struct sim *s)
{
	pthread_mutex_unlock(&s->shm->mutex);
}

static bool names_call(const char *want, const char *call)
{
	size_t n = strlen(want);

	/* "nvmlDeviceGetMemoryInfo" means its _v2 too */
	return n > 0 && strncmp(want, call, n) == 0 &&
		(call[n] == '\0' || (call[n] == '_' && call[n + 1] == 'v'));
}

int sim_fault(struct sim *s, const char *call)
{
	int error = 0;

	for (int i = 0; i < SIM_FAULTS && error == 0; i++) {
		struct sim_fault *f = &s->shm->faults[i];
		int left = __atomic_load_n(&f->left, __ATOMIC_ACQUIRE);

		if (left == 0 || !names_call(f->call, call))
			continue;
		if (left == SIM_FOREVER ||
			__atomic_compare_exchange_n(&f->left, &left, left - 1, false,
				__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			error = f->error;
	}
	while (error == SIM_HANG)
		pause();
	return error;
}

void sim_event(struct sim *s, int card, int xid)
{
	struct sim_event *e = &s->shm->events[s->shm->n_events % SIM_EVENTS];

	e->card = card;
	e->xid = xid;
	s->shm->n_events++;
	sim_ring(&s->shm->event_bell);
}

void sim_ring(uint32_t *bell)
{
	__atomic_add_fetch(bell, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sim_set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sim_wait(uint32_t *bell, uint32_t seen, int timeout_ms)
{
	struct timespec t = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};

	syscall(SYS_futex, bell, FUTEX_WAIT, seen, &t, NULL, 0);
}
