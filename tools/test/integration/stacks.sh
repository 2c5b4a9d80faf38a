#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Netdevs on top of each other, with a link on each or on one of them: they have each
# other's addresses, but a server of rdma_cm is reached at the address that it listens on.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# VETH_A is the netdev of the wire, and what stands on it is called "upper".
macvlan_on() { ip -n "$NS_A" link add link "$1" name upper type macvlan mode bridge; }
bridge_on() { ip -n "$NS_A" -batch - <<<"link add upper type bridge
link set $1 master upper"; }
bond_on() { ip -n "$NS_A" -batch - <<<"link add upper type bond mode active-backup
link set $1 down
link set $1 master upper
link set $1 up"; }

# hosts KIND [VLAN]: side A has "upper" of that kind, on the wire or on a VLAN of it
hosts()
{
	local base_a=$VETH_A base_b=$VETH_B

	ns_add "$NS_A"
	ns_add "$NS_B"
	ip link add "$VETH_A" netns "$NS_A" type veth peer name "$VETH_B" netns "$NS_B"
	ip -n "$NS_A" link set "$VETH_A" up
	ip -n "$NS_B" link set "$VETH_B" up
	if [[ -n ${2:-} ]]; then
		base_a+=.$2 base_b+=.$2
		ip -n "$NS_A" link add link "$VETH_A" name "$base_a" type vlan id "$2"
		ip -n "$NS_B" link add link "$VETH_B" name "$base_b" type vlan id "$2"
		ip -n "$NS_A" link set "$base_a" up
	fi
	"$1_on" "$base_a"
	address "$NS_A" upper "$IP4_A/24" "$IP6_A/64"
	address "$NS_B" "$base_b" "$IP4_B/24" "$IP6_B/64"
	link_add "$DEV_B" roce "$VETH_B" "$NS_B" || die "no link on side B"
}

# links NETDEV...: of side A, in that order
links()
{
	local netdev i=0

	for netdev; do
		LINKS[roce_a$i]=$NS_A
		a rdma link add "roce_a$i" type roce netdev "$netdev"
		wait_for gid_index "roce_a$i" "$NS_A" 4 upper
		i=$((i + 1))
	done
}

# udaddy finds the peer by SIDR, and sends it datagrams.
udaddy_pair() { READY=ready_cm pair udaddy -b "$IP4_A" -- udaddy -s "$IP4_A"; }

# reached WHAT: at the address of "upper", by both families
reached()
{
	check "$1: rping (IPv4)" rping_pair "$IP4_A" 3
	check "$1: rping (IPv6)" rping_pair "$IP6_A" 3
	check "$1: udaddy" udaddy_pair
}

build
modprobe macvlan
modprobe bonding

for kind in macvlan bridge bond; do
	for order in "$VETH_A upper" "upper $VETH_A"; do
		hosts $kind
		# shellcheck disable=SC2086 # two words
		links $order
		reached "a $kind and its port, links on ${order/ / and then on }"
		pair_del
	done
done
for kind in macvlan bridge; do
	for netdev in upper "$VETH_A"; do
		hosts $kind 7
		links "$netdev"
		reached "a $kind on a VLAN, a link on $netdev"
		pair_del
	done
done
finish
