/* SPDX-License-Identifier: MIT
 * windows.c - GET /v1/windows: how long each card is idle, and why it is lent or not */
#include "gqd/core/core.h"
#include "request.h"

static void window_message(const struct req *q, const struct card *c,
	const struct window *w, struct api_window *m)
{
	*m = (struct api_window){
		.card = c->index,
		.uuid = c->uuid,
		.state = card_state_name(core_card_state(req_core(q), c, req_now(q))),
		.idle_since = w->idle_since,
		.until = w->until,
		.length_s = w->until == GQ_NEVER ? GQ_NEVER : w->until - req_now(q),
		.reservation_id = w->reservation,
		.vram_mib = w->vram_mib,
		.lendable = w->offered,
		.why = w->why,
	};
	if (m->length_s < 0)
		m->length_s = 0;
}

void api_do_window_list(struct req *q)
{
	const struct card *const *cards;
	size_t n = core_cards(req_core(q), &cards);
	struct window w;
	struct api_window m;

	buf_chr(&q->reply, '[');
	for (size_t i = 0; i < n; i++) {
		core_window(req_core(q), cards[i], req_now(q), &w);
		window_message(q, cards[i], &w, &m);
		buf_str(&q->reply, i ? "," : "");
		api_encode(&q->reply, &api_window_object, &m, API_ALL_FIELDS);
	}
	buf_str(&q->reply, "]\n");
	req_reply(q);
}
