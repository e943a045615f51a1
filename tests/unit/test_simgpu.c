/* SPDX-License-Identifier: MIT
 * test_simgpu.c - the simulated driver as a foreign program sees it: dlopen, real processes
 * Runs in the build folder; the machine is a file in a folder of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "nvabi/cuda.h"
#include "nvabi/nvml.h"

#define GIB (UINT64_C(1) << 30)

static char dir[] = "/tmp/gq-simgpu-XXXXXX";
static void *nvml, *cu;

#define NVML(name) ((__typeof__(name) *)dlsym(nvml, #name))
#define CU(name)   ((__typeof__(name) *)dlsym(cu, #name))

static int tool(const char *arguments)
{
	char line[256];

	snprintf(line, sizeof(line), "./gq-simgpu %s >/dev/null 2>&1", arguments);
	return WEXITSTATUS(system(line));
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/machine", dir);
	setenv("GQ_SIMGPU", path, 1);
	nvml = dlopen("lib/simgpu/libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	cu = dlopen("lib/simgpu/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	return nvml && cu ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return dir_remove(dir);
}

static int fresh_machine(void **state)
{
	(void)state;
	if (tool("create --replace --cards 2 --memory 80G --context-memory 1G") != 0)
		return -1;
	return NVML(nvmlInit_v2)();
}

static int close_machine(void **state)
{
	(void)state;
	NVML(nvmlShutdown)();
	return 0;
}

static struct nv_device *card(unsigned i)
{
	struct nv_device *d = NULL;

	assert_int_equal(NVML(nvmlDeviceGetHandleByIndex_v2)(i, &d), NV_SUCCESS);
	return d;
}

static uint64_t used(unsigned i)
{
	struct nv_memory m;

	assert_int_equal(NVML(nvmlDeviceGetMemoryInfo)(card(i), &m), NV_SUCCESS);
	assert_int_equal(m.total, 80 * GIB);
	assert_int_equal(m.free, m.total - m.used);
	return m.used;
}

static void test_no_driver(void **state)
{
	struct nv_device *d = NULL;

	(void)state;
	tool("destroy");
	assert_int_equal(NVML(nvmlInit_v2)(), NV_DRIVER_NOT_LOADED);
	assert_int_equal(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &d), NV_UNINITIALIZED);
	assert_int_equal(CU(cuInit)(0), CU_ERROR_NO_DEVICE);
}

static void test_cards(void **state)
{
	char text[96];
	unsigned n = 0, index = 9;
	struct nv_pci_info pci;
	struct nv_memory_v2 m = {.version = NV_MEMORY_V2};
	struct nv_device *d = NULL;
	int cuda = 0;

	(void)state;
	assert_int_equal(NVML(nvmlDeviceGetCount_v2)(&n), NV_SUCCESS);
	assert_int_equal(n, 2);
	assert_int_equal(NVML(nvmlSystemGetDriverVersion)(text, sizeof(text)), NV_SUCCESS);
	assert_string_equal(text, "580.95.05");
	assert_int_equal(NVML(nvmlSystemGetDriverVersion)(text, 4), NV_INSUFFICIENT_SIZE);
	assert_int_equal(NVML(nvmlSystemGetCudaDriverVersion_v2)(&cuda), NV_SUCCESS);
	assert_int_equal(cuda, 13000);
	assert_int_equal(NVML(nvmlDeviceGetName)(card(0), text, sizeof(text)), NV_SUCCESS);
	assert_string_equal(text, "NVIDIA A100-SXM4-80GB");
	assert_int_equal(NVML(nvmlDeviceGetUUID)(card(1), text, sizeof(text)), NV_SUCCESS);
	assert_string_equal(text, "GPU-67710000-7369-6d67-7075-000000000001");
	assert_int_equal(NVML(nvmlDeviceGetHandleByUUID)(text, &d), NV_SUCCESS);
	assert_int_equal(NVML(nvmlDeviceGetIndex)(d, &index), NV_SUCCESS);
	assert_int_equal(index, 1);
	assert_int_equal(NVML(nvmlDeviceGetPciInfo_v3)(d, &pci), NV_SUCCESS);
	assert_string_equal(pci.bus_id, "00000000:0F:00.0");
	assert_int_equal(NVML(nvmlDeviceGetHandleByPciBusId_v2)("0000:0f:00.0", &d), NV_SUCCESS);
	assert_ptr_equal(d, card(1));
	assert_int_equal(NVML(nvmlDeviceGetMemoryInfo_v2)(d, &m), NV_SUCCESS);
	assert_int_equal(m.free, 80 * GIB);
	assert_int_equal(NVML(nvmlDeviceGetHandleByIndex_v2)(2, &d), NV_INVALID_ARGUMENT);
}

/* A process that runs @body with libcuda, tells us by a byte, and stays until it is killed. */
struct child {
	pid_t pid; /* in our namespace */
	int ready; /* read end */
};

typedef void (*child_fn)(int tell);

static struct child child_start(child_fn body, bool own_ns)
{
	struct child c;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	c.pid = fork();
	if (c.pid == 0) {
		if (own_ns) {
			pid_t inner;
			int go[2];
			char end;

			if (unshare(CLONE_NEWPID) < 0 || pipe2(go, O_CLOEXEC) < 0)
				_exit(1);
			inner = fork();
			if (inner > 0) {
				dprintf(fds[1], "%d\n", inner);
				close(fds[1]);
				close(go[1]);
				pause();
			}
			/* What it has to say comes second: wait until the other end is closed. */
			close(go[1]);
			if (read(go[0], &end, 1) != 0)
				_exit(1);
		} else {
			dprintf(fds[1], "%d\n", getpid());
		}
		body(fds[1]);
		for (;;)
			pause();
	}
	close(fds[1]);
	c.ready = fds[0];
	return c;
}

/* The next line that a child wrote: one read per line, as each is one write. */
static int child_line(struct child *c)
{
	char text[32] = "";
	size_t n = 0;

	while (n < sizeof(text) - 1 && read(c->ready, text + n, 1) == 1 && text[n] != '\n')
		n++;
	return strtol(text, NULL, 10);
}

static void child_end(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->ready);
}

static void allocate(int tell)
{
	struct cu_context *ctx = NULL;
	unsigned char buf[1000];
	cu_ptr p = 0;
	int r;

	r = CU(cuInit)(0);
	r = r ? r : CU(cuDevicePrimaryCtxRetain)(&ctx, 0);
	r = r ? r : CU(cuCtxSetCurrent)(ctx);
	r = r ? r : CU(cuMemAlloc_v2)(&p, 20 * GIB);
	r = r ? r : CU(cuMemsetD8_v2)(p, 0x5a, sizeof(buf));
	dprintf(tell, "%d\n", r);
	for (int turn = 0; r == 0; turn++) { /* computes until it is locked */
		r = CU(cuMemcpyDtoH_v2)(buf, p, sizeof(buf));
		if (buf[999] != 0x5a)
			r = -1;
		if (turn % 64 == 0)
			usleep(100);
	}
	dprintf(tell, "%d\n", r);
}

static struct nv_process only_process(unsigned i)
{
	struct nv_process list[8];
	unsigned n = 8;

	assert_int_equal(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(card(i), &n, list), NV_SUCCESS);
	assert_int_equal(n, 1);
	return list[0];
}

static void test_process(void **state)
{
	struct child c = child_start(allocate, false);
	struct nv_process_util u[4];
	struct nv_process p;
	unsigned n = 0;

	(void)state;
	assert_int_equal(child_line(&c), c.pid);
	assert_int_equal(child_line(&c), 0);
	p = only_process(0);
	assert_int_equal(p.pid, c.pid);
	assert_int_equal(p.used, 21 * GIB); /* its context counts */
	assert_int_equal(used(0), 21 * GIB);
	assert_int_equal(used(1), 0);
	assert_int_equal(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(card(0), &n, NULL),
		NV_INSUFFICIENT_SIZE);
	assert_int_equal(n, 1);
	n = 4;
	assert_int_equal(NVML(nvmlDeviceGetProcessUtilization)(card(0), u, &n, 0), NV_SUCCESS);
	assert_int_equal(u[0].pid, c.pid);
	assert_true(u[0].sm > 0);
	child_end(&c);
	assert_int_equal(used(0), 0);
}

/* NVML tells host pids, whatever namespace the process is in. */
static void test_namespace(void **state)
{
	struct child c;
	int pid;

	(void)state;
	if (geteuid() != 0) {
		print_message("# a PID namespace needs root\n");
		return;
	}
	c = child_start(allocate, true);
	pid = child_line(&c);
	assert_int_equal(child_line(&c), 0);
	assert_int_equal(only_process(0).pid, pid);
	kill(pid, SIGKILL);
	while (used(0) > 0)
		usleep(1000);
	child_end(&c);
}

static void assert_state(int pid, int want)
{
	int got = -1;

	assert_int_equal(CU(cuCheckpointProcessGetState)(pid, &got), CU_SUCCESS);
	assert_int_equal(got, want);
}

static void test_checkpoint(void **state)
{
	struct child c = child_start(allocate, false);
	struct cu_lock_args lock = {.timeout_ms = 10000};
	int tid = 0;

	(void)state;
	assert_int_equal(child_line(&c), c.pid);
	assert_int_equal(child_line(&c), 0);
	assert_int_equal(CU(cuCheckpointProcessGetRestoreThreadId)(c.pid, &tid), CU_SUCCESS);
	assert_true(tid > 0 && tid != c.pid);
	assert_int_equal(CU(cuCheckpointProcessGetState)(getpid(), &tid), CU_ERROR_INVALID_VALUE);
	assert_state(c.pid, CU_PROCESS_RUNNING);
	assert_int_equal(CU(cuCheckpointProcessCheckpoint)(c.pid, NULL), CU_ERROR_ILLEGAL_STATE);
	assert_int_equal(CU(cuCheckpointProcessLock)(c.pid, &lock), CU_SUCCESS);
	assert_state(c.pid, CU_PROCESS_LOCKED);
	assert_int_equal(used(0), 21 * GIB);
	assert_int_equal(CU(cuCheckpointProcessCheckpoint)(c.pid, NULL), CU_SUCCESS);
	assert_state(c.pid, CU_PROCESS_CHECKPOINTED);
	assert_int_equal(used(0), 0);
	assert_int_equal(CU(cuCheckpointProcessUnlock)(c.pid, NULL), CU_ERROR_ILLEGAL_STATE);
	assert_int_equal(CU(cuCheckpointProcessRestore)(c.pid, NULL), CU_SUCCESS);
	assert_state(c.pid, CU_PROCESS_LOCKED);
	assert_int_equal(used(0), 21 * GIB);
	assert_int_equal(CU(cuCheckpointProcessUnlock)(c.pid, NULL), CU_SUCCESS);
	assert_state(c.pid, CU_PROCESS_RUNNING);
	child_end(&c);
}

static void park(int pid)
{
	assert_int_equal(CU(cuCheckpointProcessLock)(pid, NULL), CU_SUCCESS);
	assert_int_equal(CU(cuCheckpointProcessCheckpoint)(pid, NULL), CU_SUCCESS);
}

static struct cu_uuid uuid_of(int i)
{
	struct cu_uuid id = {{0x67, 0x71, 0, 0, 0x73, 0x69, 0x6d, 0x67, 0x70, 0x75}};

	id.bytes[15] = i;
	return id;
}

static void test_other_card(void **state)
{
	struct child c = child_start(allocate, false);
	struct cu_gpu_pair pair = {uuid_of(0), uuid_of(1)};
	struct cu_restore_args args = {.pairs = &pair, .n_pairs = 1};

	(void)state;
	child_line(&c);
	assert_int_equal(child_line(&c), 0);
	park(c.pid);
	pair.old_uuid = uuid_of(1);
	assert_int_equal(CU(cuCheckpointProcessRestore)(c.pid, &args), CU_ERROR_INVALID_VALUE);
	pair.old_uuid = uuid_of(0);
	assert_int_equal(CU(cuCheckpointProcessRestore)(c.pid, &args), CU_SUCCESS);
	assert_int_equal(CU(cuCheckpointProcessUnlock)(c.pid, NULL), CU_SUCCESS);
	assert_int_equal(used(0), 0);
	assert_int_equal(used(1), 21 * GIB);
	child_end(&c);
}

static void hold_first(int tell)
{
	if (freopen("/dev/null", "w", stdout)) /* our own is TAP */
		execl("./gq-simgpu", "gq-simgpu", "hold", "0", "--vram", "70G", NULL);
	dprintf(tell, "-1\n");
}

static void test_restore_without_room(void **state)
{
	struct child c = child_start(allocate, false), h;

	(void)state;
	child_line(&c);
	assert_int_equal(child_line(&c), 0);
	park(c.pid);
	h = child_start(hold_first, false);
	while (used(0) == 0)
		usleep(1000);
	assert_int_equal(CU(cuCheckpointProcessRestore)(c.pid, NULL), CU_ERROR_OUT_OF_MEMORY);
	assert_state(c.pid, CU_PROCESS_FAILED);
	child_end(&h);
	assert_int_equal(CU(cuCheckpointProcessRestore)(c.pid, NULL), CU_ERROR_OPERATING_SYSTEM);
	assert_int_equal(CU(cuCheckpointProcessUnlock)(c.pid, NULL), CU_ERROR_ILLEGAL_STATE);
	child_end(&c);
}

static void see_second_only(int tell)
{
	char name[64] = "";
	struct cu_uuid id;
	int n = 0;

	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	setenv("CUDA_VISIBLE_DEVICES", "GPU-67710000-7369-6d67-7075-000000000001,7,0", 1);
	if (CU(cuInit)(0) == 0 && CU(cuDeviceGetCount)(&n) == 0 && n == 1 &&
		CU(cuDeviceGetUuid_v2)(&id, 0) == 0 && id.bytes[15] == 1 &&
		CU(cuDeviceGetName)(name, sizeof(name), 0) == 0)
		dprintf(tell, "1\n");
	dprintf(tell, "0\n");
}

static void see_none(int tell)
{
	setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
	dprintf(tell, "%d\n", CU(cuInit)(0));
}

static void test_visible(void **state)
{
	struct child c = child_start(see_second_only, false);

	(void)state;
	child_line(&c);
	assert_int_equal(child_line(&c), 1);
	child_end(&c);
	c = child_start(see_none, false);
	child_line(&c);
	assert_int_equal(child_line(&c), CU_ERROR_NO_DEVICE);
	child_end(&c);
}

static void ask_too_much(int tell)
{
	struct cu_context *ctx = NULL;
	cu_ptr p = 0;
	size_t left = 0, total = 0;
	void *fn = NULL;
	int status = 9;

	CU(cuInit)(0);
	CU(cuCtxCreate_v2)(&ctx, 0, 1);
	dprintf(tell, "%d\n", CU(cuMemAlloc_v2)(&p, 80 * GIB));
	dprintf(tell, "%d\n", CU(cuMemAlloc_v2)(&p, 79 * GIB));
	CU(cuMemGetInfo_v2)(&left, &total);
	dprintf(tell, "%d\n", left == 0 && total == 80 * GIB);
	dprintf(tell, "%d\n", CU(cuMemsetD32_v2)(p + 79 * GIB - 4, 1, 2));
	dprintf(tell, "%d\n", CU(cuCtxDestroy_v2)(ctx));
	dprintf(tell, "%d\n", CU(cuMemFree_v2)(p)); /* went with its context */
	CU(cuGetProcAddress_v2)("cuCheckpointProcessLock", &fn, 12080, 0, &status);
	dprintf(tell, "%d\n", fn == dlsym(cu, "cuCheckpointProcessLock") && status == 0);
	CU(cuGetProcAddress_v2)("cuCheckpointProcessLock", &fn, 12000, 0, &status);
	dprintf(tell, "%d\n", fn ? -1 : status);
}

static void test_limits(void **state)
{
	struct child c = child_start(ask_too_much, false);

	(void)state;
	child_line(&c);
	assert_int_equal(child_line(&c), CU_ERROR_OUT_OF_MEMORY);
	assert_int_equal(child_line(&c), CU_SUCCESS);
	assert_int_equal(child_line(&c), 1);
	assert_int_equal(child_line(&c), CU_ERROR_INVALID_VALUE);
	assert_int_equal(child_line(&c), CU_SUCCESS);
	assert_int_equal(child_line(&c), CU_ERROR_INVALID_VALUE);
	assert_int_equal(child_line(&c), 1);
	assert_int_equal(child_line(&c), CU_PROC_TOO_OLD);
	child_end(&c);
}

static void test_steer(void **state)
{
	struct nv_utilization u;
	struct nv_memory m;
	struct nv_device *d = card(0);
	struct nv_event e;
	struct nv_event_set *set = NULL;
	unsigned celsius = 0;

	(void)state;
	assert_int_equal(tool("set 0 --util 37 --temp 60"), 0);
	assert_int_equal(NVML(nvmlDeviceGetUtilizationRates)(d, &u), NV_SUCCESS);
	assert_int_equal(u.gpu, 37);
	assert_int_equal(NVML(nvmlDeviceGetTemperature)(d, 0, &celsius), NV_SUCCESS);
	assert_int_equal(celsius, 60);
	assert_int_equal(NVML(nvmlEventSetCreate)(&set), NV_SUCCESS);
	assert_int_equal(NVML(nvmlDeviceRegisterEvents)(d, NV_EVENT_XID, set), NV_SUCCESS);
	assert_int_equal(NVML(nvmlEventSetWait_v2)(set, &e, 0), NV_TIMEOUT);
	assert_int_equal(tool("xid 1 48"), 0); /* not registered for that card */
	assert_int_equal(tool("xid 0 79"), 0);
	assert_int_equal(NVML(nvmlEventSetWait_v2)(set, &e, 10000), NV_SUCCESS);
	assert_ptr_equal(e.device, d);
	assert_int_equal(e.data, 79);
	NVML(nvmlEventSetFree)(set);
	assert_int_equal(tool("drop 0"), 0);
	assert_int_equal(NVML(nvmlDeviceGetMemoryInfo)(d, &m), NV_GPU_IS_LOST);
	assert_int_equal(tool("return 0"), 0);
	assert_int_equal(tool("fail nvmlDeviceGetMemoryInfo IN_USE --times 1"), 0);
	assert_int_equal(NVML(nvmlDeviceGetMemoryInfo)(d, &m), NV_IN_USE);
	assert_int_equal(NVML(nvmlDeviceGetMemoryInfo)(d, &m), NV_SUCCESS);
	assert_int_equal(tool("destroy"), 0);
	assert_int_equal(NVML(nvmlDeviceGetMemoryInfo)(d, &m), NV_DRIVER_NOT_LOADED);
}

static void test_tool_errors(void **state)
{
	(void)state;
	assert_int_equal(tool("create"), 1); /* there is one */
	assert_int_equal(tool("create --cards 99"), 2);
	assert_int_equal(tool("create --memory much"), 2);
	assert_int_equal(tool("set 7 --util 3"), 2);
	assert_int_equal(tool("set 0 --util 101"), 2);
	assert_int_equal(tool("hold 0"), 2);
	assert_int_equal(tool("hold 0 --vram 90G"), 1);
	assert_int_equal(tool("fail nvmlInit_v2 NONSENSE"), 2);
	assert_int_equal(tool("fail open EIO"), 2);
	assert_int_equal(tool("nonsense"), 2);
	assert_int_equal(tool(""), 2);
	assert_int_equal(tool("--help"), 0);
	assert_int_equal(tool("list"), 0);
	assert_int_equal(tool("-f /nonexistent/machine list"), 1);
	assert_int_equal(tool("-f ./gq-simgpu list"), 1);
}

#define MACHINE_TEST(name) cmocka_unit_test_setup_teardown(name, fresh_machine, close_machine)

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_driver), MACHINE_TEST(test_cards),
		MACHINE_TEST(test_process), MACHINE_TEST(test_namespace), MACHINE_TEST(test_visible),
		MACHINE_TEST(test_limits), MACHINE_TEST(test_checkpoint), MACHINE_TEST(test_other_card),
		MACHINE_TEST(test_restore_without_room), MACHINE_TEST(test_tool_errors),
		MACHINE_TEST(test_steer)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
