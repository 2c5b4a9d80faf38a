/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ROCE_COMPAT_CRC32_H
#define ROCE_COMPAT_CRC32_H

/*
 * The fastest CRC-32 of this kernel: crc32_le() uses carry-less multiplication from
 * 6.14 on; in older kernels, only "crc32" of the crypto API does. Part of compat.h,
 * for icrc.c only.
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

/* No limit for short inputs: from 16 bytes on, the table takes longer than an FPU section. */
static inline u32 roce_crc32(u32 crc, const void *data, size_t length)
{
	return crc32_le(crc, data, length);
}
#else
#include <crypto/hash.h>
#include <linux/kmod.h>

static struct crypto_shash *roce_crc32_algorithm;

/*
 * The fast implementation may not be loaded yet although a slow one is there. A soft
 * dependency on it would fail modprobe -r while others use it.
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

/*
 * The state of the algorithm is only the running value. Not inlined: many kernels clear
 * the room for the largest state of any algorithm, which takes longer than a short CRC.
 */
static noinline u32 roce_crc32_long(u32 crc, const void *data, size_t length)
{
	SHASH_DESC_ON_STACK(state, roce_crc32_algorithm);

	state->tfm = roce_crc32_algorithm;
	*(u32 *)shash_desc_ctx(state) = crc;
	crypto_shash_update(state, data, length);
	return *(u32 *)shash_desc_ctx(state);
}

static inline u32 roce_crc32(u32 crc, const void *data, size_t length)
{
	/* Saving the vector registers would take longer. */
	return length < 64 ? crc32_le(crc, data, length) :
			     roce_crc32_long(crc, data, length);
}
#endif

#endif /* ROCE_COMPAT_CRC32_H */
