/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_PSN_H
#define ROCE_PSN_H

#include <linux/types.h>

/*
 * Packet sequence numbers are 24 bits wide and wrap (IBA volume 1, 9.7.2).
 * All arithmetic on them is here. Of two numbers the one that lies less than
 * 2^23 ahead of the other is the later one.
 */
#define ROCE_PSN_MASK	0xffffffu

/**
 * roce_psn_add() - the PSN that follows @psn by @count packets
 * @psn: a packet sequence number
 * @count: packets, modulo 2^24; a negative number cast to u32 goes back
 */
static inline __u32 roce_psn_add(__u32 psn, __u32 count)
{
	return (psn + count) & ROCE_PSN_MASK;
}

/**
 * roce_psn_diff() - signed distance from @b to @a in packets
 * @a: a packet sequence number
 * @b: the one to compare it with
 *
 * Return: how many packets @a is ahead of @b, negative if it is behind;
 * -2^23 to 2^23 - 1.
 */
static inline __s32 roce_psn_diff(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

/** roce_psn_precedes() - whether @a is behind @b */
static inline bool roce_psn_precedes(__u32 a, __u32 b)
{
	return roce_psn_diff(a, b) < 0;
}

/** roce_psn_later() - the one of @a and @b that is ahead */
static inline __u32 roce_psn_later(__u32 a, __u32 b)
{
	return roce_psn_precedes(a, b) ? b : a;
}

/** roce_psn_earlier() - the one of @a and @b that is behind */
static inline __u32 roce_psn_earlier(__u32 a, __u32 b)
{
	return roce_psn_precedes(a, b) ? a : b;
}

#endif /* ROCE_PSN_H */
