/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ACCESS_H
#define ROCE_ACCESS_H

#include "roce.h"

/**
 * struct roce_access - what somebody wants to do with memory
 * @pd: protection domain of the QP that asks
 * @qpn: of that QP if its peer asks, 0 if its consumer does
 * @key: L_Key of a scatter/gather element, or R_Key of a packet
 * @rights: IB_ACCESS_* flags that it takes, 0 to read locally
 * @address: of the first byte
 * @length: bytes; without any, key and address do not count, but for a FLUSH,
 *	which means all that the key stands for
 */
struct roce_access {
	struct roce_pd *pd;
	u32 qpn;
	u32 key;
	int rights;
	u64 address;
	u32 length;
};

/**
 * roce_range_covers() - whether bytes lie within a range of addresses, whole
 * @start: of the range
 * @size: bytes of the range
 * @address: of the first byte
 * @length: bytes; address and length may be anything
 */
static inline bool roce_range_covers(u64 start, u64 size, u64 address,
				     u64 length)
{
	return address >= start && length <= size &&
	       address - start <= size - length;
}

bool roce_access_is_allowed(const struct roce_access *access);
int roce_access_read(const struct roce_access *access, struct roce_train *train);
int roce_access_write(const struct roce_access *access,
		      const struct sk_buff *skb, unsigned int offset);
int roce_access_copy_to(const struct roce_access *access, const void *buffer);
int roce_access_compare_swap(const struct roce_access *access, u64 compare,
			     u64 swap, u64 *original);
int roce_access_fetch_add(const struct roce_access *access, u64 add,
			  u64 *original);
int roce_access_store(const struct roce_access *access, u64 number);
int roce_access_flush(const struct roce_access *access);

#endif /* ROCE_ACCESS_H */
