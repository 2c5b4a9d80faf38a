#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Integrity on a bad link. The packets are cut to single ones first, so that
# netem hits single packets and not whole trains.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
know_neighbours
link_pair

# bad_link NETEM-ARGS...: in both directions
bad_link()
{
	netem "$NS_A" "$VETH_A" "$@"
	netem "$NS_B" "$VETH_B" "$@"
}

# dropped: packets that netem has dropped on side B
dropped() { b tc -s qdisc show dev "$VETH_B" | sed -n 's/.*dropped \([0-9]*\).*/\1/p'; }

# mixed ARGS...: all operations but atomics over RC, both directions. The QP's timeout is 67
# ms: an emulated CPU may pause for longer than retries of 17 ms last.
mixed()
{
	integrity_pair "$@" --ops mix --sizes 100,5000,60000 --layouts odd,uneven \
		--qps 2 --flags bidir --count $((28 / SLOWNESS)) --depth 8
}

single_packets
bad_link loss 2%
check "RC under 2% loss: nothing is lost, doubled or changed (IPv4)" mixed -4
check "netem did drop packets" test "$(dropped)" -gt 0
check "RC under 2% loss (IPv6)" mixed -6
check "UD under 2% loss: what arrives is right and in order" \
	integrity_pair --types ud --ops send,send_imm --sizes 900 --count 500 \
	--flags lossy
bad_link duplicate 5%
check "RC under 5% duplication" mixed
bad_link delay 2ms reorder 90% gap 5
check "RC under reordering" mixed
bad_link corrupt 2%
check "RC under 2% corruption: no wrong byte gets through" mixed
bad_link delay 1ms 1ms loss 1% duplicate 1% corrupt 1%
check "RC under all of it" mixed

netem "$NS_A" "$VETH_A"
netem "$NS_B" "$VETH_B"
check "RC once the link is good again" mixed

a ethtool -K "$VETH_A" tx-udp-segmentation on gso on >/dev/null
b ethtool -K "$VETH_B" tx-udp-segmentation on gso on >/dev/null
bad_link loss 2%
check "RC under 2% loss of whole trains" mixed
finish
