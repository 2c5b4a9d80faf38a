#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Multicast groups: librdmacm's mckey, groups without it, and what the netdev
# knows of them. (rdma_cm has no groups of IPv6 over RoCE v2.)

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

GROUP4=239.1.2.3

build
ns_pair
link_pair

mckey()
{
	READY=ready_mckey pair stdbuf -oL mckey -m "$GROUP4" -b "$IP4_A" "$@" -- \
		mckey -m "$GROUP4" -b "$IP4_B" -s "$@"
}

# member NS NETDEV ADDRESS: the netdev is in that group
member() { ip -n "$1" maddr show dev "$2" | grep -qw "$3"; }
no_member() { ! member "$@"; }

check "mckey: what one host sends to a group the other one gets" mckey
check "mckey: 4 QPs, 100 messages of 512 bytes" mckey -c 4 -C 100 -S 512
# The standard counters tell multicast from unicast: a hundred packets of the one,
# and of the other what the hosts said besides.
told_apart()
{
	local sent unicast packets

	grows "$DEV_B" tx_multicast_packets=100 \
		grows "$DEV_A" rx_multicast_packets=100 mckey -c 1 -C 100
	sent=$(port_attr "$DEV_B" "" counters/multicast_xmit_packets)
	unicast=$(port_attr "$DEV_B" "" counters/unicast_xmit_packets)
	packets=$(counter "$DEV_B" tx_packets)
	expect "multicast packets received" "$(counter "$DEV_A" rx_multicast_packets)" \
		"$(port_attr "$DEV_A" "" counters/multicast_rcv_packets)"
	expect "multicast packets sent" "$(counter "$DEV_B" tx_multicast_packets)" "$sent"
	expect "packets sent" "$packets" $((sent + unicast))
}
check "multicast and unicast packets are counted apart" told_apart
check "a netdev leaves the group of a program that has ended" \
	wait_for no_member "$NS_A" "$VETH_A" "$GROUP4"

# held COMMAND...: while a QP on side A is attached to a group of each family
held()
{
	local pid

	# Not by a(): the process to be killed is the program, not a shell above it.
	begin "$TMP/member.out" \
		ip netns exec "$NS_A" "$BUILD/member" "$DEV_A" ::ffff:239.4.5.6 ff15::42
	pid=$BEGUN
	wait_for grep -q attached "$TMP/member.out" ||
		{ cat "$TMP/member.out"; return 1; }
	"$@" || { kill -9 "$pid"; return 1; }
	kill -9 "$pid"
	wait_for no_member "$NS_A" "$VETH_A" 239.4.5.6
	wait_for no_member "$NS_A" "$VETH_A" ff15::42
}

both_joined()
{
	member "$NS_A" "$VETH_A" 239.4.5.6 && member "$NS_A" "$VETH_A" ff15::42
}

check "a QP takes its netdev into its groups, and out of them when it is killed" \
	held both_joined
tap_run "groups of IPv4" \
	"$BUILD/verbs" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" multicast
tap_run "groups of IPv6" \
	"$BUILD/verbs" "$DEV_A" "$GID6_A" "$DEV_B" "$GID6_B" multicast

# Last: it costs the netdev its IPv6 addresses.
down_and_up()
{
	both_joined
	ip -n "$NS_A" link set "$VETH_A" down
	ip -n "$NS_A" link set "$VETH_A" up
	member "$NS_A" "$VETH_A" 239.4.5.6
}
check "a member outlives the netdev's going down" held down_and_up
finish
