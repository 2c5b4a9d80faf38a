#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A network of many paths: packets overtake each other. What comes early is kept, and
# little is sent again. Whoever does not want that says so in sysfs.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

# ACK timeouts of a second: a machine that is late is no loss.
traffic()
{
	integrity_pair "$1" --timeout 18 --ops mix --sizes 20000 --flags bidir \
		--count 112 --depth 8
}

build
ns_pair
link_pair
know_neighbours
single_packets

check "the limit of patience is 0 to 1000000 microseconds" \
	guarded reordering_us 1000001 -1 soon ''

# One packet in ten is 5 ms late.
bad_link delay 5ms reorder 90%
for family in 4 6; do
	set_patience 1000000
	check "packets overtake each other: everything arrives (IPv$family)" \
		share "$TMP/with" under "kept=50 late=20" traffic "-$family"
	set_patience 0
	check "the same without patience (IPv$family)" \
		share "$TMP/without" under "gaps=50" traffic "-$family"
	check "without patience twice as many packets are sent again, or more (IPv$family)" \
		test "$(<"$TMP/without")" -ge $(($(<"$TMP/with") * 2))
done

# A late packet is merged behind an early one, which waits for it.
merging_receivers
set_patience 1000000
check "packets overtake each other, and are merged: everything arrives" \
	share "$TMP/merged" under "kept=50 late=20 merged=100" traffic -4
check "twice as many as these are sent again without patience, or more" \
	test "$(<"$TMP/without")" -ge $(($(<"$TMP/merged") * 2))
finish
