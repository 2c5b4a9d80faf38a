#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/loss.sh at several rates, longer.

CHECK_TIMEOUT=1800
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
know_neighbours
link_pair

for trains in off on; do
	a ethtool -K "$VETH_A" tx-udp-segmentation $trains gso $trains >/dev/null
	b ethtool -K "$VETH_B" tx-udp-segmentation $trains gso $trains >/dev/null
	for bad in "loss 0.1%" "loss 1%" "loss 5%" "loss 10%" "duplicate 10%" \
		"corrupt 1%" "corrupt 5%" "delay 2ms reorder 75% gap 3" \
		"delay 2ms 2ms loss 2% duplicate 2% corrupt 2%"; do
		# shellcheck disable=SC2086 # words
		netem "$NS_A" "$VETH_A" $bad
		# shellcheck disable=SC2086 # words
		netem "$NS_B" "$VETH_B" $bad
		for family in -4 -6; do
			check "RC, segmentation offload $trains, $bad, IPv${family#-}" \
				integrity_pair $family --ops send,write,read,all \
				--sizes 0,100,mtu+1,60000 --layouts odd,uneven \
				--qps 4 --flags bidir --count 70 \
				--seconds 300
		done
		# Nobody keeps a datagram from coming twice, or late.
		[[ $bad == loss* || $bad == corrupt* ]] || continue
		check "UD, segmentation offload $trains, $bad" \
			integrity_pair --types ud --ops send,send_imm --sizes 900 \
			--count 3000 --flags lossy --seconds 300
	done
done
finish
