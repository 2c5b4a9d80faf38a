#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A peer that is far away: round trips of 50 ms, and packets that overtake each other
# by many places. Everything arrives, no request fails.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

# reordered COMMAND...: the command, of which packets arrive out of order at side A
reordered() { grows "$DEV_A" "out_of_sequence=+" "$@"; }

# Retries that last for minutes: what is tested here is not that they are counted.
far() { integrity_pair "$1" --seconds 600 --timeout 18 "${@:2}"; }

build
ns_pair
link_pair
know_neighbours

bad_link delay 25ms
for family in -4 -6; do
	check "round trips of 50 ms: all operations (IPv${family#-})" \
		far $family --ops all --sizes 100,mtu+1,60000 --qps 2 --flags bidir --count 36
done
check "round trips of 50 ms: 64 requests of 256 KiB outstanding" \
	far -4 --ops write,read,send --sizes 256k --depth 64 --count 64
check "round trips of 50 ms: UC" \
	far -4 --types uc --ops push --sizes 100,5000 --qps 2 --flags bidir --count 20
check "round trips of 50 ms: UD" far -4 --types ud --ops send --sizes 1,mtu --count 20
for family in 4 6; do
	to=IP${family}_A
	check "round trips of 50 ms: rping (IPv$family)" rping_pair "${!to}" 5
done

# netem takes a train for one packet: single ones from here on.
single_packets
bad_link delay 25ms 5ms
check "delays between 20 and 30 ms: all operations" \
	reordered far -4 --ops all --sizes 100,mtu+1,20000 --qps 2 --flags bidir --count 36
bad_link delay 5ms reorder 10% gap 40
check "some packets overtake 40 others: all operations" \
	reordered far -4 --ops all --sizes 100,mtu+1,60000 --qps 2 --flags bidir --count 36
check "some packets overtake 40 others: all operations (IPv6)" \
	reordered far -6 --ops all --sizes 100,mtu+1,60000 --qps 2 --flags bidir --count 36
finish
