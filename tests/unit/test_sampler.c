/* SPDX-License-Identifier: MIT
 * test_sampler.c - the real gq-sampler on the simulated driver, seen through gpu.h
 * Runs in the build folder. Every step waits for what it wants to see; the limit only ends a test
 * that would wait for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "gpu/gpu.h"

#define LIMIT GQ_SEC(60)

struct seen {
	struct gpu *gpu;
	struct gpu_card cards[4];
	int edges[4], samples[4];
	pid_t ours; /* this process counts as a job's */
};

static char dir[] = "/tmp/gq-sampler-XXXXXX";

static void on_report(void *ctx, const struct gpu_card *card, bool sample_only)
{
	struct seen *s = ctx;

	assert_true(card->index < 4);
	s->cards[card->index] = *card;
	if (sample_only)
		s->samples[card->index]++;
	else
		s->edges[card->index]++;
}

static uint32_t on_owner(void *ctx, pid_t pid)
{
	return ((struct seen *)ctx)->ours == pid ? 42 : 0;
}

static void tool(const char *arguments)
{
	char line[256];

	snprintf(line, sizeof(line), "./gq-simgpu %s >/dev/null", arguments);
	assert_int_equal(system(line), 0);
}

static pid_t hold(const char *util)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		execl("./gq-simgpu", "gq-simgpu", "hold", "0", "--vram", "30G", "--util", util,
			"--name", "server", NULL);
		_exit(127);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

typedef bool (*wanted_fn)(const struct seen *s);

static void wait_for(struct seen *s, wanted_fn wanted)
{
	gq_time until = gq_monotonic() + LIMIT;

	while (!wanted(s)) {
		struct pollfd p = {.fd = gpu_fd(s->gpu), .events = POLLIN};

		assert_true(gq_monotonic() < until);
		poll(&p, 1, 1000);
		gpu_dispatch(s->gpu);
	}
}

static const struct gpu_conf conf = {.sampler = "./gq-sampler",
	.period = GQ_MSEC(20), .busy_percent = 10, .hits = 2, .lost_after = GQ_SEC(2)};

static int set_up(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/machine", dir);
	setenv("GQ_SIMGPU", path, 1);
	setenv("LD_LIBRARY_PATH", "lib/simgpu", 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return dir_remove(dir);
}

static int start(void **state)
{
	static struct seen s;
	struct gq_err err = {0};

	tool("create --replace");
	s = (struct seen){0};
	*state = &s;
	return gpu_new(&conf, on_report, on_owner, &s, &s.gpu, &err);
}

static int stop(void **state)
{
	struct seen *s = *state;

	s->gpu = gpu_free(s->gpu);
	return 0;
}

static bool two_cards(const struct seen *s)
{
	return s->cards[0].present && s->cards[1].present;
}

static bool more_samples(const struct seen *s)
{
	return s->samples[0] >= 3;
}

static void test_cards(void **state)
{
	struct seen *s = *state;
	bool simulated = false;
	char text[256];

	wait_for(s, two_cards);
	assert_string_equal(s->cards[1].uuid, "GPU-67710000-7369-6d67-7075-000000000001");
	assert_string_equal(s->cards[0].model, "NVIDIA A100-SXM4-80GB");
	assert_string_equal(s->cards[0].pci_bus_id, "00000000:07:00.0");
	assert_int_equal(s->cards[0].mem_total_mib, 81920);
	assert_int_equal(s->cards[0].foreign_pid, 0);
	wait_for(s, more_samples);
	assert_int_equal(s->edges[0], 1);
	gpu_describe(s->gpu, text, sizeof(text), &simulated);
	assert_string_equal(text, "NVIDIA driver 580.95.05 (CUDA 13.0), 2 cards, simulated");
	assert_true(simulated);
}

static bool is_foreign(const struct seen *s)
{
	return s->cards[0].foreign_pid != 0;
}

static bool is_busy(const struct seen *s)
{
	return s->cards[0].busy;
}

static bool is_free(const struct seen *s)
{
	return !s->cards[0].foreign_pid && !s->cards[0].busy && s->cards[0].mem_used_mib == 0;
}

static void test_foreign(void **state)
{
	struct seen *s = *state;
	pid_t pid;

	wait_for(s, two_cards);
	pid = hold("50");
	wait_for(s, is_foreign);
	assert_int_equal(s->cards[0].foreign_pid, pid);
	assert_string_equal(s->cards[0].foreign_name, "server");
	assert_int_equal(s->cards[0].foreign_mib, 30720);
	assert_int_equal(s->cards[1].foreign_pid, 0);
	wait_for(s, is_busy);
	end(pid);
	wait_for(s, is_free);
}

static bool is_used(const struct seen *s)
{
	return s->cards[0].mem_used_mib > 0 && s->samples[0] >= 5;
}

static void test_ours(void **state)
{
	struct seen *s = *state;

	s->ours = hold("90");
	wait_for(s, is_used);
	assert_false(s->cards[0].busy); /* our job's own load is none */
	assert_int_equal(s->cards[0].foreign_pid, 0);
	assert_int_equal(s->cards[0].util_percent, 90);
	end(s->ours);
	wait_for(s, is_free);
}

static bool is_fault(const struct seen *s)
{
	return s->cards[1].fault;
}

static bool is_app_xid(const struct seen *s)
{
	return s->cards[0].xid == 31;
}

static void test_xid(void **state)
{
	struct seen *s = *state;

	wait_for(s, two_cards);
	tool("xid 0 31");
	tool("xid 1 79");
	wait_for(s, is_fault);
	wait_for(s, is_app_xid);
	assert_int_equal(s->cards[1].xid, 79);
	assert_false(s->cards[0].fault);
}

static bool is_dropped(const struct seen *s)
{
	return s->edges[1] > 0 && !s->cards[1].present;
}

static void test_drop(void **state)
{
	struct seen *s = *state;

	wait_for(s, two_cards);
	tool("drop 1");
	wait_for(s, is_dropped);
	assert_true(s->cards[0].present);
	tool("return 1");
	wait_for(s, two_cards);
}

/* The only child that is a gq-sampler. */
static pid_t sampler_pid(void)
{
	_cleanup_closedir_ DIR *d = opendir("/proc");
	struct dirent *e;
	char path[300], line[256], name[32];
	int pid, ppid;

	while ((e = readdir(d))) {
		_cleanup_fclose_ FILE *f = NULL;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = fopen(path, "re");
		if (f && fgets(line, sizeof(line), f) &&
			sscanf(line, "%d (%31[^)]) %*c %d", &pid, name, &ppid) == 3 &&
			ppid == getpid() && strcmp(name, "gq-sampler") == 0)
			return pid;
	}
	return 0;
}

static void test_killed(void **state)
{
	struct seen *s = *state;
	pid_t first;

	wait_for(s, two_cards);
	first = sampler_pid();
	assert_true(first > 0);
	kill(first, SIGKILL);
	s->samples[0] = 0;
	wait_for(s, more_samples);
	assert_int_not_equal(sampler_pid(), first);
	assert_int_equal(s->edges[0], 1); /* gone for a moment is no edge */
}

static bool all_lost(const struct seen *s)
{
	return s->edges[0] > 1 && !s->cards[0].present && !s->cards[1].present;
}

static void test_hangs(void **state)
{
	struct seen *s = *state;
	bool simulated;
	char text[256];

	wait_for(s, two_cards);
	tool("fail nvmlDeviceGetMemoryInfo hang");
	wait_for(s, all_lost);
	gpu_describe(s->gpu, text, sizeof(text), &simulated);
	assert_string_equal(text, "NVIDIA driver: it does not answer");
	tool("fail --clear");
	wait_for(s, two_cards);
}

static void test_driver_gone(void **state)
{
	struct seen *s = *state;
	bool simulated;
	char text[256];

	wait_for(s, two_cards);
	tool("destroy");
	wait_for(s, all_lost);
	gpu_describe(s->gpu, text, sizeof(text), &simulated);
	assert_non_null(strstr(text, "gq-simgpu create"));
	tool("create");
	wait_for(s, two_cards);
}

static bool is_told(const struct seen *s)
{
	bool simulated;
	char text[256];

	gpu_describe(s->gpu, text, sizeof(text), &simulated);
	return strstr(text, "not found") != NULL;
}

static void test_no_library(void **state)
{
	struct gpu_conf c = conf;
	struct seen s = {0};

	(void)state;
	c.nvml_library = "libno-such-thing.so.1";
	assert_int_equal(gpu_new(&c, on_report, on_owner, &s, &s.gpu, NULL), 0);
	wait_for(&s, is_told);
	s.gpu = gpu_free(s.gpu);
	c.sampler = "./no-such-sampler";
	assert_int_equal(gpu_new(&c, on_report, on_owner, &s, &s.gpu, NULL), -ENOENT);
}

static bool next_sample(const struct seen *s)
{
	return s->samples[0] > 0;
}

static void test_poke(void **state)
{
	struct gpu_conf c = conf;
	struct seen s = {0};

	(void)state;
	tool("create --replace");
	c.period = GQ_SEC(3600); /* nothing comes by itself within the limit */
	c.lost_after = GQ_SEC(7200);
	assert_int_equal(gpu_new(&c, on_report, on_owner, &s, &s.gpu, NULL), 0);
	wait_for(&s, two_cards);
	gpu_poke(s.gpu);
	wait_for(&s, next_sample);
	s.gpu = gpu_free(s.gpu);
}

#define CARD_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {CARD_TEST(test_cards), CARD_TEST(test_foreign),
		CARD_TEST(test_ours), CARD_TEST(test_xid), CARD_TEST(test_drop), CARD_TEST(test_killed),
		CARD_TEST(test_hangs), CARD_TEST(test_driver_gone), cmocka_unit_test(test_no_library),
		cmocka_unit_test(test_poke)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
