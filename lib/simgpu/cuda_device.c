/* SPDX-License-Identifier: MIT
 * cuda_device.c - simulated CUDA: which cards a process sees, and what they are */
#include "cuda_sim.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_faster(const struct sim_card *a, const struct sim_card *b)
{
	if (a->cc_major != b->cc_major)
		return a->cc_major > b->cc_major;
	return a->bytes > b->bytes;
}

/* CUDA's own order is fastest first unless PCI_BUS_ID is asked for; equal ones by bus. */
static int ordered_cards(const struct sim *s, int *ret)
{
	const char *order = getenv("CUDA_DEVICE_ORDER");
	bool by_bus = order && strcasecmp(order, "PCI_BUS_ID") == 0;
	int n = 0;

	for (uint32_t i = 0; i < s->shm->n_cards; i++) {
		int at = n;

		if (!s->shm->cards[i].present)
			continue;
		for (; !by_bus && at > 0; at--) {
			if (!is_faster(&s->shm->cards[i], &s->shm->cards[ret[at - 1]]))
				break;
			ret[at] = ret[at - 1];
		}
		ret[at] = i;
		n++;
	}
	return n;
}

/* A card by number or by the beginning of its UUID if no other begins so; -1 = none. */
static int named_card(const struct sim *s, const int *cards, int n, const char *word, size_t len)
{
	int found = -1;

	if (len > 0 && isdigit((unsigned char)word[0])) {
		char *end = NULL;
		long i = strtol(word, &end, 10);

		return end == word + len && i < n ? cards[i] : -1;
	}
	if (len < 5 || strncasecmp(word, "GPU-", 4) != 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (strncasecmp(s->shm->cards[cards[i]].uuid, word, len) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = cards[i];
	}
	return found;
}

int cuda_visible_devices(const struct sim *s, struct cuda_device *ret)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	int cards[SIM_CARDS_MAX], n = ordered_cards(s, cards), n_ret = 0;

	if (!list) {
		for (int i = 0; i < n; i++)
			ret[i] = (struct cuda_device){cards[i], cards[i]};
		return n;
	}
	/* What stands behind the first wrong word is not seen; a card named twice hides all. */
	while (n_ret < SIM_CARDS_MAX) {
		size_t len = strcspn(list += strspn(list, " "), ", ");
		int card = named_card(s, cards, n, list, len);

		for (int i = 0; card >= 0 && i < n_ret; i++) {
			if (ret[i].card == card)
				return 0;
		}
		if (card < 0)
			break;
		ret[n_ret++] = (struct cuda_device){card, card};
		list += len + strspn(list + len, " ");
		if (*list++ != ',')
			break;
	}
	return n_ret;
}

static int card_of(cu_device device, struct sim_card **ret)
{
	if (device < 0 || device >= cuda.n_devices)
		return CU_ERROR_INVALID_DEVICE;
	*ret = &cuda.sim.shm->cards[cuda.devices[device].card];
	return CU_SUCCESS;
}

#define DEVICE_ENTER(pointer)                                                                \
	struct sim_card *card = NULL;                                                        \
	int found;                                                                           \
	CUDA_ENTER();                                                                        \
	found = (pointer) ? card_of(device, &card) : CU_ERROR_INVALID_VALUE;                 \
	if (found != CU_SUCCESS)                                                             \
	return found

int cuDeviceGetCount(int *count)
{
	CUDA_ENTER();
	if (!count)
		return CU_ERROR_INVALID_VALUE;
	*count = cuda.n_devices;
	return CU_SUCCESS;
}

int cuDeviceGet(cu_device *device, int ordinal)
{
	CUDA_ENTER();
	if (!device)
		return CU_ERROR_INVALID_VALUE;
	if (ordinal < 0 || ordinal >= cuda.n_devices)
		return CU_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CU_SUCCESS;
}

int cuDeviceGetName(char *name, int length, cu_device device)
{
	DEVICE_ENTER(name && length > 0);
	snprintf(name, length, "%s", card->model);
	return CU_SUCCESS;
}

int cuDeviceGetUuid_v2(struct cu_uuid *uuid, cu_device device)
{
	DEVICE_ENTER(uuid);
	*uuid = card->id;
	return CU_SUCCESS;
}

int cuDeviceGetUuid(struct cu_uuid *uuid, cu_device device)
{
	return cuDeviceGetUuid_v2(uuid, device);
}

int cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
	DEVICE_ENTER(bytes);
	*bytes = card->bytes;
	return CU_SUCCESS;
}

int cuDeviceGetPCIBusId(char *bus_id, int length, cu_device device)
{
	DEVICE_ENTER(bus_id && length > 0);
	card = &cuda.sim.shm->cards[cuda.devices[device].bus_card];
	snprintf(bus_id, length, "%s", card->bus_id + 4); /* CUDA writes a domain of four digits */
	return CU_SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, cu_device device)
{
	DEVICE_ENTER(value);
	switch (attribute) {
	case CU_ATTR_MAX_THREADS_PER_BLOCK: *value = 1024; break;
	case CU_ATTR_WARP_SIZE: *value = 32; break;
	case CU_ATTR_MULTIPROCESSORS: *value = 108; break;
	case CU_ATTR_PCI_BUS_ID: *value = card->bus; break;
	case CU_ATTR_PCI_DEVICE_ID: *value = 0; break;
	case CU_ATTR_PCI_DOMAIN_ID: *value = 0; break;
	case CU_ATTR_UNIFIED_ADDRESSING: *value = 1; break;
	case CU_ATTR_MAJOR: *value = card->cc_major; break;
	case CU_ATTR_MINOR: *value = card->cc_minor; break;
	default: *value = 0; break;
	}
	return attribute > 0 ? CU_SUCCESS : CU_ERROR_INVALID_VALUE;
}
