#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Integrity on a bad link. The packets are cut to single ones first, so that
# netem hits single packets and not whole trains. Each check goes on until what it is
# about has happened often enough.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

build
ns_pair
know_neighbours
link_pair

# mixed ARGS...: all operations but atomics over RC, both directions. The QP's timeout is 67
# ms: an emulated CPU may pause for longer than retries of 17 ms last.
mixed()
{
	integrity_pair "$@" --ops mix --sizes 100,5000,60000 --layouts uneven \
		--qps 2 --flags bidir --count $((28 / SLOWNESS)) --depth 8
}

single_packets
bad_link loss 2%
for family in 4 6; do
	check "RC under 2% loss: nothing is lost, doubled or changed (IPv$family)" \
		under "loss=20" mixed -$family
done

# losses: packets that the link, a backlog, or a device has dropped, and counted
losses()
{
	local drops column backlogs=0

	while read -r _ column _; do
		backlogs=$((backlogs + 0x$column))
	done </proc/net/softnet_stat
	drops=$(counted rx_dropped_no_receive rx_dropped_inbox_full rx_dropped_no_memory \
		tx_dropped_queue_full)
	echo $(($(happened loss) + backlogs + drops))
}

# Receivers that come too late for a datagram lose it, too.
datagrams()
{
	local before lost

	before=$(losses)
	integrity_pair --types ud --ops send,send_imm --sizes 900 --count 500 --lost 100 |
		tee "$TMP/datagrams"
	lost=$(awk '/^# lost / { n += $3 } END { print n + 0 }' "$TMP/datagrams")
	echo "$lost messages lost, $(($(losses) - before)) packets dropped"
	((lost <= $(losses) - before))
}
check "UD under 2% loss: what arrives is right and in order, and what is lost was dropped and counted" \
	under "loss=5" datagrams
bad_link duplicate 5%
check "RC under 5% duplication: no message comes twice" under "duplicates=20" mixed
bad_link delay 2ms reorder 90% gap 5
check "RC under reordering: messages are in order" under "gaps=20" mixed
# netem damages the linear part of a packet: without scatter-gather that is all of it.
a ethtool -K "$VETH_A" sg off >/dev/null
b ethtool -K "$VETH_B" sg off >/dev/null
bad_link corrupt 6%
check "RC under 6% corruption: no wrong byte gets through" under "damage=20" mixed
bad_link delay 1ms 1ms loss 1% duplicate 1% corrupt 1%
check "RC under loss, duplication, reordering and corruption at once" \
	under "loss=10 damage=10 duplicates=1 gaps=1" mixed

good_link
check "RC once the link is good again" mixed

for side in a b; do
	veth=VETH_${side^}
	$side ethtool -K "${!veth}" sg on tx-udp-segmentation on gso on >/dev/null
done
bad_link loss 2%
check "RC under 2% loss of whole trains: nothing is lost, doubled or changed" under "loss=5" mixed
finish
