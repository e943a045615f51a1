/* SPDX-License-Identifier: MIT
 * kinds_ipc.c - pipes, sockets, events, shared memory: all between processes of the same job */
#include "kinds.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#define BYTES ((size_t)1 << 20)

static int fds[8];
static volatile uint64_t *shared;
static pid_t helper;

/* --- epoll, eventfd, timerfd, signalfd ------------------------------------------------------- */

static void watch(int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	need(fd >= 0 && epoll_ctl(fds[0], EPOLL_CTL_ADD, fd, &e) == 0);
}

static void events_setup(void)
{
	struct itimerspec t = {{0, 1000000}, {0, 1000000}};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fds[0] = epoll_create1(0);
	watch(fds[1] = eventfd(0, 0));
	watch(fds[2] = timerfd_create(CLOCK_MONOTONIC, 0));
	watch(fds[3] = signalfd(-1, &set, 0));
	fds[4] = eventfd(77, 0);
	need(timerfd_settime(fds[2], 0, &t, NULL) == 0);
}

static void events_step(uint64_t step)
{
	struct signalfd_siginfo info;
	struct epoll_event e;
	uint64_t n = step;
	int seen = 0;

	need(write(fds[1], &n, sizeof(n)) == sizeof(n));
	kill(getpid(), SIGUSR2);
	while (seen != 7) {
		if (epoll_wait(fds[0], &e, 1, 10000) != 1)
			continue;
		if (e.data.fd == fds[3]) {
			need(read(fds[3], &info, sizeof(info)) == sizeof(info));
			need(info.ssi_signo == SIGUSR2);
			seen |= 4;
			continue;
		}
		need(read(e.data.fd, &n, sizeof(n)) == sizeof(n));
		need(e.data.fd == fds[2] ? n > 0 : n == step);
		seen |= e.data.fd == fds[1] ? 1 : 2;
	}
}

static void events_end(uint64_t steps)
{
	uint64_t n;

	(void)steps;
	need(read(fds[4], &n, sizeof(n)) == sizeof(n) && n == 77);
}

/* --- pipes and a socket pair to a child, a pipe with something in it -------------------------- */

static void echo(void)
{
	uint64_t n;

	if (read(fds[0], &n, sizeof(n)) != sizeof(n))
		_exit(1);
	n = n * 3 + 1;
	need(write(fds[3], &n, sizeof(n)) == sizeof(n));
}

static void pipes_setup(void)
{
	need(pipe(fds) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, fds + 2) == 0);
	need(pipe(fds + 4) == 0 && write(fds[5], "in the pipe", 12) == 12);
	child(echo);
}

static void pipes_step(uint64_t step)
{
	uint64_t n;

	need(write(fds[1], &step, sizeof(step)) == sizeof(step));
	need(read(fds[2], &n, sizeof(n)) == sizeof(n) && n == step * 3 + 1);
}

static void pipes_end(uint64_t steps)
{
	char text[64] = "";

	(void)steps;
	need(read(fds[4], text, sizeof(text)) == 12 && !strcmp(text, "in the pipe"));
}

/* --- a named pipe that always holds the number of the step before ----------------------------- */

static void fifo_setup(void)
{
	uint64_t zero = 0;

	unlink("kind.fifo");
	need(mkfifo("kind.fifo", 0600) == 0);
	fds[0] = open("kind.fifo", O_RDWR);
	need(fds[0] >= 0 && write(fds[0], &zero, sizeof(zero)) == sizeof(zero));
}

static void fifo_step(uint64_t step)
{
	uint64_t n;

	need(write(fds[0], &step, sizeof(step)) == sizeof(step));
	need(read(fds[0], &n, sizeof(n)) == sizeof(n) && n == step - 1);
}

/* --- sockets that listen, and connections to them --------------------------------------------- */

static struct sockaddr_storage address;
static socklen_t address_len;

static void listen_setup(int family)
{
	fds[0] = socket(family, SOCK_STREAM, 0);
	need(fds[0] >= 0 && bind(fds[0], (struct sockaddr *)&address, address_len) == 0);
	need(listen(fds[0], 8) == 0);
	address_len = sizeof(address);
	need(getsockname(fds[0], (struct sockaddr *)&address, &address_len) == 0);
	fds[1] = socket(family, SOCK_STREAM, 0);
	need(connect(fds[1], (struct sockaddr *)&address, address_len) == 0);
	fds[2] = accept(fds[0], NULL, NULL);
	need(fds[2] >= 0);
}

static void tcp_setup(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	memcpy(&address, &in, sizeof(in));
	address_len = sizeof(in);
	listen_setup(AF_INET);
}

static void tcp6_setup(void)
{
	struct sockaddr_in6 in = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&in, sizeof(in)) < 0)
		not_here("TCP over IPv6");
	close(fd);
	memcpy(&address, &in, sizeof(in));
	address_len = sizeof(in);
	listen_setup(AF_INET6);
}

static void unix_setup(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "kind.sock"};

	unlink(un.sun_path);
	memcpy(&address, &un, sizeof(un));
	address_len = sizeof(un);
	listen_setup(AF_UNIX);
	memcpy(&address, &un, sizeof(un));
}

static void say(int from, int to, uint64_t step)
{
	uint64_t n;

	need(send(from, &step, sizeof(step), 0) == sizeof(step));
	need(recv(to, &n, sizeof(n), MSG_WAITALL) == sizeof(n) && n == step);
}

static void stream_step(uint64_t step)
{
	say(fds[1], fds[2], step);
	say(fds[2], fds[1], step + 1);
}

/* A new one: only at the end, as a connection that nobody has accepted yet is not in an image. */
static void stream_end(uint64_t steps)
{
	int from = socket(address.ss_family, SOCK_STREAM, 0), to;

	need(connect(from, (struct sockaddr *)&address, address_len) == 0);
	to = accept(fds[0], NULL, NULL);
	need(to >= 0);
	say(from, to, steps);
}

/* --- UDP to oneself, and a question to the kernel --------------------------------------------- */

static void udp_setup(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);

	fds[0] = socket(AF_INET, SOCK_DGRAM, 0);
	need(bind(fds[0], (struct sockaddr *)&in, len) == 0);
	need(getsockname(fds[0], (struct sockaddr *)&in, &len) == 0);
	need(connect(fds[0], (struct sockaddr *)&in, len) == 0);
	fds[1] = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	need(fds[1] >= 0);
}

static void udp_end(uint64_t steps)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg info;
	} m = {.head = {.nlmsg_len = sizeof(m), .nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST}, .info = {.ifi_index = 1}};
	char answer[8192];

	say(fds[0], fds[0], steps);
	need(send(fds[1], &m, sizeof(m), 0) == sizeof(m));
	need(recv(fds[1], answer, sizeof(answer), 0) > (ssize_t)sizeof(m));
	need(((struct nlmsghdr *)answer)->nlmsg_type == RTM_NEWLINK);
}

/* --- shared memory: anonymous, memfd, POSIX with a semaphore, System V ------------------------- */

static void count(void)
{
	shared[0]++;
	usleep(1000);
}

static void shared_setup(void)
{
	shared = shared_memory(BYTES);
	pattern_fill((void *)(shared + 8), BYTES - 64, 9);
	helper = child(count);
}

static void shared_step(uint64_t step)
{
	(void)step;
	wait_change(shared);
}

static void shared_end(uint64_t steps)
{
	(void)steps;
	wait_change(shared);
	pattern_check((void *)(shared + 8), BYTES - 64, 9);
}

static void map_fd(int fd)
{
	need(fd >= 0 && ftruncate(fd, BYTES) == 0);
	shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(shared != MAP_FAILED);
	pattern_fill((void *)(shared + 8), BYTES - 64, 9);
}

static void memfd_setup(void)
{
	fds[0] = memfd_create("kind", MFD_ALLOW_SEALING);
	map_fd(fds[0]);
	need(fcntl(fds[0], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
	helper = child(count);
}

static void memfd_end(uint64_t steps)
{
	uint64_t n = 4711;

	shared_end(steps);
	need(pwrite(fds[0], &n, sizeof(n), 8) == sizeof(n) && shared[1] == n);
	need(fcntl(fds[0], F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW));
	need(ftruncate(fds[0], 2 * BYTES) < 0);
}

static sem_t *semaphore;
static volatile uint64_t *unlinked;

static void count_in_turn(void)
{
	sem_wait(semaphore);
	shared[0]++;
	unlinked[0]++;
	sem_post(semaphore);
	usleep(1000);
}

static void posix_setup(void)
{
	map_fd(shm_open("/kind-gone", O_RDWR | O_CREAT, 0600));
	unlinked = shared;
	need(shm_unlink("/kind-gone") == 0);
	map_fd(shm_open("/kind", O_RDWR | O_CREAT, 0600));
	semaphore = sem_open("/kind", O_CREAT, 0600, 1);
	need(semaphore != SEM_FAILED);
	helper = child(count_in_turn);
}

static void posix_end(uint64_t steps)
{
	uint64_t first;
	int fd = shm_open("/kind", O_RDONLY, 0);

	shared_end(steps);
	sem_wait(semaphore);
	need(shared[0] == unlinked[0]);
	need(pread(fd, &first, sizeof(first), 0) == sizeof(first) && first == shared[0]);
	pattern_check((void *)(unlinked + 8), BYTES - 64, 9);
	sem_post(semaphore);
}

struct message {
	long type;
	uint64_t step;
};

static void sysv_setup(void)
{
	struct message m = {1, 0};

	fds[0] = shmget(42, BYTES, IPC_CREAT | 0600);
	fds[1] = semget(42, 1, IPC_CREAT | 0600);
	fds[2] = msgget(42, IPC_CREAT | 0600);
	need(fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0);
	shared = shmat(fds[0], NULL, 0);
	need(shared != (void *)-1);
	pattern_fill((void *)(shared + 8), BYTES - 64, 9);
	need(msgsnd(fds[2], &m, sizeof(m.step), 0) == 0);
	helper = child(count);
}

static void sysv_step(uint64_t step)
{
	struct message m = {1, step};
	struct sembuf up = {0, 1, 0};

	need(msgsnd(fds[2], &m, sizeof(m.step), 0) == 0);
	need(msgrcv(fds[2], &m, sizeof(m.step), 1, 0) == sizeof(m.step) && m.step == step - 1);
	need(semop(fds[1], &up, 1) == 0);
	wait_change(shared);
}

static void sysv_end(uint64_t steps)
{
	shared_end(steps);
	need(semctl(fds[1], 0, GETVAL) == (int)steps);
	need(shmget(42, 0, 0) == fds[0] && msgget(42, 0) == fds[2]);
}

const struct kind kinds_ipc[] = {
	{"events", events_setup, events_step, events_end},
	{"pipes", pipes_setup, pipes_step, pipes_end},
	{"fifo", fifo_setup, fifo_step, NULL},
	{"tcp", tcp_setup, stream_step, stream_end},
	{"tcp6", tcp6_setup, stream_step, stream_end},
	{"unix", unix_setup, stream_step, stream_end},
	{"udp", udp_setup, NULL, udp_end},
	{"shared", shared_setup, shared_step, shared_end},
	{"memfd", memfd_setup, shared_step, memfd_end},
	{"posix-shm", posix_setup, shared_step, posix_end},
	{"sysv", sysv_setup, sysv_step, sysv_end},
	{0},
};
