/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection beside all that a test does, which must not disturb it. */
#ifndef BYSTANDER_H
#define BYSTANDER_H

#include "mapping.h"

struct bystander {
	struct port a, b;
	struct duo d;
	struct mapping m;
	unsigned int messages;
	unsigned int wrong;	/* of them */
	double longest;		/* seconds that one of them took */
};

void bystander_open(struct bystander *by, const char *const device[2],
		    const int gid_index[2]);
void bystander_move(struct bystander *by);
void bystander_close(struct bystander *by);

#endif
