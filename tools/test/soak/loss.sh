#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# integration/loss.sh at several rates, longer.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

build
ns_pair
know_neighbours
link_pair

# kinds NETEM-ARGS...: what has to happen on such a link, for under()
kinds()
{
	local word

	for word; do
		case $word in
		loss) echo "loss=5" ;;
		duplicate) echo "duplicates=5" ;;
		reorder) echo "gaps=5" ;;
		corrupt) echo "damage=5" ;;
		esac
	done
}

# may_be_lost NETEM-ARGS...: percent of the datagrams. Trains are lost as a whole, so their
# number varies more than that of single packets.
may_be_lost()
{
	local percent=${2%\%}

	echo $((2 * ${percent%.*} + 8))
}

for trains in off on; do
	a ethtool -K "$VETH_A" tx-udp-segmentation $trains gso $trains >/dev/null
	b ethtool -K "$VETH_B" tx-udp-segmentation $trains gso $trains >/dev/null
	for bad in "loss 0.1%" "loss 1%" "loss 5%" "loss 10%" "duplicate 10%" \
		"corrupt 1%" "corrupt 5%" "delay 2ms reorder 75% gap 3" \
		"delay 2ms 2ms loss 2% duplicate 2% corrupt 2%"; do
		# shellcheck disable=SC2086 # words
		bad_link $bad
		# shellcheck disable=SC2086 # words
		kinds=$(kinds $bad)
		for family in -4 -6; do
			check "RC, segmentation offload $trains, $bad, IPv${family#-}" \
				under "$kinds" integrity_pair $family --ops send,write,read,all \
				--sizes 0,100,mtu+1,60000 --layouts odd,uneven \
				--qps 4 --flags bidir --count 70 \
				--seconds 300
		done
		# Nobody keeps a datagram from coming twice, or late.
		[[ $bad == loss* || $bad == corrupt* ]] || continue
		# shellcheck disable=SC2046,SC2086 # words
		check "UD, segmentation offload $trains, $bad" \
			under "$kinds" integrity_pair --types ud --ops send,send_imm --sizes 900 \
			--count 3000 --lost "$(may_be_lost $bad)" --seconds 300
	done
done
finish
