/* SPDX-License-Identifier: MIT
 * cards.c - GET /v1/gpus, and cards as people name them: index, UUID, label */
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "gqd/core/core.h"
#include "request.h"

static bool has_label(const struct card *c, const char *label)
{
	size_t n = strlen(label);

	for (const char *p = c->labels; p && *p; p += strcspn(p, ","), p += *p == ',') {
		if (strncmp(p, label, n) == 0 && (p[n] == ',' || p[n] == '\0'))
			return true;
	}
	return false;
}

static bool is_index(const char *word)
{
	return word[0] && strspn(word, "0123456789") == strlen(word);
}

static bool is_named(const struct card *c, const char *word)
{
	int64_t index;

	if (is_index(word))
		return parse_int(word, 0, UINT16_MAX, &index, NULL) == 0 &&
		       index == c->index;
	if (strncmp(word, "GPU-", 4) == 0)
		return word[4] && strncmp(c->uuid, word, strlen(word)) == 0;
	return has_label(c, word);
}

static int add_card(uint16_t index, uint16_t *cards, uint8_t *n, struct gq_err *err)
{
	for (uint8_t i = 0; i < *n; i++) {
		if (cards[i] == index)
			return 0;
	}
	if (*n == JOB_CARDS_MAX)
		return gq_err_set(err, -EINVAL, "cards: more than %d", JOB_CARDS_MAX);
	cards[(*n)++] = index;
	return 0;
}

int cards_resolve(const struct core *core, const struct api_words *words, uint16_t *cards,
	uint8_t *ret_n, struct gq_err *err)
{
	const struct card *const *all;
	size_t n = core_cards(core, &all), found;
	uint8_t n_cards = 0;
	int r;

	for (uint32_t k = 0; k < words->n; k++) {
		const char *word = words->word[k];

		found = 0;
		for (size_t i = 0; i < n; i++) {
			if (!is_named(all[i], word))
				continue;
			found++;
			r = add_card(all[i]->index, cards, &n_cards, err);
			if (r < 0)
				return r;
		}
		if (!found)
			return gq_err_set(err, -EINVAL,
				"cards: no card '%.60s' (an index, a UUID or a label; this machine has %zu)",
				word, n);
		if (found > 1 && strncmp(word, "GPU-", 4) == 0)
			return gq_err_set(err, -EINVAL,
				"cards: '%.60s' is the beginning of %zu UUIDs", word,
				found);
	}
	*ret_n = n_cards;
	return 0;
}

static const char *service_of(const struct core *core, uint16_t index)
{
	const struct service *const *services;
	size_t n = core_services(core, &services);

	for (size_t i = 0; i < n; i++) {
		for (uint8_t k = 0; k < services[i]->n_cards; k++) {
			if (services[i]->cards[k] == index)
				return services[i]->name;
		}
	}
	return NULL;
}

static void card_message(const struct req *q, const struct card *c, struct api_gpu *m)
{
	*m = (struct api_gpu){
		.index = c->index,
		.uuid = c->uuid,
		.model = c->model,
		.labels = c->labels,
		.state = card_state_name(core_card_state(req_core(q), c, req_now(q))),
		.job_id = c->job,
		.service = service_of(req_core(q), c->index),
		.vram_total_mib = c->mem_total_mib,
		.vram_used_mib = c->mem_used_mib,
		.vram_lendable_mib = core_card_lendable_mib(req_core(q), c, req_now(q)),
		.util_percent = c->util_percent,
		.temperature_c = c->temperature_c,
		.present = c->present,
		.fault = c->fault,
		.busy = c->busy,
		.idle_since = c->idle_since,
		.foreign_pid = (uint32_t)c->foreign_pid,
		.foreign_name = c->foreign_pid ? c->foreign_name : NULL,
		.foreign_mib = c->foreign_mib,
	};
}

void api_do_gpu_list(struct req *q)
{
	const struct card *const *cards;
	size_t n = core_cards(req_core(q), &cards);
	struct api_gpu m;

	buf_chr(&q->reply, '[');
	for (size_t i = 0; i < n; i++) {
		card_message(q, cards[i], &m);
		buf_str(&q->reply, i ? "," : "");
		api_encode(&q->reply, &api_gpu_object, &m, API_ALL_FIELDS);
	}
	buf_str(&q->reply, "]\n");
	req_reply(q);
}
