/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SIM_LINUX_TYPES_H
#define SIM_LINUX_TYPES_H

/* As much of the kernel as an algorithm needs, so that its file compiles here. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef uint8_t __u8;
typedef uint32_t __u32;
typedef int32_t __s32;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;

#define __packed __attribute__((__packed__))

#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX

struct list_head {
	struct list_head *next, *prev;
};

#endif /* SIM_LINUX_TYPES_H */
