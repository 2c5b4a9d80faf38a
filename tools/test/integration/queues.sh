#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The transmit queues of a netdev, each of which has a CPU of its own (XPS): what a
# QP sends stays in one of them, wherever its program and its acknowledgments are.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

CPUS=(0 1)

build
ns_pair 2
link_pair
for side in A B; do
	ns=NS_$side veth=VETH_$side
	ip netns exec "${!ns}" tc qdisc add dev "${!veth}" root handle 1: mq
	for cpu in "${CPUS[@]}"; do
		ip netns exec "${!ns}" bash -c \
			"echo $((1 << cpu)) >/sys/class/net/${!veth}/queues/tx-$cpu/xps_cpus"
	done
done

# growth SIDE COMMAND...: packets that the command makes each queue send, the busiest last
growth()
{
	local side=$1
	shift

	class_growth "$side" "1 2" "$@" | sort -n
}

# from_each_cpu OPERATION COUNT BYTES: the program is now on one CPU and now on another
from_each_cpu()
{
	local cpu

	for cpu in "${CPUS[@]}" "${CPUS[@]}"; do
		taskset -pc "$cpu" "$CONNECTION_END" || return
		move "$@" || return
	done
}

# Neighbours look for each other now and then; of UD each CPU sends 40 packets.
one_queue()
{
	local grown

	mapfile -t grown < <(growth "$@")
	echo "packets of the queues: ${grown[*]}"
	((grown[0] < 20 && grown[1] >= 80))
}

# More than the programs say to each other over TCP: a QP sends 1280 packets.
both_queues()
{
	local grown

	mapfile -t grown < <(growth "$@")
	echo "packets of the queues: ${grown[*]}"
	((grown[0] >= 1280))
}

connect rc
check "WRITEs of one QP leave by one queue" \
	one_queue A from_each_cpu write 20 65000
check "the answers to READs of one QP leave by one queue" \
	one_queue B from_each_cpu read 20 65000
hang_up
connect rc -6
check "IPv6: WRITEs of one QP leave by one queue" \
	one_queue A from_each_cpu write 20 65000
hang_up
connect uc
check "what a UC QP sends leaves by one queue" \
	one_queue A from_each_cpu send 20 65000
hang_up
connect ud
check "what a UD QP sends leaves by one queue" \
	one_queue A from_each_cpu send 20 1024
hang_up
check "many QPs use all queues" \
	both_queues B perftest ib_write_bw -q 8 -n 20 -s 65536

# Each queue of a veth leads to one of the other side's, like the wire of a NIC, if
# the packets of TCP are single and GRO is on; otherwise to the backlog of some CPU.
a ethtool -K "$VETH_A" gro on tso off
b ethtool -K "$VETH_B" gro on tso off
# The ring of a veth has 256 places, and before Linux 7 it drops what finds none: eight QPs
# with two messages of 8 packets each never fill it.
b tc qdisc add dev "$VETH_B" parent 1:1 netem limit 10000 delay 300us
b tc qdisc add dev "$VETH_B" parent 1:2 netem limit 10000 delay 600us
check "nothing is out of sequence where one queue is slower than the other" \
	grows "$DEV_A" "out_of_sequence=0" perftest ib_write_bw -q 8 -n $((4000 / SLOWNESS)) -s 8192 -t 2

vlan_pair 7
wait_for gid_index "$DEV_A" "$NS_A" 4 "$VETH_A.7"
wait_for gid_index "$DEV_B" "$NS_B" 4 "$VETH_B.7"
GID4_A=$(gid_index "$DEV_A" "$NS_A" 4 "$VETH_A.7")
GID4_B=$(gid_index "$DEV_B" "$NS_B" 4 "$VETH_B.7")
connect rc
check "WRITEs of one QP over a VLAN leave by one queue" \
	one_queue A from_each_cpu write 20 65000
hang_up
finish
