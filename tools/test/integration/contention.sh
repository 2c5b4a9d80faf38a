#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What operators do while programs, or other operators, do something else to the
# same thing. (What two threads of a program do is in verbs/contention.c.) ROUNDS
# says how often.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ROUNDS=${ROUNDS:-$((6 / SLOWNESS))}

build
ns_pair
link_pair

# --- others look ---------------------------------------------------------------------

come_and_go()
{
	local i

	for ((i = 0; i < ROUNDS; i++)); do
		control algorithm timely
		rdma statistic qp set link "$DEV_A/1" auto pid on
		integrity_pair --ops mix --sizes 5000 --qps 4 --flags bidir --count 56
		control algorithm dcqcn
		wait_for rmmod roce_timely
		rdma statistic qp set link "$DEV_A/1" auto off
	done
}
check "QPs, their counters and an algorithm come and go, while others look at them" \
	watched come_and_go

# A reader between two packets must not see more multicast packets than packets.
never_negative()
{
	local n

	while sleep 0.1; do
		n=$(port_attr "$DEV_A" "" counters/unicast_rcv_packets)
		((n >= 0 && n < 1000000)) || { echo "$n packets"; return 1; }
	done
}
ready_mckey() { grep -q "receiving data" "$TMP/server.out"; }
counted_while_they_come()
{
	local reader

	never_negative >"$TMP/reader" &
	reader=$!
	READY=ready_mckey pair stdbuf -oL mckey -m 239.1.2.3 -b "$IP4_A" -C $((ROUNDS * 500)) -- \
		mckey -m 239.1.2.3 -b "$IP4_B" -s -C $((ROUNDS * 500))
	kill "$reader" || { cat "$TMP/reader"; return 1; }
}
check "counters that are differences are none below zero while packets come" \
	counted_while_they_come

# --- a link is added to what changes --------------------------------------------------

link_del "$DEV_A"

# device/net has the name that the netdev has in the end.
add_while_renamed()
{
	local i adding added=0 names=("$VETH_A" renamed)

	a ip link set "$VETH_A" down
	for ((i = 0; i < 4 * ROUNDS; i++)); do
		a rdma link add moving type roce netdev "${names[i % 2]}" 2>/dev/null &
		adding=$!
		nap "0.0$((RANDOM % 10))"
		a ip link set "${names[i % 2]}" name "${names[(i + 1) % 2]}"
		wait "$adding" || continue
		added=$((added + 1))
		expect "the name in device/net" "${names[(i + 1) % 2]}" \
			"$(a ls /sys/class/infiniband/moving/device/net)"
		a rdma link delete moving
	done
	echo "added $added times"
	((added > 0))
}
check "a link is added while its netdev gets another name" add_while_renamed

# add_again: until somebody ends it
add_again()
{
	set +e
	while :; do
		! in_ns "$1" rdma link add moving type roce netdev "$VETH_A" || echo "$1"
	done >>"$TMP/added" 2>/dev/null
}

add_while_moved()
{
	local i adders=()

	add_again "$NS_A" &
	adders+=($!)
	add_again "$NS_B" &
	adders+=($!)
	for ((i = 0; i < 4 * ROUNDS; i++)); do
		nap "0.$((RANDOM % 3))"
		a ip link set "$VETH_A" netns "$NS_B"
		nap "0.$((RANDOM % 3))"
		b ip link set "$VETH_A" netns "$NS_A"
	done
	kill "${adders[@]}"
	wait "${adders[@]}" || true
	a ip link set "$VETH_A" netns "$NS_B"
	wait_for link_gone moving
	echo "added in:"
	found "$NS_A" <"$TMP/added"
	found "$NS_B" <"$TMP/added"
}
check "a link is added while its netdev moves between namespaces" add_while_moved

fresh()
{
	ns_del "$NS_A"
	ns_del "$NS_B"
	ns_pair
	link_pair
	integrity_pair --ops mix --sizes 5000 --count 28
}
check "and all is well afterwards" fresh
finish
