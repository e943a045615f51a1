/* SPDX-License-Identifier: MIT
 * tool_machine.c - gq-simgpu create, list, destroy */
#include "tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/parse.h"

#define UUID_FORMAT "GPU-67710000-7369-6d67-7075-%012x" /* "gq", "si", "mg", "pu" */

static const struct cu_uuid uuid_base = {
	{0x67, 0x71, 0, 0, 0x73, 0x69, 0x6d, 0x67, 0x70, 0x75, 0, 0, 0, 0, 0, 0}};

/* Compute capability by a part of the model's name; the last row is for all others. */
static const struct {
	const char *part;
	uint32_t major, minor;
} chips[] = {{"B200", 10, 0}, {"H100", 9, 0}, {"H200", 9, 0}, {"L40", 8, 9}, {"L4", 8, 9},
	{"T4", 7, 5}, {"V100", 7, 0}, {"", 8, 0}};

static void make_card(struct sim_card *c, unsigned i, const char *model, uint64_t bytes)
{
	size_t k = 0;

	snprintf(c->uuid, sizeof(c->uuid), UUID_FORMAT, i);
	str_copy(c->model, sizeof(c->model), model);
	c->id = uuid_base;
	c->id.bytes[15] = i;
	c->bus = 0x07 + 8 * i;
	if (c->bus > 0xff)
		c->bus = 0x03 + 8 * (i - 31);
	snprintf(c->bus_id, sizeof(c->bus_id), "00000000:%02X:00.0", c->bus);
	c->bytes = bytes;
	c->temperature = 34;
	c->power_mw = 58000;
	c->present = 1;
	while (!strstr(model, chips[k].part))
		k++;
	c->cc_major = chips[k].major;
	c->cc_minor = chips[k].minor;
}

static int cuda_version(const char *driver)
{
	int64_t major = 0;
	char word[8] = "";

	/* the CUDA version that came with a driver branch */
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(driver, "."), driver);
	if (parse_int(word, 0, 9999, &major, NULL) < 0)
		return 12040;
	return major >= 580 ? 13000 : major >= 570 ? 12080 : major >= 555 ? 12050 : 12040;
}

int tool_create(struct tool *t, struct gq_err *err)
{
	const char *cards = NULL, *memory = "80G", *model = "NVIDIA A100-SXM4-80GB", *numa = NULL;
	const char *driver = "580.95.05", *cuda = NULL, *context = "256M";
	bool replace = false;
	const struct tool_option options[] = {{"--cards", &cards, NULL}, {"--memory", &memory, NULL},
		{"--model", &model, NULL}, {"--driver", &driver, NULL}, {"--cuda", &cuda, NULL},
		{"--context-memory", &context, NULL}, {"--numa", &numa, NULL},
		{"--replace", NULL, &replace}};
	_cleanup_free_ struct sim_shm *m = xnew(struct sim_shm);
	int64_t n = 2, version = cuda_version(driver), nodes = 1;
	uint64_t bytes = 0;
	int r = tool_options(t, options, ARRAY_LEN(options), err);

	if (r > 0)
		return gq_err_set(err, -EINVAL, "create: %s is too much", t->argv[1]);
	if (r < 0 || (r = tool_number("--cards", cards, 1, SIM_CARDS_MAX, &n, err)) < 0 ||
		(r = tool_size("--memory", memory, &bytes, err)) < 0 ||
		(r = tool_size("--context-memory", context, &m->context_bytes, err)) < 0 ||
		(r = tool_number("--numa", numa, 1, 8, &nodes, err)) < 0 ||
		(r = tool_number("--cuda", cuda, 11000, 99990, &version, err)) < 0)
		return r;
	if (bytes == 0)
		return gq_err_set(err, -EINVAL, "--memory: a card needs some");
	if (!cuda)
		version = cuda_version(driver);
	m->n_cards = n;
	m->cuda_version = version;
	str_copy(m->driver, sizeof(m->driver), driver);
	for (unsigned i = 0; i < n; i++) {
		make_card(&m->cards[i], i, model, bytes);
		m->cards[i].numa = i * nodes / n;
	}
	if (replace && sim_destroy(t->path) == -EPROTO)
		unlink(t->path);
	r = sim_create(t->path, m);
	if (r == -EEXIST)
		return gq_err_set(err, r, "%s: there is a machine already; gq-simgpu destroy, or "
					  "create --replace", t->path);
	if (r == -EACCES)
		return gq_err_set(err, r, "%s: not allowed; name a file of your own: -f FILE, and "
					  "GQ_SIMGPU=FILE for the programs", t->path);
	return r < 0 ? gq_err_sys(err, r, "%s", t->path) : 0;
}

int tool_destroy(struct tool *t, struct gq_err *err)
{
	int r = sim_destroy(t->path);

	if (r == -ENOENT)
		return gq_err_set(err, r, "%s: no simulated machine", t->path);
	if (r == -EPROTO)
		return gq_err_set(err, r, "%s: not a machine of this version; remove it yourself",
			t->path);
	return r < 0 ? gq_err_sys(err, r, "%s", t->path) : 0;
}

static void list_processes(struct sim *s, int card)
{
	static const char *const states[] = {"", " locked", " parked", " failed"};

	for (int i = 0; i < SIM_PROCS_MAX; i++) {
		const struct sim_proc *p = &s->shm->procs[i];

		if (sim_proc_on_card(p, card))
			printf("     %7d %-20s %6" PRIu64 " MiB %3u %%%s\n", sim_proc_pid(s, i),
				p->name, p->bytes[card] >> 20, sim_proc_util(p, card),
				states[p->state % 4]);
	}
}

int tool_list(struct tool *t, struct gq_err *err)
{
	struct sim s = SIM_INIT;
	int r;

	if (t->argc > 1)
		return gq_err_set(err, -EINVAL, "list: %s is too much", t->argv[1]);
	r = tool_open(t, &s, err);
	if (r < 0)
		return r;
	sim_prune(&s);
	printf("driver %s, CUDA %d.%d, simulated in %s\n", s.shm->driver,
		s.shm->cuda_version / 1000, s.shm->cuda_version % 1000 / 10, t->path);
	for (uint32_t i = 0; i < s.shm->n_cards; i++) {
		const struct sim_card *c = &s.shm->cards[i];

		printf("%3u  %s  %s  %s  %" PRIu64 "/%" PRIu64 " MiB  %u %%  %u C%s\n", i, c->uuid,
			c->model, c->bus_id, sim_card_used(&s, i) >> 20, c->bytes >> 20,
			sim_card_util(&s, i), c->temperature, c->present ? "" : "  dropped");
		list_processes(&s, i);
	}
	tool_done(&s);
	return 0;
}
