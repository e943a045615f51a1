/* SPDX-License-Identifier: MIT
 * tool_steer.c - gq-simgpu set, hold, xid, drop, return, fail */
#include "tool.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"

/* Commands of the form `NAME CARD …`: opens the machine, finds the card. */
static int open_card(struct tool *t, int words, int want, struct sim *s, struct gq_err *err)
{
	int r, card;

	if (words != want)
		return gq_err_set(err, -EINVAL, "%s: %s", t->argv[0],
			words < want ? "something is missing" : "too many words");
	r = tool_open(t, s, err);
	if (r < 0)
		return r;
	card = tool_card(s, t->argv[1], err);
	if (card < 0)
		tool_done(s);
	return card;
}

int tool_set(struct tool *t, struct gq_err *err)
{
	const char *util = NULL, *mem_util = NULL, *temp = NULL, *power = NULL;
	const struct tool_option options[] = {{"--util", &util, NULL},
		{"--mem-util", &mem_util, NULL}, {"--temp", &temp, NULL}, {"--power", &power, NULL}};
	int64_t u = 0, m = 0, c = 0, w = 0;
	struct sim s = SIM_INIT;
	struct sim_card *card;
	int r = tool_options(t, options, ARRAY_LEN(options), err);

	if (r < 0)
		return r;
	t->argc = r;
	if ((r = tool_number("--util", util, 0, 100, &u, err)) < 0 ||
		(r = tool_number("--mem-util", mem_util, 0, 100, &m, err)) < 0 ||
		(r = tool_number("--temp", temp, 0, 200, &c, err)) < 0 ||
		(r = tool_number("--power", power, 0, 5000, &w, err)) < 0)
		return r;
	r = open_card(t, t->argc, 1, &s, err);
	if (r < 0)
		return r;
	card = &s.shm->cards[r];
	card->util = util ? u : card->util;
	card->mem_util = mem_util ? m : card->mem_util;
	card->temperature = temp ? c : card->temperature;
	card->power_mw = power ? w * 1000 : card->power_mw;
	tool_done(&s);
	return 0;
}

int tool_xid(struct tool *t, struct gq_err *err)
{
	int words = tool_options(t, NULL, 0, err), card, r;
	struct sim s = SIM_INIT;
	int64_t xid = 0;

	if (words < 0)
		return words;
	if (words == 2 && (r = tool_number("xid", t->argv[2], 1, 999, &xid, err)) < 0)
		return r;
	card = open_card(t, words, 2, &s, err);
	if (card < 0)
		return card;
	sim_event(&s, card, xid);
	tool_done(&s);
	return 0;
}

static int set_present(struct tool *t, bool present, struct gq_err *err)
{
	int words = tool_options(t, NULL, 0, err), card;
	struct sim s = SIM_INIT;

	if (words < 0)
		return words;
	card = open_card(t, words, 1, &s, err);
	if (card < 0)
		return card;
	s.shm->cards[card].present = present;
	tool_done(&s);
	return 0;
}

int tool_drop(struct tool *t, struct gq_err *err)
{
	return set_present(t, false, err);
}

int tool_return(struct tool *t, struct gq_err *err)
{
	return set_present(t, true, err);
}

/* Parent: waits until the child holds the card, so that what follows in a script sees it. */
static int detach(int *ret_ready, struct gq_err *err)
{
	char ok = 0;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return gq_err_sys(err, -errno, "hold");
	if (pid > 0) {
		close(fds[1]);
		if (read(fds[0], &ok, 1) != 1)
			_exit(TOOL_FAILED); /* the child has said why */
		_exit(TOOL_OK);
	}
	close(fds[0]);
	setsid();
	*ret_ready = fds[1];
	return 0;
}

static int take(struct tool *t, int words, const char *name, uint64_t bytes, int64_t util,
	struct sim *s, struct gq_err *err)
{
	int card = open_card(t, words, 1, s, err), i;
	uint64_t left;

	if (card < 0)
		return card;
	sim_prune(s);
	left = s->shm->cards[card].bytes - sim_card_used(s, card);
	i = bytes <= left ? sim_proc_add(s, name) : -ENOMEM;
	if (i >= 0) {
		s->shm->procs[i].bytes[card] = bytes;
		s->shm->procs[i].contexts[card] = 1;
		s->shm->procs[i].util[card] = util;
	}
	tool_done(s);
	if (i == -ENOMEM)
		return gq_err_set(err, i, "card %d: %llu MiB asked for, %llu MiB are free", card,
			(unsigned long long)bytes >> 20, (unsigned long long)left >> 20);
	return i < 0 ? gq_err_sys(err, i, "card %d", card) : 0;
}

int tool_hold(struct tool *t, struct gq_err *err)
{
	const char *vram = NULL, *util = NULL, *name = "gq-simgpu hold";
	bool detached = false;
	const struct tool_option options[] = {{"--vram", &vram, NULL}, {"--util", &util, NULL},
		{"--name", &name, NULL}, {"--detach", NULL, &detached}};
	int words = tool_options(t, options, ARRAY_LEN(options), err), ready = -1, r;
	struct sim s = SIM_INIT;
	uint64_t bytes = 0;
	int64_t u = 0;

	if (words < 0)
		return words;
	if (!vram)
		return gq_err_set(err, -EINVAL, "hold: --vram is missing");
	if ((r = tool_size("--vram", vram, &bytes, err)) < 0 ||
		(r = tool_number("--util", util, 0, 100, &u, err)) < 0 ||
		(detached && (r = detach(&ready, err)) < 0))
		return r;
	prctl(PR_SET_NAME, name);
	r = take(t, words, name, bytes, u, &s, err);
	if (r < 0)
		return r;
	printf("%d\n", getpid());
	fflush(stdout);
	if (detached) {
		/* whoever reads our output to its end must not wait for us */
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		for (int fd = 0; fd <= 2; fd++)
			dup2(null, fd);
		if (write(ready, "", 1) != 1)
			return gq_err_sys(err, -errno, "hold");
		close(ready);
	}
	for (;;)
		pause();
}

static int error_by_name(const char *word)
{
	static const struct {
		const char *name;
		int value;
	} names[] = {
#define NVML_ERROR(name, value, text) {#name, value},
#define CUDA_ERROR(name, value, text) {#name, value},
#include "nvabi/nvml_error.def"
#include "nvabi/cuda_error.def"
	};
	static const char *const prefixes[] = {"NVML_ERROR_", "NVML_", "CUDA_"};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncasecmp(word, prefixes[i], n) == 0) {
			word += n;
			break;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcasecmp(names[i].name, word) == 0)
			return names[i].value;
	}
	return -EINVAL;
}

static int parse_error(const char *word, int64_t *ret, struct gq_err *err)
{
	if (strcmp(word, "hang") == 0) {
		*ret = SIM_HANG;
		return 0;
	}
	if (isdigit((unsigned char)word[0]))
		return tool_number("fail", word, 0, 9999, ret, err);
	*ret = error_by_name(word);
	return *ret >= 0 ? 0 : gq_err_set(err, -EINVAL, "fail: %s is no error that is known", word);
}

static int set_fault(struct sim *s, const char *call, int error, int times, struct gq_err *err)
{
	struct sim_fault *at = NULL;

	for (int i = 0; i < SIM_FAULTS; i++) {
		struct sim_fault *f = &s->shm->faults[i];

		if (strcmp(f->call, call) == 0) {
			at = f;
			break;
		}
		if (!at && (f->left == 0 || f->call[0] == '\0'))
			at = f;
	}
	if (!at)
		return gq_err_set(err, -ENOSPC, "fail: %d calls fail already; --clear", SIM_FAULTS);
	__atomic_store_n(&at->left, 0, __ATOMIC_RELEASE);
	str_copy(at->call, sizeof(at->call), call);
	at->error = error;
	__atomic_store_n(&at->left, error == 0 ? 0 : times, __ATOMIC_RELEASE);
	return 0;
}

int tool_fail(struct tool *t, struct gq_err *err)
{
	const char *times = NULL;
	bool clear = false;
	const struct tool_option options[] = {{"--times", &times, NULL}, {"--clear", NULL, &clear}};
	int words = tool_options(t, options, ARRAY_LEN(options), err), r;
	int64_t error = 0, n = SIM_FOREVER;
	struct sim s = SIM_INIT;

	if (words < 0)
		return words;
	if (words != (clear ? 0 : 2))
		return gq_err_set(err, -EINVAL, "fail: a call and an error, or --clear alone");
	if (!clear && ((r = parse_error(t->argv[2], &error, err)) < 0 ||
		(r = tool_number("--times", times, 1, 1000000, &n, err)) < 0))
		return r;
	if (!clear && strncmp(t->argv[1], "nvml", 4) != 0 && strncmp(t->argv[1], "cu", 2) != 0)
		return gq_err_set(err, -EINVAL, "fail: %s is no call of NVML or CUDA", t->argv[1]);
	r = tool_open(t, &s, err);
	if (r < 0)
		return r;
	if (clear)
		memset(s.shm->faults, 0, sizeof(s.shm->faults));
	else
		r = set_fault(&s, t->argv[1], error, n, err);
	tool_done(&s);
	return r;
}
