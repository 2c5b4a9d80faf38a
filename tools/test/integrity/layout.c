// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How a message lies in memory. A slot has room for one message in any layout,
 * with guard bytes before, after and between the pieces.
 */
#include "round.h"

/* The most that layout_pieces() spreads a message of @size bytes over. */
uint32_t slot_stride(uint32_t size)
{
	uint32_t need = 2 * GUARD + 64 + GRH_SIZE + size + 16 +
			MAX_SGE * (GAP + 8);

	return (need + 63) & ~63u;
}

static uint32_t layout_offset(enum layout layout, uint32_t i)
{
	return GUARD + (layout == LAYOUT_ONE ? 0 : (i * 7 + 1) % 64);
}

uint32_t target_offset(const struct round *r, uint32_t i)
{
	uint32_t offset = layout_offset(r->rx_layout, i);

	return op_is_atomic(round_op(r, i)) ? offset & ~7u : offset;
}

static int cut_even(uint32_t size, uint32_t *len)
{
	int n = min(size, (uint32_t)MAX_SGE);
	int k;

	for (k = 0; k < n; k++)
		len[k] = size / n + (k < (int)(size % n));
	return n;
}

static int cut_tiny(uint32_t size, uint32_t *len)
{
	int n = 0;

	for (; size > 1 && n < MAX_SGE - 1; size--)
		len[n++] = 1;
	len[n++] = size;
	return n;
}

static int cut_uneven(uint32_t size, uint32_t i, uint32_t *len, bool holes)
{
	const uint32_t want[] = { 1, 7 + i % 5, size / 3, 64, size / 7 };
	unsigned int k;
	int n = 0;

	for (k = 0; k < ARRAY_SIZE(want) && size; k++) {
		len[n] = min(size, want[k]);
		size -= len[n];
		if (len[n])
			n++;
		if (holes)
			len[n++] = 0;
	}
	if (size)
		len[n++] = size;
	return n;
}

void layout_pieces(struct pieces *p, enum layout layout, uint8_t *slot,
		   uint32_t size, uint32_t i)
{
	uint8_t *at = slot + layout_offset(layout, i);
	int k;

	p->n = 0;
	if (!size)
		return;
	switch (layout) {
	case LAYOUT_UNEVEN:
	case LAYOUT_HOLES:
		p->n = cut_uneven(size, i, p->len, layout == LAYOUT_HOLES);
		break;
	case LAYOUT_MANY:
		p->n = cut_even(size, p->len);
		break;
	case LAYOUT_TINY:
		p->n = cut_tiny(size, p->len);
		break;
	default:
		p->n = 1;
		p->len[0] = size;
	}
	for (k = 0; k < p->n; k++) {
		p->addr[k] = at;
		at += p->len[k] + GAP + (k * 3 + i) % 8;
	}
}
