/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KUNIT_CAPTURES_H
#define KUNIT_CAPTURES_H

#include <linux/types.h>

/**
 * struct capture - a file of kunit/captures, linked into the module
 * @name: of the file, without suffix
 * @packets: number of RoCE packets in it
 * @begin: its first byte
 * @end: one past its last byte
 */
struct capture {
	const char *name;
	unsigned int packets;
	const u8 *begin;
	const u8 *end;
};

/* The captures in captures.c */
extern const u8 capture_cm_rping[], capture_cm_rping_end[];
extern const u8 capture_cm_rping_v6[], capture_cm_rping_v6_end[];
extern const u8 capture_rc_atomic_cs[], capture_rc_atomic_cs_end[];
extern const u8 capture_rc_atomic_fa[], capture_rc_atomic_fa_end[];
extern const u8 capture_rc_read[], capture_rc_read_end[];
extern const u8 capture_rc_read_loss[], capture_rc_read_loss_end[];
extern const u8 capture_rc_send[], capture_rc_send_end[];
extern const u8 capture_rc_send_loss[], capture_rc_send_loss_end[];
extern const u8 capture_rc_write[], capture_rc_write_end[];
extern const u8 capture_uc_send[], capture_uc_send_end[];
extern const u8 capture_uc_write[], capture_uc_write_end[];
extern const u8 capture_ud_send[], capture_ud_send_end[];

#define CAPTURES	12
#define CAPTURED_PACKETS	805

extern const struct capture captures[CAPTURES];

#endif /* KUNIT_CAPTURES_H */
