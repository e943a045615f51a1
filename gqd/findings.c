/* SPDX-License-Identifier: MIT
 * findings.c - gqctl doctor: what works on this machine, what does not, and what to do */
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>

#include "daemon.h"

struct findings {
	api_finding_fn fn;
	void *ctx;
};

/* What the capsule needs is essential only where there is a capsule. */
static void finding_of_exec(void *ctx, const char *what, bool ok, const char *text, const char *cure)
{
	struct findings *f = ctx;

	f->fn(f->ctx, what, ok, !strcmp(what, "criu") || !strcmp(what, "cgroup"), text, cure);
}

static void find_driver(const struct daemon *d, api_finding_fn fn, void *ctx)
{
	bool simulated = false;
	char text[200];
	size_t seen = 0;

	gpu_describe(d->gpu, text, sizeof(text), &simulated);
	for (size_t i = 0; i < d->n_cards; i++)
		seen += d->cards[i].present;
	fn(ctx, "driver", seen > 0, true, text,
		seen ? NULL : "install the NVIDIA driver, or try gq with gq-simgpu (README)");
}

static void find_foreign(const struct daemon *d, api_finding_fn fn, void *ctx)
{
	const struct card *const *cards;
	size_t n = core_cards(d->core, &cards);
	char text[160];

	for (size_t i = 0; i < n; i++) {
		if (core_card_state(d->core, cards[i], gq_now()) != CARD_UNMANAGED)
			continue;
		snprintf(text, sizeof(text), "card %u: held by process %d (%s), never lent", cards[i]->index,
			cards[i]->foreign_pid, cards[i]->foreign_name);
		fn(ctx, "unmanaged", false, false, text,
			"end that process, or register its service (gqctl services put)");
	}
}

static void find_clock(api_finding_fn fn, void *ctx)
{
	struct timex t = {0};
	int state = adjtimex(&t);
	bool ok = state != TIME_ERROR && !(t.status & STA_UNSYNC);

	fn(ctx, "clock", ok, false, ok ? "synchronised" : "not synchronised with a time server",
		ok ? NULL : "run chrony or systemd-timesyncd: reservations are wall-clock times");
}

void findings(void *ctx, api_finding_fn fn, void *fn_ctx)
{
	struct daemon *d = ctx;
	struct findings f = {fn, fn_ctx};

	fn(fn_ctx, "root", d->capsule, false,
		d->capsule ? "gqd runs as root: jobs run in capsules"
			   : "gqd does not run as root: no capsule, no CRIU; eviction is by the job's own "
			     "checkpoint or a restart",
		d->capsule ? NULL : "start gqd as root to keep the work of evicted jobs");
	exec_doctor(d->exec, finding_of_exec, &f);
	find_driver(d, fn, fn_ctx);
	find_foreign(d, fn, fn_ctx);
	fn(fn_ctx, "store", !d->store_failed, true, d->store_failed ? d->store_error : d->state_dir,
		d->store_failed ? "free space on that file system; gqd goes on by itself" : NULL);
	find_clock(fn, fn_ctx);
}
