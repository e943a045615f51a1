/* SPDX-License-Identifier: MIT
 * kinds_foreign.c - what no image can hold: it must be found before anything is frozen */
#include "kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void io_uring_setup(void)
{
	char params[120] = {0};

	if (syscall(SYS_io_uring_setup, 4, params) < 0)
		not_here("io_uring");
}

static void perf_setup(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(a),
		.config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};

	if (syscall(SYS_perf_event_open, &a, 0, -1, -1, 0) < 0)
		not_here("perf_event_open");
}

static void fanotify_setup(void)
{
	if (fanotify_init(FAN_CLASS_NOTIF, O_RDONLY) < 0)
		not_here("fanotify");
}

static void userfaultfd_setup(void)
{
	if (syscall(SYS_userfaultfd, 0) < 0)
		not_here("userfaultfd");
}

static void bpf_setup(void)
{
	struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr a = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2,
		.insns = (uintptr_t)code, .license = (uintptr_t) "GPL"};

	if (syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a)) < 0)
		not_here("bpf");
}

static void device(const char *path)
{
	if (open(path, O_RDWR) < 0)
		not_here(path);
}

static void fuse_setup(void)
{
	device("/dev/fuse");
}

static void tun_setup(void)
{
	device("/dev/net/tun");
}

static void loop_setup(void)
{
	device("/dev/loop-control");
}

static void pty_setup(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);

	if (fd < 0 || unlockpt(fd) < 0 || open(ptsname(fd), O_RDWR | O_NOCTTY) < 0)
		not_here("terminals");
}

static void notify_setup(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog f = {1, code};

	need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &f) < 0)
		not_here("seccomp notification");
}

static void sleep_on(void)
{
	pause();
}

static void traced_setup(void)
{
	pid_t pid = child(sleep_on);

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		not_here("ptrace");
}

static void hugetlb_setup(void)
{
	char *p = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (p == MAP_FAILED)
		not_here("MAP_HUGETLB");
	*p = 1;
}

/* Another process has opened the other end of kind.outside. */
static void pipe_setup(void)
{
	need(open("kind.outside", O_WRONLY) >= 0);
}

static void namespace_setup(void)
{
	if (syscall(SYS_unshare, 0x40000000 /* CLONE_NEWNET */) < 0)
		not_here("network namespaces");
}

static void orphan_setup(void)
{
	pid_t pid = fork();

	if (!pid) {
		child(sleep_on);
		_exit(0);
	}
	need(waitpid(pid, NULL, 0) == pid);
}

const struct kind kinds_foreign[] = {
	{.name = "io_uring", .setup = io_uring_setup},
	{.name = "perf", .setup = perf_setup},
	{.name = "fanotify", .setup = fanotify_setup},
	{.name = "userfaultfd", .setup = userfaultfd_setup},
	{.name = "bpf", .setup = bpf_setup},
	{.name = "fuse", .setup = fuse_setup},
	{.name = "tun", .setup = tun_setup},
	{.name = "loop", .setup = loop_setup},
	{.name = "pty", .setup = pty_setup},
	{.name = "notify", .setup = notify_setup},
	{.name = "traced", .setup = traced_setup},
	{.name = "hugetlb", .setup = hugetlb_setup},
	{.name = "pipe", .setup = pipe_setup},
	{.name = "namespace", .setup = namespace_setup},
	{.name = "orphan", .setup = orphan_setup},
	{0},
};
