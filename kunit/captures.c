// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The captures for the test of the ICRC: traffic of rdma_rxe, linked into the module
 * byte by byte.
 */
#include "captures.h"

#define TAKE_IN(file) \
	asm(".pushsection .rodata\n" \
	    "capture_" #file ": .incbin \"captures/" #file ".pcap\"\n" \
	    "capture_" #file "_end:\n" \
	    ".popsection\n")

#define CAPTURE(file, count) { \
		.name = #file, .packets = (count), \
		.begin = capture_##file, .end = capture_##file##_end, \
	}

TAKE_IN(cm_rping);
TAKE_IN(cm_rping_v6);
TAKE_IN(rc_atomic_cs);
TAKE_IN(rc_atomic_fa);
TAKE_IN(rc_read);
TAKE_IN(rc_read_loss);
TAKE_IN(rc_send);
TAKE_IN(rc_send_loss);
TAKE_IN(rc_write);
TAKE_IN(uc_send);
TAKE_IN(uc_write);
TAKE_IN(ud_send);

const struct capture captures[CAPTURES] = {
	CAPTURE(cm_rping, 9),
	CAPTURE(cm_rping_v6, 9),
	CAPTURE(rc_atomic_cs, 10),
	CAPTURE(rc_atomic_fa, 10),
	CAPTURE(rc_read, 30),
	CAPTURE(rc_read_loss, 200),
	CAPTURE(rc_send, 30),
	CAPTURE(rc_send_loss, 442),
	CAPTURE(rc_write, 30),
	CAPTURE(uc_send, 15),
	CAPTURE(uc_write, 15),
	CAPTURE(ud_send, 5),
};
