/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_COMPAT_CRC32_H
#define ROCE_COMPAT_CRC32_H

/*
 * CRC-32 as fast as this kernel can: crc32_le() uses carry-less multiplication
 * from 6.14 on; before, only the crypto API's "crc32" does. Part of compat.h,
 * for icrc.c alone.
 */
#include <linux/crc32.h>

#ifdef ROCE_HAVE_FAST_CRC32
static inline int roce_crc32_init(void)
{
	return 0;
}

static inline void roce_crc32_exit(void)
{
}

static inline u32 roce_crc32(u32 crc, const void *data, size_t length)
{
	return crc32_le(crc, data, length);
}
#else
#include <crypto/hash.h>
#include <linux/kmod.h>

static struct crypto_shash *roce_crc32_algorithm;

/*
 * The fast one may still have to be loaded when there is a slow one. As a soft
 * dependency it would be in the way of modprobe -r while others use it.
 */
static inline int roce_crc32_init(void)
{
	request_module("crypto-crc32");
	roce_crc32_algorithm = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(roce_crc32_algorithm))
		pr_err("roce: this kernel has no crc32 (CONFIG_CRYPTO_CRC32)\n");
	return PTR_ERR_OR_ZERO(roce_crc32_algorithm);
}

static inline void roce_crc32_exit(void)
{
	crypto_free_shash(roce_crc32_algorithm);
}

/* The running value is all the state that the algorithm has. */
static inline u32 roce_crc32(u32 crc, const void *data, size_t length)
{
	SHASH_DESC_ON_STACK(state, roce_crc32_algorithm);

	/* Too short to be worth saving the vector registers */
	if (length < 64)
		return crc32_le(crc, data, length);
	state->tfm = roce_crc32_algorithm;
	*(u32 *)shash_desc_ctx(state) = crc;
	crypto_shash_update(state, data, length);
	return *(u32 *)shash_desc_ctx(state);
}
#endif

#endif /* ROCE_COMPAT_CRC32_H */
