/* SPDX-License-Identifier: MIT
 * fault.h - named places where a test can make a program die or an operation fail
 * GQ_FAULT="store.commit:kill,dump.verify:EIO@2" — the second visit of dump.verify fails with EIO;
 * @0 is every visit.
 * Actions: kill (SIGKILL to self), exit (status 99), stop (SIGSTOP to self), an errno name
 * (ENOSPC, EIO, …), sleep=MS.
 * Each name stands once in fault.def, so that `gqd --list-faults` and the crash walk know them all.
 * Only debug builds (--enable-debug) look at the variable; otherwise every call is 0. */
#ifndef GQ_BASE_FAULT_H
#define GQ_BASE_FAULT_H

#include <stdio.h>

#ifdef GQ_DEBUG
int gq_fault(const char *name); /* 0, or -errno to be treated as the failure of what follows */
void gq_fault_list(FILE *f);    /* "name<TAB>program<TAB>what it stands before", a line each */
#else
static inline int gq_fault(const char *name)
{
	(void)name;
	return 0;
}
static inline void gq_fault_list(FILE *f)
{
	(void)f;
}
#endif

#endif
