#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Hosts without IPv6: on their netdevs, or in the whole kernel (ipv6.disable=1). IPv4
# works, and nothing that a program asks for depends on the protocol that is not there.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# ipv4_host NS NETDEV ADDRESS DEVICE
ipv4_host()
{
	[[ ! -e /proc/sys/net/ipv6 ]] || in_ns "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1
	ip -n "$1" addr add "$3/24" dev "$2"
	ip -n "$1" link set "$2" up
	in_ns "$1" rdma link add "$4" type roce netdev "$2"
	# shellcheck disable=SC2034 # for tidy()
	LINKS[$4]=$1
	wait_for gid_index "$4" "$1" 4
}

build
ns_add "$NS_A"
ns_add "$NS_B"
ip link add "$VETH_A" mtu "$MTU" netns "$NS_A" type veth peer name "$VETH_B" mtu "$MTU" netns "$NS_B"
ipv4_host "$NS_A" "$VETH_A" "$IP4_A" "$DEV_A"
ipv4_host "$NS_B" "$VETH_B" "$IP4_B" "$DEV_B"
GID4_A=$(gid_index "$DEV_A" "$NS_A" 4) GID4_B=$(gid_index "$DEV_B" "$NS_B" 4)
LINK_LOCAL=$(gid_index "$DEV_A" "$NS_A" link)

for type in rc uc ud; do
	check "${type^^} over IPv4" integrity_pair -4 --types "$type" --ops send \
		--sizes 1,mtu --count 14
done
check "rping over IPv4" rping_pair "$IP4_A" 5
READY=ready_mckey check "a group of IPv4" pair \
	stdbuf -oL mckey -m 239.1.2.3 -b "$IP4_A" -- mckey -m 239.1.2.3 -b "$IP4_B" -s

# A kernel with IPv6 finds out late that there is no address to send from.
come_to_nothing()
{
	local result="send: EAFNOSUPPORT, connect: EAFNOSUPPORT"

	[[ ! -e /proc/sys/net/ipv6 ]] || result="send: status 0, connect: connected"
	expect "what was tried" "$result" \
		"$(a "$TEST_DIR/operators/ipv6_destinations.py" "$DEV_A" "$LINK_LOCAL")"
}
check "a device has a link-local GID all the same" [ -n "$LINK_LOCAL" ]
check "destinations of IPv6 come to nothing" come_to_nothing
check "RC over IPv4 afterwards" integrity_pair -4 --ops mix --sizes 1,5000 --count 14
finish
