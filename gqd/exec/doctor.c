/* SPDX-License-Identifier: MIT
 * doctor.c - what works on this machine, and what to do where it does not */
#include "private.h"
void exec_doctor(const struct exec *x,
	void (*fn)(void *ctx, const char *what, bool ok, const char *text, const char *cure),
	void *ctx)
{
	fn(ctx, "capsule", x->conf.capsule, x->conf.capsule ? "jobs run in capsules" : "not root", "run gqd as root");
}
