/* SPDX-License-Identifier: MIT
 * note.c - marks rows that changed, and lists what has to be done */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

void note_job(struct core *c, struct entry *e)
{
	e->row.version = ++c->version;
	if (e->dirty)
		return;
	e->dirty = true;
	ptrs_add(&c->dirty_jobs, e);
}

static void note_once(struct ptrs *p, void *row)
{
	for (size_t i = 0; i < p->len; i++)
		if (p->list[i] == row)
			return;
	ptrs_add(p, row);
}

void note_service(struct core *c, struct service *s)
{
	note_once(&c->dirty_services, s);
}

void note_reservation(struct core *c, struct reservation *r)
{
	note_once(&c->dirty_reservations, r);
}

void note_eviction(struct core *c, struct eviction *v)
{
	note_once(&c->dirty_evictions, v);
}

void note_audit(struct core *c, gq_time now, enum audit_kind kind, uint32_t id, uid_t uid,
	const char *fmt, ...)
{
	struct audit *a;
	va_list ap;

	if (c->n_audits == c->cap_audits) {
		c->cap_audits = c->cap_audits ? c->cap_audits * 2 : 16;
		c->audits = xrealloc(c->audits, c->cap_audits, sizeof(*c->audits));
	}
	a = &c->audits[c->n_audits++];
	*a = (struct audit){.at = now, .kind = (uint8_t)kind, .id = id, .uid = uid};
	va_start(ap, fmt);
	vsnprintf(a->text, sizeof(a->text), fmt, ap);
	va_end(ap);
}

struct effect *fx_add(struct effects *fx, enum effect_type type, const struct job *j)
{
	struct effect *f;

	if (fx->len == fx->cap) {
		fx->cap = fx->cap ? fx->cap * 2 : 8;
		fx->list = xrealloc(fx->list, fx->cap, sizeof(*fx->list));
	}
	f = &fx->list[fx->len++];
	*f = (struct effect){.type = type, .job = j->id, .incarnation = j->incarnation,
		.image = j->image};
	return f;
}

void effects_clear(struct effects *fx)
{
	free(fx->list);
	*fx = (struct effects){0};
}
