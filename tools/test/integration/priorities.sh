#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Priorities: the service level of a connection, and that of CNPs, lead packets to
# their traffic class, as Documentation/congestion-control.md sets it up for a NIC
# without DCB.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ns_add "$NS_A"
ns_add "$NS_B"
ip link add "$VETH_A" mtu "$MTU" numtxqueues 3 netns "$NS_A" type veth \
	peer name "$VETH_B" mtu "$MTU" numtxqueues 3 netns "$NS_B"
address "$NS_A" "$VETH_A" "$IP4_A/24" "$IP6_A/64"
address "$NS_B" "$VETH_B" "$IP4_B/24" "$IP6_B/64"
link_pair
for side in A B; do
	ns=NS_$side veth=VETH_$side
	ip netns exec "${!ns}" tc qdisc add dev "${!veth}" root mqprio num_tc 3 \
		map 0 0 0 1 0 0 2 0 queues 1@0 1@1 1@2 hw 0
done

# packets NS NETDEV CLASS: that it has sent
packets()
{
	ip netns exec "$1" tc -s class show dev "$2" |
		awk -v class=":ffe$3 root" 'index($0, class) { getline; print $4 }'
}

# grown SIDE CLASS COMMAND...: packets that the command makes a class send
grown()
{
	local ns=NS_$1 veth=VETH_$1 class=$2 before
	shift 2

	before=$(packets "${!ns}" "${!veth}" "$class")
	"$@" >"$TMP/command.out" || return
	echo $(($(packets "${!ns}" "${!veth}" "$class") - before))
}

# B writes into A's memory: 30 messages of 64 KiB, in trains.
at_least_30() { (($("$@") >= 30)); }
writes() { perftest ib_write_bw -n 30 -s 65536 "$@"; }

check "service level 0 is sent in the class of priority 0" \
	at_least_30 grown B 0 writes
check "service level 3 is sent in the class of priority 3" \
	at_least_30 grown B 1 writes -S 3
mark "$NS_B" 'limit rate 1/hour burst 1 packets'
cnps() { (($(grown A 2 writes -S 3) >= 1)); }
check "CNPs are sent in the class of priority 6" cnps
mark_none "$NS_B"
none() { expect "packets of class 1" 0 "$(grown B 1 writes -S 5)"; }
check "and nothing in a class of another priority" none
finish
