#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Priorities: the service level of a connection, and that of CNPs, lead packets to
# their traffic class, as Documentation/congestion-control.md sets it up for a NIC
# without DCB.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ns_pair 3
link_pair
for side in A B; do
	ns=NS_$side veth=VETH_$side
	ip netns exec "${!ns}" tc qdisc add dev "${!veth}" root handle 1: mqprio num_tc 3 \
		map 0 0 0 1 0 0 2 0 queues 1@0 1@1 1@2 hw 0
done

# B writes into A's memory: 30 messages of 64 KiB, in trains.
at_least_30() { (($("$@") >= 30)); }
writes() { perftest ib_write_bw -n 30 -s 65536 "$@"; }

check "service level 0 is sent in the class of priority 0" \
	at_least_30 class_growth B ffe0 writes
check "service level 3 is sent in the class of priority 3" \
	at_least_30 class_growth B ffe1 writes -S 3
mark "$NS_B" 'limit rate 1/hour burst 1 packets'
cnps() { (($(class_growth A ffe2 writes -S 3) >= 1)); }
check "CNPs are sent in the class of priority 6" cnps
mark_none "$NS_B"
# TOS 16 has priority 6, as for a socket.
check "a traffic class without a service level is sent in the class of its priority" \
	at_least_30 class_growth B ffe2 writes --tclass=16
none() { expect "packets of class 1" 0 "$(class_growth B ffe1 writes -S 5)"; }
check "and nothing in a class of another priority" none
finish
