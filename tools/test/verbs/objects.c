// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What is in use cannot be destroyed. */
#include <errno.h>
#include <stdio.h>

#include "verbs.h"

void test_objects(void)
{
	struct duo d;

	duo_open(&d, NULL);
	tap_errno("a CQ that a QP uses is busy", EBUSY,
		  ibv_destroy_cq(d.a.scq));
	tap_errno("a PD that a QP and a region use is busy", EBUSY,
		  ibv_dealloc_pd(d.a.pd));
	tap_alive("and both work on", &d);
	duo_close(&d);
}
