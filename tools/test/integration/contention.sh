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

# least FILE: that no number in it is below the first one, until $TMP/counting goes.
# No process is begun for a look: it has to fall between two packets.
least()
{
	local first n

	read -r first <"$1"
	while [[ -e $TMP/counting ]]; do
		read -r n <"$1"
		((n >= first)) || { echo "$1: $n after $first"; return 1; }
	done
}

counted_while_they_come()
{
	local readers=() reader counters=/sys/class/infiniband messages=$((ROUNDS * 500))

	# mckey makes a queue for all of them, and none is longer than 16,383.
	((messages <= 16000)) || messages=16000
	touch "$TMP/counting"
	least "$counters/$DEV_A/ports/1/counters/unicast_rcv_packets" &
	readers+=($!)
	least "$counters/$DEV_B/ports/1/counters/unicast_xmit_packets" &
	readers+=($!)
	READY=ready_mckey pair stdbuf -oL mckey -m 239.1.2.3 -b "$IP4_A" -C "$messages" -- \
		mckey -m 239.1.2.3 -b "$IP4_B" -s -C "$messages"
	rm "$TMP/counting"
	for reader in "${readers[@]}"; do
		wait "$reader"
	done
}
check "no counter of unicast packets falls below what it was while multicast packets come" \
	counted_while_they_come

# --- a link is added to what changes --------------------------------------------------

link_del "$DEV_A"
a ip link set "$VETH_A" down

add_while_renamed()
{
	local i adding added=0 names=("$VETH_A" renamed)

	for ((i = 0; i < 4 * ROUNDS; i++)); do
		a rdma link add moving type roce netdev "${names[i % 2]}" 2>/dev/null &
		adding=$!
		nap "0.0$((RANDOM % 10))"
		a ip link set "${names[i % 2]}" name "${names[(i + 1) % 2]}"
		wait "$adding" || { link_gone moving; continue; }
		added=$((added + 1))
		expect "the name in device/net" "${names[(i + 1) % 2]}" \
			"$(a ls /sys/class/infiniband/moving/device/net)"
		a rdma link delete moving
	done
	echo "added $added times"
	((added > 0))
}
check "a link that is added while its netdev is renamed leads to the new name" \
	add_while_renamed
link_gone moving || rdma link delete moving
a ip link set renamed name "$VETH_A" 2>/dev/null || true

# add_again NS: while there is $TMP/adding
add_again()
{
	set +e
	while [[ -e $TMP/adding ]]; do
		! in_ns "$1" rdma link add moving type roce netdev "$VETH_A" || echo "$1"
	done >>"$TMP/added" 2>/dev/null
}

added_in_both()
{
	found "$NS_A" <"$TMP/added" && found "$NS_B" <"$TMP/added"
} >/dev/null 2>&1

# stay ROUND: longer and longer where a link takes so long to be added
stay() { nap "$((RANDOM % (1 + $1 / (4 * ROUNDS)))).$((RANDOM % 3))"; }

add_while_moved()
{
	local i adders=()

	touch "$TMP/adding" "$TMP/added"
	add_again "$NS_A" &
	adders+=($!)
	add_again "$NS_B" &
	adders+=($!)
	i=0
	while ((i++ < 4 * ROUNDS)) || ! added_in_both; do
		stay "$i"
		a ip link set "$VETH_A" netns "$NS_B"
		stay "$i"
		b ip link set "$VETH_A" netns "$NS_A"
	done
	rm "$TMP/adding"
	wait "${adders[@]}"
	sort "$TMP/added" | uniq -c
	a ip link set "$VETH_A" netns "$NS_B"
	wait_for link_gone moving
	added_in_both
}
check "a link that is added while its netdev moves goes with the netdev" add_while_moved

fresh()
{
	link_del "$DEV_B"
	ns_del "$NS_A"
	ns_del "$NS_B"
	ns_pair
	link_pair
	integrity_pair --ops mix --sizes 5000 --count 28
}
check "and all is well afterwards" fresh
finish
