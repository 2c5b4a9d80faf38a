// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The bytes. Each message has its own pattern, made from the seed, the round,
 * the direction, the QP and the message's number: a byte that comes from
 * another message, another place in the message or from nowhere is seen.
 */
#include <string.h>

#include "round.h"

uint64_t pattern_key(const struct round *r, bool from_server, uint32_t qp,
		     uint32_t i)
{
	uint64_t key = mix64((uint64_t)r->seed << 32 | r->number);

	return mix64(key ^ ((uint64_t)from_server << 63 | (uint64_t)qp << 32 | i));
}

/* Cheap on purpose (emulated CPUs run this), yet no word repeats. */
void pattern_fill(uint8_t *buf, uint32_t size, uint64_t key)
{
	uint64_t word;
	uint32_t at;

	for (at = 0; at < size; at += sizeof(word)) {
		word = (key + at) * 0x9e3779b97f4a7c15ull;
		word ^= word >> 29;
		memcpy(buf + at, &word, min(size - at, (uint32_t)sizeof(word)));
	}
}

void pattern_scatter(const struct pieces *p, const uint8_t *buf)
{
	int k;

	for (k = 0; k < p->n; buf += p->len[k], k++)
		memcpy(p->addr[k], buf, p->len[k]);
}

void pattern_gather(const struct pieces *p, uint8_t *buf)
{
	int k;

	for (k = 0; k < p->n; buf += p->len[k], k++)
		memcpy(buf, p->addr[k], p->len[k]);
}

/* Every third comparison fails. */
struct atomic pattern_atomic(enum op op, uint64_t key, uint32_t i)
{
	struct atomic atomic = { .swap = mix64(key) };
	uint64_t original;

	pattern_fill((uint8_t *)&original, sizeof(original), key);
	if (op == OP_FETCH_ADD) {
		atomic.compare_add = mix64(~key);
		atomic.result = original + atomic.compare_add;
	} else {
		atomic.compare_add = original + (i % 3 == 2);
		atomic.result = i % 3 == 2 ? original : atomic.swap;
	}
	return atomic;
}

void poison(uint8_t *slot, uint32_t stride)
{
	memset(slot, POISON, stride);
}

long first_difference(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t i;

	if (!memcmp(a, b, len))
		return -1;
	for (i = 0; a[i] == b[i]; i++)
		;
	return i;
}

static long first_unpoisoned(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *p;

	for (p = at; p < end; p++)
		if (*p != POISON)
			return p - at;
	return -1;
}

long guard_violation(const struct pieces *p, const uint8_t *slot,
		     uint32_t stride)
{
	const uint8_t *at = slot;
	long bad;
	int k;

	for (k = 0; k <= p->n; k++) {
		bad = first_unpoisoned(at, k < p->n ? p->addr[k] : slot + stride);
		if (bad >= 0)
			return at - slot + bad;
		if (k < p->n)
			at = p->addr[k] + p->len[k];
	}
	return -1;
}
