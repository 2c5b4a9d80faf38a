/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KUNIT_STORM_H
#define KUNIT_STORM_H

#include "wire_fake.h"

/**
 * struct storm - everything at once: what happens to the packets of mixed work
 * @name: of the case
 * @drop: as in &struct wire_weather, and so are the next four
 * @duplicate: likewise
 * @corrupt: likewise
 * @delay: likewise
 * @distance: likewise
 * @one_way: what end 1 sends is left alone
 * @reordering_us: as in &struct wire_setup
 */
struct storm {
	const char *name;
	u32 drop;
	u32 duplicate;
	u32 corrupt;
	u32 delay;
	u32 distance;
	bool one_way;
	u32 reordering_us;
};

void storm_begin(struct wire *wire, const struct storm *storm);
void storm_work(struct wire *wire);

#endif /* KUNIT_STORM_H */
