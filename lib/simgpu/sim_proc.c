/* SPDX-License-Identifier: MIT
 * sim_proc.c - which processes are on the cards: who lives, under which pid, with how much */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_BASE (1 << 20) /* bytes far behind the end of the file stand for the entries */

static int stat_start(const char *path, uint64_t *ret)
{
	char buf[1024], *p;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -ESRCH;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return -ESRCH;
	buf[n] = '\0';
	p = strrchr(buf, ')'); /* the name before it may hold anything */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return -EPROTO;
	*ret = strtoull(p + 1, NULL, 10);
	return 0;
}

static int ns_pid(const char *path, int32_t *ret)
{
	char line[256], *last = NULL;
	FILE *f = fopen(path, "re");

	if (!f)
		return -ESRCH;
	while (!last && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6) == 0)
			last = strrchr(line, '\t');
	}
	fclose(f);
	if (!last)
		return -ESRCH;
	*ret = strtol(last + 1, NULL, 10);
	return 0;
}

static int owner_at(const char *dir, struct sim_owner *ret)
{
	struct sim_owner o = {0};
	struct stat st;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "%s/status", dir);
	r = ns_pid(path, &o.pid);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/stat", dir);
	r = stat_start(path, &o.start);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/ns/pid", dir);
	if (stat(path, &st) < 0)
		return errno == ENOENT ? -ESRCH : -EACCES;
	o.ns = st.st_ino;
	*ret = o;
	return 0;
}

int sim_owner_of(pid_t pid, struct sim_owner *ret)
{
	char dir[32];

	snprintf(dir, sizeof(dir), "/proc/%d", pid);
	return owner_at(dir, ret);
}

int sim_owner_self(struct sim_owner *ret)
{
	return owner_at("/proc/self", ret);
}

int sim_comm(pid_t pid, char *buf, size_t size)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static struct flock lock_of(int i, short type)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = LOCK_BASE + i,
		.l_len = 1};
}

static bool owner_is(const struct sim_owner *a, const struct sim_owner *b)
{
	return a->ns == b->ns && a->pid == b->pid && a->start == b->start;
}

bool sim_proc_is_mine(const struct sim *s, int i)
{
	struct sim_owner me;

	return s->shm->procs[i].used && sim_owner_self(&me) == 0 &&
		owner_is(&s->shm->procs[i].owner, &me);
}

/* The holder's pid as the kernel translates it for us; 0 = not visible here; -ESRCH = dead. The
 * kernel does not report our own lock to us, so that one is known by identity. */
static pid_t holder(struct sim *s, int i, const struct sim_owner *me)
{
	struct flock l = lock_of(i, F_WRLCK);

	if (owner_is(&s->shm->procs[i].owner, me))
		return getpid();
	if (fcntl(s->fd, F_GETLK, &l) < 0)
		return 0;
	return l.l_type == F_UNLCK ? -ESRCH : l.l_pid;
}

pid_t sim_proc_pid(struct sim *s, int i)
{
	struct sim_owner me = {0};
	pid_t pid;

	sim_owner_self(&me);
	pid = holder(s, i, &me);
	return pid < 0 ? 0 : pid;
}

void sim_prune(struct sim *s)
{
	struct sim_owner me = {0};

	if (s->fd < 0 || sim_owner_self(&me) < 0)
		return;
	for (int i = 0; i < SIM_PROCS_MAX; i++) {
		struct sim_proc *p = &s->shm->procs[i];

		if (p->used && holder(s, i, &me) == -ESRCH)
			p->used = 0;
	}
}

static int free_entry(struct sim *s)
{
	for (int i = 0; i < SIM_PROCS_MAX; i++) {
		struct flock l = lock_of(i, F_WRLCK);

		if (!s->shm->procs[i].used && fcntl(s->fd, F_SETLK, &l) == 0)
			return i;
	}
	return -ENOSPC;
}

int sim_proc_add(struct sim *s, const char *name)
{
	struct sim_owner me;
	struct sim_proc *p;
	int i, r = sim_owner_self(&me);

	if (r < 0)
		return r;
	sim_prune(s);
	i = free_entry(s);
	if (i < 0)
		return i;
	p = &s->shm->procs[i];
	memset(p, 0, sizeof(*p));
	p->owner = me;
	if (name)
		snprintf(p->name, sizeof(p->name), "%s", name);
	else
		sim_comm(getpid(), p->name, sizeof(p->name));
	p->used = 1;
	return i;
}

void sim_proc_drop(struct sim *s, int i)
{
	struct flock l = lock_of(i, F_UNLCK);

	s->shm->procs[i].used = 0;
	fcntl(s->fd, F_SETLK, &l);
}

int sim_request_claim(struct sim *s)
{
	struct sim_owner me;

	if (sim_owner_self(&me) < 0)
		return -EBUSY;
	for (int i = 0; i < SIM_REQUESTS; i++) {
		struct sim_request *q = &s->shm->requests[i];
		struct flock l = lock_of(SIM_PROCS_MAX + i, F_WRLCK);

		/* Another thread of ours has the same lock; one that died left its state behind. */
		if (q->state != SIM_REQUEST_FREE && owner_is(&q->caller, &me))
			continue;
		if (fcntl(s->fd, F_SETLK, &l) < 0)
			continue;
		memset(q, 0, sizeof(*q));
		q->caller = me;
		q->state = SIM_REQUEST_DONE; /* not yet to be looked at */
		return i;
	}
	return -EBUSY;
}

void sim_request_drop(struct sim *s, int i)
{
	struct flock l = lock_of(SIM_PROCS_MAX + i, F_UNLCK);

	s->shm->requests[i].state = SIM_REQUEST_FREE;
	fcntl(s->fd, F_SETLK, &l);
}

bool sim_proc_on_card(const struct sim_proc *p, int card)
{
	return p->used && (p->bytes[card] > 0 || p->contexts[card] > 0);
}

#define COMPUTING_UTIL 90

uint32_t sim_proc_util(const struct sim_proc *p, int card)
{
	if (!p->used)
		return 0;
	return p->busy_until[card] > sim_monotonic() ? COMPUTING_UTIL : p->util[card];
}

uint64_t sim_card_used(struct sim *s, int card)
{
	uint64_t sum = 0;

	for (int i = 0; i < SIM_PROCS_MAX; i++) {
		if (s->shm->procs[i].used)
			sum += s->shm->procs[i].bytes[card];
	}
	return sum;
}

uint32_t sim_card_util(struct sim *s, int card)
{
	uint32_t sum = s->shm->cards[card].util;

	for (int i = 0; i < SIM_PROCS_MAX; i++)
		sum += sim_proc_util(&s->shm->procs[i], card);
	return sum < 100 ? sum : 100;
}

int sim_card_by_uuid(const struct sim *s, const struct cu_uuid *id)
{
	for (uint32_t i = 0; i < s->shm->n_cards; i++) {
		if (memcmp(&s->shm->cards[i].id, id, sizeof(*id)) == 0)
			return i;
	}
	return -1;
}
