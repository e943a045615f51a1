/* SPDX-License-Identifier: MIT
 * gate.h - what criu runs at its action points: the only place where a job's state is decided on
 * At post-dump every page is written and the job is still stopped: the gate has
 * the streamer finish the image, verifies and publishes it. Exit 0: criu ends the job. Anything else: criu lets it go on.
 * At post-restore, before the job runs again, it sets the capsule's PID counter.
 * It is told by its environment (gate.c); errors go to stderr, which the engine reads. */
#ifndef GQ_CHECKPOINT_GATE_H
#define GQ_CHECKPOINT_GATE_H

#include <stdbool.h>

#define GATE_IMAGE_DIR   "GQ_GATE_IMAGE_DIR"
#define GATE_JOB         "GQ_GATE_JOB"
#define GATE_INCARNATION "GQ_GATE_INCARNATION"
#define GATE_ROOT        "GQ_GATE_ROOT"
#define GATE_UID         "GQ_GATE_UID"
#define GATE_CGROUP      "GQ_GATE_CGROUP"
#define GATE_LAST_PID    "GQ_GATE_LAST_PID"
#define GATE_WORK_DIR    "GQ_GATE_WORK_DIR"
#define GATE_CRIU        "GQ_GATE_CRIU" /* its version */
#define GATE_VERIFY      "GQ_GATE_VERIFY" /* 1: read back every byte, not the index alone */

bool gate_asked(void); /* was this program started by criu? */
int gate_main(void);

#endif
