/* SPDX-License-Identifier: MIT
 * service.c - online services: the cards they own, what they keep, whether they are alive
 * A service that lost its lease counts as in use: silence is never taken for idleness. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core_priv.h"

struct service *service_by_id(const struct core *c, uint32_t id)
{
	for EACH (struct service, s, c->services, i)
		if (s->id == id)
			return s;
	return NULL;
}

const struct service *core_service(const struct core *c, uint32_t id)
{
	return service_by_id(c, id);
}

const struct service *core_service_by_name(const struct core *c, const char *name)
{
	for EACH (struct service, s, c->services, i)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

bool service_claims(const struct service *s)
{
	return s->state == SERVICE_BUSY || s->lease_lost;
}

bool service_has_card(const struct service *s, uint16_t card)
{
	for (size_t i = 0; i < s->n_cards; i++)
		if (s->cards[i] == card)
			return true;
	return false;
}

static bool service_name_is_good(const char *name)
{
	if (!*name || strlen(name) >= NAME_SIZE)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-_.", *name))
			return false;
	return true;
}

static int service_check(const struct core *c, const struct service *s, struct gq_err *err)
{
	if (!service_name_is_good(s->name))
		return gq_err_set(err, -EINVAL,
			"service: '%.60s' is no name; use up to %d letters, digits, '-', '_', '.'", s->name,
			NAME_SIZE - 1);
	if (s->n_cards > JOB_CARDS_MAX)
		return gq_err_set(err, -EINVAL, "cards: %u cards, allowed are up to %d", s->n_cards,
			JOB_CARDS_MAX);
	for (size_t i = 0; i < s->n_cards; i++) {
		const struct card *card = card_at(c, s->cards[i]);

		if (card && card->mem_total_mib && s->reserve_mib > card->mem_total_mib)
			return gq_err_set(err, -EINVAL,
				"reserve_vram: %lld MiB is more than card %u has (%lld MiB)",
				(long long)s->reserve_mib, card->index, (long long)card->mem_total_mib);
	}
	if (s->reserve_mib < 0 || s->lease < 0 || s->notice < 0)
		return gq_err_set(err, -EINVAL, "service: negative value");
	return 0;
}

static void service_renew(struct core *c, struct service *s, gq_time now)
{
	if (s->lease_lost)
		note_audit(c, now, AUDIT_SERVICE, s->id, s->uid, "lease renewed after it was lost");
	s->lease_lost = false;
	s->lease_until = s->lease ? now + s->lease : GQ_NEVER;
}

static void service_say(struct core *c, struct service *s, uint8_t state, gq_time now, uid_t uid)
{
	if (s->state == state)
		return;
	s->state = state;
	s->changed_at = now;
	note_audit(c, now, AUDIT_SERVICE, s->id, uid, "says that it is %s", service_state_name(state));
}

static int service_put(struct core *c, gq_time now, struct event *ev, struct gq_err *err)
{
	const struct service *new = &ev->service;
	struct service *s = (struct service *)core_service_by_name(c, new->name);
	uint8_t state = new->state;
	int r = service_check(c, new, err);

	if (r < 0)
		return r;
	if (s && s->uid != ev->uid && !ev->privileged)
		return gq_err_set(err, -EPERM, "service %s: registered by uid %u", s->name,
			(unsigned)s->uid);
	if (!s && !ev->privileged)
		return gq_err_set(err, -EPERM,
			"service %s: only root and the operator group may register a service", new->name);
	if (!s) {
		s = xnew(struct service);
		*s = *new;
		s->uid = new->from_config ? new->uid : ev->uid;
		s->lease_lost = false;
		s->id = c->next_service++;
		s->changed_at = now;
		ptrs_add(&c->services, s);
		note_audit(c, now, AUDIT_SERVICE, s->id, ev->uid, "registered as %s", s->name);
	} else {
		s->from_config |= new->from_config;
		s->n_cards = new->n_cards;
		memcpy(s->cards, new->cards, sizeof(s->cards));
		s->reserve_mib = new->reserve_mib;
		s->lease = new->lease;
		s->notice = new->notice;
		service_say(c, s, state, now, ev->uid);
	}
	service_renew(c, s, now);
	note_service(c, s);
	ev->ret_id = s->id;
	return 0;
}

static int service_find(struct core *c, const struct event *ev, struct service **ret,
	struct gq_err *err)
{
	struct service *s = (struct service *)core_service_by_name(c, ev->service.name);

	if (!s)
		return gq_err_set(err, -ENOENT, "service %.60s: no such service", ev->service.name);
	if (s->uid != ev->uid && !ev->privileged)
		return gq_err_set(err, -EPERM, "service %s: registered by uid %u", s->name,
			(unsigned)s->uid);
	*ret = s;
	return 0;
}

static int service_delete(struct core *c, gq_time now, struct event *ev, struct gq_err *err)
{
	struct service *s;
	int r = service_find(c, ev, &s, err);

	if (r < 0)
		return r;
	if (s->from_config && ev->uid != (uid_t)-1)
		return gq_err_set(err, -EPROTO, "service %s: stands in the config; remove it there", s->name);
	for EACH (struct reservation, v, c->reservations, i) {
		if (v->service == s->id && reserve_is_live(v)) {
			v->state = RESERVATION_DELETED;
			core_sweep_later(c, now);
			note_reservation(c, v);
		}
	}
	note_audit(c, now, AUDIT_SERVICE, s->id, ev->uid, "%s deleted, with its reservations", s->name);
	ptrs_drop(&c->services, s);
	s->name[0] = '\0';
	ptrs_add(&c->buried, s);
	note_service(c, s);
	return 0;
}

static int service_renewal(struct core *c, gq_time now, struct event *ev, struct gq_err *err)
{
	struct service *s;
	int r = service_find(c, ev, &s, err);

	if (r < 0)
		return r;
	service_renew(c, s, now);
	if (ev->has_state)
		service_say(c, s, ev->service.state, now, ev->uid);
	note_service(c, s);
	ev->ret_id = s->id;
	return 0;
}

int service_wish(struct core *c, gq_time now, struct event *ev, struct gq_err *err)
{
	int r = ev->type == EV_SERVICE_PUT ? service_put(c, now, ev, err)
		: ev->type == EV_SERVICE_DELETE ? service_delete(c, now, ev, err)
						: service_renewal(c, now, ev, err);

	if (r == 0)
		c->replan = true;
	return r;
}

void service_pass(struct core *c, gq_time now)
{
	for EACH (struct service, s, c->services, i) {
		if (s->lease_lost || s->lease_until > now)
			continue;
		s->lease_lost = true;
		s->changed_at = now;
		note_service(c, s);
		note_audit(c, now, AUDIT_SERVICE, s->id, (uid_t)-1,
			"lease not renewed for %lld s: its cards count as in use",
			(long long)(s->lease / GQ_NS_PER_S));
	}
}
