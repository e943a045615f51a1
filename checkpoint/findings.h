/* SPDX-License-Identifier: MIT
 * findings.h - what stands between a job and its snapshot, in words for people, and the grade
 * Promises: each finding names the process, the thing, and what to do about it. */
#ifndef GQ_CHECKPOINT_FINDINGS_H
#define GQ_CHECKPOINT_FINDINGS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

enum grade {
	GRADE_NONE,      /* C0: it cannot even be stopped */
	GRADE_RAM,       /* C1: can be parked in host memory, not written to disk */
	GRADE_SAME_CARD, /* C2: disk too, and back onto the same card */
	GRADE_ANY_CARD,  /* C3: and onto another card of the same model */
};

#define FINDINGS_MAX     8
#define FINDING_TEXT_MAX 320

struct finding {
	enum grade grade;  /* no better than this */
	pid_t pid;         /* as the job knows it; 0 = the job as a whole */
	char name[32];     /* of the process */
	unsigned more;     /* other processes with the same */
	char what[128];    /* "uses io_uring" */
	const char *cure;  /* borrowed for ever */
};

struct findings {
	enum grade grade; /* the worst */
	size_t n;
	struct finding list[FINDINGS_MAX]; /* further ones only count in the grade */
};

void findings_begin(struct findings *f);
void findings_add(struct findings *f, enum grade grade, pid_t pid, const char *cure,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* "process 1000 (python3) uses io_uring - set UV_USE_IO_URING=0" */
const char *finding_text(const struct finding *f, char ret[FINDING_TEXT_MAX]);
/* 0 if a snapshot may be tried, else -ENOTSUP with the first finding that forbids it. */
int findings_refusal(const struct findings *f, struct gq_err *err);

#endif
