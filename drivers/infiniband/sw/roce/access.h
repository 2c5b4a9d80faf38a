/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_ACCESS_H
#define ROCE_ACCESS_H

#include <linux/types.h>

struct roce_fault;
struct roce_key;
struct roce_mr;
struct roce_odp;
struct roce_pd;

/**
 * struct roce_access - an access to memory
 * @pd: protection domain of the QP
 * @qpn: number of the QP if its peer accesses, 0 if its consumer does
 * @key: L_Key of a scatter/gather element, or R_Key of a packet
 * @rights: IB_ACCESS_* flags that the access needs, 0 to read locally
 * @address: of the first byte
 * @length: bytes; if 0, key and address are ignored, except for a FLUSH, which
 *	then means the whole region
 * @ahead: bytes from @address on that the same message may access, @length of them now;
 *	0 if that is not known
 * @fault: of the engine, where pages that are not present are noted
 * @latest: optional cache for many accesses within one section: what the latest
 *	key named, at first NULL
 */
struct roce_access {
	struct roce_pd *pd;
	u32 qpn;
	u32 key;
	int rights;
	u64 address;
	u32 length;
	u32 ahead;
	struct roce_fault *fault;
	struct roce_key **latest;
};

/**
 * struct roce_access_pieces - memory that is being accessed, piece by piece
 * @data: the present piece, contiguous
 * @io: the same, if it is I/O memory
 * @length: bytes of it; 0 if the access has no bytes
 * @mr: the region that it lies in
 * @address: in the region, of the byte after the piece
 * @left: bytes after the piece
 * @locked: the lock of @mr is held
 * @mapped: @data must be unmapped
 * @is_io: I/O memory, which only the functions for it may touch
 */
struct roce_access_pieces {
	union {
		void *data;
		void __iomem *io;
	};
	u32 length;
	struct roce_mr *mr;
	u64 address;
	u32 left;
	bool locked;
	bool mapped;
	bool is_io;
};

/**
 * roce_range_covers() - whether a range contains some bytes entirely
 * @start: first address of the range
 * @size: bytes of the range
 * @address: of the first byte
 * @length: bytes; address + length may overflow
 */
static inline bool roce_range_covers(u64 start, u64 size, u64 address,
				     u64 length)
{
	return address >= start && length <= size &&
	       address - start <= size - length;
}

bool roce_access_is_allowed(const struct roce_access *access);
int roce_access_begin(const struct roce_access *access,
		      struct roce_access_pieces *pieces);
bool roce_access_find_next(struct roce_access_pieces *pieces);
void roce_access_release(struct roce_access_pieces *pieces);
void roce_access_copy_to_io(const struct roce_access_pieces *pieces, u32 offset,
			    const void *buffer, u32 length);
int roce_access_copy_to(const struct roce_access *access, const void *buffer);
int roce_access_compare_swap(const struct roce_access *access, u64 compare,
			     u64 swap, u64 *original);
int roce_access_fetch_add(const struct roce_access *access, u64 add,
			  u64 *original);
int roce_access_store(const struct roce_access *access, u64 number);
int roce_access_flush(const struct roce_access *access);
int roce_access_get_odp(const struct roce_access *access, struct roce_odp **odp,
			u64 *address);

/**
 * roce_access_next() - go to the next piece of memory
 * @pieces: between roce_access_begin() and roce_access_end()
 *
 * Return: false if there is none; the present piece stays valid then.
 */
static inline bool roce_access_next(struct roce_access_pieces *pieces)
{
	return pieces->left && roce_access_find_next(pieces);
}

/**
 * roce_access_end() - end an access
 * @pieces: set by roce_access_begin()
 */
static inline void roce_access_end(struct roce_access_pieces *pieces)
{
	if (pieces->locked || pieces->mapped)
		roce_access_release(pieces);
}

#endif /* ROCE_ACCESS_H */
