/* SPDX-License-Identifier: MIT
 * settings.c - the config as each room's own settings */
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "daemon.h"

static int32_t utc_offset(void)
{
	time_t now = (time_t)(gq_now() / GQ_NS_PER_S);
	struct tm tm;

	localtime_r(&now, &tm);
	return (int32_t)tm.tm_gmtoff;
}

void settings_core(const struct daemon *d, struct core_conf *ret)
{
	const struct gq_conf *c = &d->conf;

	memset(ret, 0, sizeof(*ret)); /* compared as bytes */
	core_conf_default(ret);
	ret->unified = c->unified;
	ret->online_priority = c->online_priority;
	ret->offline_fill = c->offline_fill;
	ret->vram_permille = (int)(c->offline_max_vram_ratio * 1000 + 0.5);
	ret->reserve_vram = c->reserve_vram == CONF_RESERVE_ALWAYS ? RESERVE_ALWAYS
			    : c->reserve_vram == CONF_RESERVE_BUSY ? RESERVE_BUSY : RESERVE_NEVER;
	ret->graceful_exit = c->graceful_exit;
	ret->sudden_grace = c->sudden_grace;
	ret->kill_wait = c->kill_wait;
	ret->min_window = c->min_window;
	ret->idle_hold = c->idle_hold;
	ret->cost_factor = c->cost_factor;
	ret->margin = c->margin;
	ret->max_requeue = (uint32_t)c->max_requeue;
	ret->restore_tries = c->restore_tries;
	ret->store_tries = c->store_tries;
	ret->retry_wait = c->retry_wait;
	ret->keep_ended = c->keep_ended;
	ret->max_jobs = (uint32_t)c->max_jobs;
	ret->max_jobs_per_user = (uint32_t)c->max_jobs_per_user;
	ret->utc_offset_s = utc_offset();
	ret->can_store = d->capsule;
	if (d->store_failed) /* a core for people to look at: what it decided would be forgotten */
		ret->offline_fill = ret->online_priority = false;
}

int settings_operator(struct daemon *d, struct gq_err *err)
{
	const char *name = d->conf.operator_group;
	const struct group *found = name && name[0] ? getgrnam(name) : NULL; /* of any number of members */

	d->operator_gid = found ? found->gr_gid : (gid_t)-1;
	if (!found && name && name[0])
		return gq_err_set(err, -EINVAL, "operator_group: no group '%s' on this machine", name);
	return 0;
}

static bool word_in_list(const char *word, const char *list)
{
	size_t n = strlen(word);

	for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncasecmp(p, word, n) && (p[n] == ',' || !p[n]))
			return true;
	return false;
}

const char *settings_labels(const struct daemon *d, const struct gpu_card *card)
{
	for (size_t i = 0; i < d->conf.n_cards; i++) {
		const struct conf_card *c = &d->conf.cards[i];
		int64_t index;

		if (!strcasecmp(c->card, card->uuid) ||
			(parse_int(c->card, 0, UINT16_MAX, &index, NULL) == 0 && index == card->index))
			return c->labels;
	}
	return NULL;
}

/* Adds the cards that @word names: an index (known or not yet), a UUID or a label. */
static void service_cards(const struct daemon *d, const char *word, struct service *s)
{
	int64_t index;

	if (parse_int(word, 0, UINT16_MAX, &index, NULL) == 0) {
		if (s->n_cards < JOB_CARDS_MAX)
			s->cards[s->n_cards++] = (uint16_t)index;
		return;
	}
	for (size_t i = 0; i < d->n_cards && s->n_cards < JOB_CARDS_MAX; i++)
		if (!strcasecmp(d->cards[i].uuid, word) ||
			word_in_list(word, settings_labels(d, &d->cards[i])))
			s->cards[s->n_cards++] = d->cards[i].index;
}

static uid_t service_uid(const struct conf_service *c)
{
	struct passwd p, *found = NULL;
	char buf[4096];

	if (!c->user)
		return 0;
	getpwnam_r(c->user, &p, buf, sizeof(buf), &found);
	if (!found)
		log_warn("service %s: no user '%s' on this machine; root's", c->name, c->user);
	return found ? found->pw_uid : 0;
}

static void service_from_conf(struct daemon *d, const struct conf_service *c)
{
	struct event ev = {.type = EV_SERVICE_PUT, .privileged = true};
	const struct service *old = core_service_by_name(d->core, c->name);
	struct service *s = &ev.service;
	struct gq_err err = {0};

	str_copy(s->name, sizeof(s->name), c->name);
	for (char **card = c->cards; card && *card; card++)
		service_cards(d, *card, s);
	s->from_config = true;
	s->uid = ev.uid = service_uid(c);
	s->reserve_mib = c->reserve_mib;
	s->lease = c->lease;
	s->notice = c->notice;
	s->state = old ? old->state : c->busy ? SERVICE_BUSY : SERVICE_IDLE;
	if (old && old->from_config && old->n_cards == s->n_cards &&
		!memcmp(old->cards, s->cards, s->n_cards * sizeof(s->cards[0])) &&
		old->reserve_mib == s->reserve_mib && old->lease == s->lease &&
		old->notice == s->notice && old->uid == s->uid)
		return; /* says nothing new, and does not renew its lease */
	if (daemon_step(d, &ev, &err) < 0)
		log_err("config: services.%s: %s, ignoring", c->name, err.text);
}

static bool conf_has_service(const struct daemon *d, const char *name)
{
	for (size_t i = 0; i < d->conf.n_services; i++)
		if (!strcmp(d->conf.services[i].name, name))
			return true;
	return false;
}

/* Services that stood in an earlier config and do not any more. */
static void services_drop_old(struct daemon *d)
{
	const struct service *const *list;
	size_t n = core_services(d->core, &list);

	for (size_t i = n; i-- > 0;) {
		struct event ev = {.type = EV_SERVICE_DELETE, .uid = (uid_t)-1, .privileged = true};

		if (!list[i]->from_config || conf_has_service(d, list[i]->name))
			continue;
		str_copy(ev.service.name, sizeof(ev.service.name), list[i]->name);
		daemon_fact(d, &ev);
		core_services(d->core, &list);
	}
}

void settings_services(struct daemon *d)
{
	if (d->store_failed)
		return;
	services_drop_old(d);
	for (size_t i = 0; i < d->conf.n_services; i++)
		service_from_conf(d, &d->conf.services[i]);
}
