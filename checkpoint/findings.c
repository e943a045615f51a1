/* SPDX-License-Identifier: MIT
 * findings.c - a list without repetitions, and its sentences */
#include "findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"

void findings_begin(struct findings *f)
{
	f->grade = GRADE_ANY_CARD;
	f->n = 0;
}

static void name_of(pid_t pid, char *ret, size_t size)
{
	_cleanup_free_ char *text = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (file_read(path, 64, &text, NULL, NULL) < 0)
		text = xstrdup("?");
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20)
			*c = '\0';
	str_copy(ret, size, text);
}

void findings_add(struct findings *f, enum grade grade, pid_t pid, const char *cure,
	const char *fmt, ...)
{
	struct finding new = {.grade = grade, .pid = pid, .cure = cure};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(new.what, sizeof(new.what), fmt, ap);
	va_end(ap);
	if (grade < f->grade)
		f->grade = grade;
	for (size_t i = 0; i < f->n; i++) {
		struct finding *have = &f->list[i];

		if (strcmp(have->what, new.what))
			continue;
		have->more += have->pid != pid;
		return;
	}
	if (f->n == FINDINGS_MAX)
		return;
	if (pid)
		name_of(pid, new.name, sizeof(new.name));
	f->list[f->n++] = new;
}

static int finding_sentence(const struct finding *f, char *ret, size_t size)
{
	char more[32] = "";

	if (f->more)
		snprintf(more, sizeof(more), " (and %u more)", f->more);
	if (!f->pid)
		return snprintf(ret, size, "%s", f->what);
	return snprintf(ret, size, "process %d (%s)%s %s", (int)f->pid, f->name, more, f->what);
}

const char *finding_text(const struct finding *f, char ret[FINDING_TEXT_MAX])
{
	int n = finding_sentence(f, ret, FINDING_TEXT_MAX);

	if (n < FINDING_TEXT_MAX)
		snprintf(ret + n, FINDING_TEXT_MAX - (size_t)n, " - %s", f->cure);
	return ret;
}

int findings_refusal(const struct findings *f, struct gq_err *err)
{
	char text[FINDING_TEXT_MAX];

	for (size_t i = 0; i < f->n; i++)
		if (f->list[i].grade < GRADE_SAME_CARD)
			return gq_err_set(err, -ENOTSUP, "%s", finding_text(&f->list[i], text));
	return 0;
}
