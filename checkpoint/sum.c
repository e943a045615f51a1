/* SPDX-License-Identifier: MIT
 * sum.c - four lanes that each take every fourth word, so that the CPU works on all at once */
#include "sum.h"

#include <string.h>

#define K1 UINT64_C(0x9fb21c651e98df25) /* odd: multiplying by them can be undone */
#define K2 UINT64_C(0xd6e8feb86659fd93)

static uint64_t rotate(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
	return rotate(lane ^ word * K1, 29) * K2;
}

static uint64_t word_at(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static void stripe(struct sum *s, const unsigned char *p)
{
	for (int i = 0; i < 4; i++)
		s->lane[i] = mix(s->lane[i], word_at(p + 8 * i));
}

void sum_init(struct sum *s)
{
	*s = (struct sum){.lane = {K1, K2, ~K1, ~K2}};
}

void sum_add(struct sum *s, const void *data, size_t n)
{
	const unsigned char *p = data;

	s->total += n;
	if (s->n_rest) {
		size_t take = sizeof(s->rest) - s->n_rest < n ? sizeof(s->rest) - s->n_rest : n;

		memcpy(s->rest + s->n_rest, p, take);
		s->n_rest += take;
		p += take;
		n -= take;
		if (s->n_rest < sizeof(s->rest))
			return;
		stripe(s, s->rest);
		s->n_rest = 0;
	}
	for (; n >= 32; p += 32, n -= 32)
		stripe(s, p);
	memcpy(s->rest, p, n);
	s->n_rest = n;
}

uint64_t sum_end(const struct sum *s)
{
	struct sum t = *s;
	uint64_t h = t.total;

	memset(t.rest + t.n_rest, 0, sizeof(t.rest) - t.n_rest);
	stripe(&t, t.rest);
	for (int i = 0; i < 4; i++)
		h = mix(h, t.lane[i]);
	h ^= h >> 32;
	h *= K1;
	return h ^ h >> 29;
}
