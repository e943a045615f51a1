/* SPDX-License-Identifier: MIT
 * kinds_process.c - threads, trees, timers, children in odd states, filters */
#include "kinds.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS   8
#define CHILDREN  100
#define TREE_FAN  3

static volatile uint64_t *beats; /* shared with all children */
static pid_t helper, other;

/* --- threads, each with a variable of its own and all with a lock ----------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static _Thread_local uint64_t mine;

static void *thread_run(void *arg)
{
	volatile uint64_t *beat = arg;

	for (;;) {
		pthread_mutex_lock(&lock);
		need(mine++ == *beat);
		++*beat;
		pthread_cond_broadcast(&moved);
		pthread_mutex_unlock(&lock);
		usleep(1000);
	}
	return NULL;
}

static void threads_setup(void)
{
	pthread_t t;

	beats = calloc(THREADS, sizeof(*beats));
	for (int i = 0; i < THREADS; i++)
		need(pthread_create(&t, NULL, thread_run, (void *)&beats[i]) == 0);
}

static void threads_step(uint64_t step)
{
	volatile uint64_t *beat = &beats[step % THREADS];
	uint64_t was;

	pthread_mutex_lock(&lock);
	was = *beat;
	while (*beat == was)
		pthread_cond_wait(&moved, &lock);
	pthread_mutex_unlock(&lock);
}

static void threads_end(uint64_t steps)
{
	for (int i = 0; i < THREADS; i++)
		threads_step(steps + (uint64_t)i);
}

/* --- many processes, and a tree of them with sessions and groups of their own ------------------ */

static int number;

static void beat(void)
{
	beats[number]++;
	usleep(20000);
}

static void many_setup(void)
{
	beats = shared_memory(CHILDREN * sizeof(*beats));
	for (number = 0; number < CHILDREN; number++)
		child(beat);
}

static void many_step(uint64_t step)
{
	wait_change(&beats[step % CHILDREN]);
}

static void tree_node(int depth, int id)
{
	if (depth == 1)
		setsid();
	else if (depth == 2)
		setpgid(0, 0);
	for (int i = 0; depth < 3 && i < TREE_FAN; i++) {
		pid_t pid = fork();

		need(pid >= 0);
		if (!pid) {
			signal(SIGTERM, SIG_IGN);
			tree_node(depth + 1, id * TREE_FAN + i + 1);
		}
	}
	number = id;
	while (depth)
		beat();
}

static void tree_setup(void)
{
	beats = shared_memory(64 * sizeof(*beats));
	tree_node(0, 0);
}

static void tree_step(uint64_t step)
{
	wait_change(&beats[1 + step % 39]);
}

static void tree_end(uint64_t steps)
{
	(void)steps;
	for (int i = 1; i < 40; i++)
		wait_change(&beats[i]);
}

/* --- a zombie and a stopped child -------------------------------------------------------------- */

static void stop_then_beat(void)
{
	if (!beats[0])
		raise(SIGSTOP);
	beats[0]++;
	usleep(1000);
}

static void states_setup(void)
{
	siginfo_t info;

	beats = shared_memory(4096);
	helper = fork();
	if (!helper)
		_exit(7);
	need(waitid(P_PID, (id_t)helper, &info, WEXITED | WNOWAIT) == 0);
	other = child(stop_then_beat);
	need(waitid(P_PID, (id_t)other, &info, WSTOPPED | WNOWAIT) == 0);
}

static void states_step(uint64_t step)
{
	(void)step;
	need(beats[0] == 0);
}

static void states_end(uint64_t steps)
{
	int status;

	(void)steps;
	need(waitpid(helper, &status, 0) == helper && WIFEXITED(status) && WEXITSTATUS(status) == 7);
	need(kill(other, SIGCONT) == 0);
	wait_change(beats);
}

/* --- timers: POSIX, interval, and a thread that sleeps ------------------------------------------ */

static volatile uint64_t ticks[3];

static void on_tick(int sig)
{
	ticks[sig == SIGALRM]++;
}

static void *sleeper(void *arg)
{
	(void)arg;
	for (;; ticks[2]++)
		nanosleep(&(struct timespec){0, 5000000}, NULL);
	return NULL;
}

static void timers_setup(void)
{
	struct itimerval i = {{0, 3000}, {0, 3000}};
	struct itimerspec p = {{0, 2000000}, {0, 2000000}};
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	pthread_t t;
	timer_t id;

	signal(SIGALRM, on_tick);
	signal(SIGUSR2, on_tick);
	need(timer_create(CLOCK_MONOTONIC, &e, &id) == 0 && timer_settime(id, 0, &p, NULL) == 0);
	need(setitimer(ITIMER_REAL, &i, NULL) == 0);
	need(pthread_create(&t, NULL, sleeper, NULL) == 0);
}

static void timers_step(uint64_t step)
{
	wait_change(&ticks[step % 3]);
}

static void timers_end(uint64_t steps)
{
	for (int i = 0; i < 3; i++)
		timers_step(steps + (uint64_t)i);
}

/* --- a descriptor of a child --------------------------------------------------------------------- */

static void sleep_on(void)
{
	pause();
}

static void pidfd_setup(void)
{
	helper = child(sleep_on);
	number = (int)syscall(SYS_pidfd_open, helper, 0);
	need(number >= 0);
}

static void pidfd_step(uint64_t step)
{
	struct pollfd p = {number, POLLIN, 0};

	(void)step;
	need(poll(&p, 1, 0) == 0);
}

static void pidfd_end(uint64_t steps)
{
	struct pollfd p = {number, POLLIN, 0};

	(void)steps;
	need(syscall(SYS_pidfd_send_signal, number, SIGKILL, NULL, 0) == 0);
	need(poll(&p, 1, 10000) == 1 && waitpid(helper, NULL, 0) == helper);
}

/* --- a filter of system calls --------------------------------------------------------------------- */

static struct sock_filter filter_code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void seccomp_setup(void)
{
	struct sock_fprog f = {sizeof(filter_code) / sizeof(*filter_code), filter_code};

	need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &f) == 0);
}

static void seccomp_step(uint64_t step)
{
	(void)step;
	need(syscall(SYS_getppid) == -1 && errno == EXDEV);
}

/* --- a process that wants to die with its parent --------------------------------------------------- */

static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	beats[0]++;
	usleep(1000);
}

static void pdeathsig_setup(void)
{
	need(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	beats = shared_memory(4096);
	helper = child(die_with_parent);
}

static void pdeathsig_step(uint64_t step)
{
	(void)step;
	wait_change(beats);
}

static void pdeathsig_end(uint64_t steps)
{
	int sig = 0;

	(void)steps;
	need(prctl(PR_GET_PDEATHSIG, &sig) == 0 && sig == SIGKILL);
}

/* --- priority, CPUs, name -------------------------------------------------------------------------- */

static void attributes_setup(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	need(sched_setaffinity(0, sizeof(set), &set) == 0);
	need(nice(5) == 5 && prctl(PR_SET_NAME, "renamed", 0, 0, 0) == 0);
	need(sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}) == 0);
}

static void attributes_step(uint64_t step)
{
	char name[16] = "";

	(void)step;
	need(prctl(PR_GET_NAME, name, 0, 0, 0) == 0 && !strcmp(name, "renamed"));
	errno = 0;
	need(nice(0) == 5 && !errno && sched_getscheduler(0) == SCHED_BATCH);
}

const struct kind kinds_process[] = {
	{"threads", threads_setup, threads_step, threads_end},
	{"many", many_setup, many_step, NULL},
	{"tree", tree_setup, tree_step, tree_end},
	{"states", states_setup, states_step, states_end},
	{"timers", timers_setup, timers_step, timers_end},
	{"pidfd", pidfd_setup, pidfd_step, pidfd_end},
	{"seccomp", seccomp_setup, seccomp_step, NULL},
	{"pdeathsig", pdeathsig_setup, pdeathsig_step, pdeathsig_end},
	{"attributes", attributes_setup, attributes_step, NULL},
	{0},
};
