/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KUNIT_STORM_H
#define KUNIT_STORM_H

#include "wire_fake.h"

/**
 * struct storm - faults of many kinds for a mix of requests
 * @name: of the case
 * @drop: see &struct wire_weather
 * @duplicate: see &struct wire_weather
 * @corrupt: see &struct wire_weather
 * @delay: see &struct wire_weather
 * @distance: see &struct wire_weather
 * @one_way: no faults for packets of end 1
 * @merge: see &struct wire
 * @reordering_us: see &struct wire_setup
 */
struct storm {
	const char *name;
	u32 drop;
	u32 duplicate;
	u32 corrupt;
	u32 delay;
	u32 distance;
	bool one_way;
	bool merge;
	u32 reordering_us;
};

void storm_begin(struct wire *wire, const struct storm *storm);
void storm_work(struct wire *wire);

#endif /* KUNIT_STORM_H */
