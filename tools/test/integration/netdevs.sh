#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Links on netdevs that are not Ethernet: tunnels of IP in IP, GRE, WireGuard, tun, lo.
# They have no hardware address, and the RDMA core does not follow their addresses.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

INNER=$MTU
MTU=1600
NETDEVS=$TEST_DIR/netdevs

# Kernels before that know no connections by rdma_cm but over Ethernet.
core_connects()
{
	local major minor

	IFS=.- read -r major minor _ <<<"$(uname -r)"
	((major > 7 || (major == 7 && minor >= 3)))
}

rping_works()
{
	local name="$1: rping (IPv$2)" to=IP$2_A

	if core_connects; then
		check "$name" rping_pair "${!to}" 3
	else
		skip "$name" "the core of this kernel connects over Ethernet only"
	fi
}

# Not by the manufacturer of a netdev, and not the same on both sides
guids_are_made()
{
	local of_a of_b

	of_a=$(a cat "/sys/class/infiniband/$DEV_A/node_guid")
	of_b=$(b cat "/sys/class/infiniband/$DEV_B/node_guid")
	echo "$of_a $of_b"
	[[ $of_a != "$of_b" ]]
	# As Ethernet makes them of addresses: the bit is the other way round.
	(((0x${of_a:0:4} >> 8 & 2) == 0 && (0x${of_b:0:4} >> 8 & 2) == 0))
	[[ ${of_a:5:9} =~ ..ff:fe.. && ${of_b:5:9} =~ ..ff:fe.. ]]
}

# again: side A's link goes and comes
again()
{
	link_del "$DEV_A"
	link_add "$DEV_A" roce "$VETH_A" "$NS_A"
	GID4_A=$GID4 GID6_A=$GID6
}

guid_stays()
{
	local before

	before=$(a cat "/sys/class/infiniband/$DEV_A/node_guid")
	again
	expect "the GUID of the same netdev" "$before" \
		"$(a cat "/sys/class/infiniband/$DEV_A/node_guid")"
}

# late_address ADDRESS: comes when the link is there already
late_address()
{
	a ip addr add "$1" dev "$VETH_A"
	# shellcheck disable=SC2317 # by wait_for
	shown() { a grep -qs "$2" /sys/class/infiniband/"$DEV_A"/ports/1/gids/*; }
	wait_for shown _ "$3"
}

# end NS FROM TO TYPE...: a netdev "inner" of a type that needs two addresses
end()
{
	local ns=$1 from=$2 to=$3
	shift 3

	ip -n "$ns" link add inner mtu "$INNER" type "$@" local "$from" remote "$to"
}

tunnel()
{
	end "$NS_A" "$UNDER_A" "$UNDER_B" "$@"
	end "$NS_B" "$UNDER_B" "$UNDER_A" "$@"
}

serve()
{
	VETH_A=inner VETH_B=inner
	address_pair
	link_pair
}

# moves WHAT: each service, by both families together
moves()
{
	# ACK timeouts of a second: a tunnel may have to agree on keys first.
	check "$1: RC (IPv4)" integrity_pair -4 --timeout 18 --ops all --sizes 100,60000 \
		--layouts uneven --flags bidir --count 27
	check "$1: RC (IPv6)" integrity_pair -6 --timeout 18 --ops mix --sizes 5000 --count 28
	check "$1: UC (IPv6)" integrity_pair -6 --timeout 18 --types uc --ops push --sizes 5000 --count 20
	check "$1: UD (IPv4)" integrity_pair -4 --timeout 18 --types ud --ops send,send_imm \
		--sizes 0,1,mtu --count 12
	rping_works "$1" 4
	rping_works "$1" 6
}

serves()
{
	serve
	check "$1: both sides have a GUID of their own, that nobody else has" guids_are_made
	moves "$1"
}

gone()
{
	link_del "$DEV_A"
	link_del "$DEV_B"
	ip -n "$NS_A" link del inner
	ip -n "$NS_B" link del inner
}

build
underlay_pair

modprobe ipip || true
modprobe sit || true
# IPv6 in it needs a tunnel that takes both.
tunnel sit mode any
serves "a tunnel of IP in IP"
check "the GUID is the same for the same netdev" guid_stays
check "an IPv4 address that comes later becomes a GID" \
	late_address 10.99.0.77/24 _ 0000:ffff:0a63:004d
check "an IPv6 address that comes later becomes a GID" \
	late_address fd00:99::77/64 _ fd00:0099:.*:0077
gone

modprobe ip_gre || true
tunnel gre
serves "GRE"
check "a tunnel that goes takes its device along" \
	taken_away ip -n "$NS_A" link del inner
unset "LINKS[$DEV_A]"
link_del "$DEV_B"
b ip link del inner

modprobe wireguard || true
a ip link add inner mtu "$INNER" type wireguard
b ip link add inner mtu "$INNER" type wireguard
a /usr/bin/python3 "$NETDEVS/wireguard.py" inner a "$UNDER_B"
b /usr/bin/python3 "$NETDEVS/wireguard.py" inner b "$UNDER_A"
serves "WireGuard"
gone

modprobe tun || true
begin "$TMP/tun" /usr/bin/python3 "$NETDEVS/tun.py" "$NS_A" "$NS_B" inner
TUN=$BEGUN
wait_for grep -q ready "$TMP/tun"
# What waits for the program that forwards, one packet after the other
a ip link set inner txqueuelen 20000
b ip link set inner txqueuelen 20000
slow_serves() { local PATIENT_QP=(--timeout 18); serves "$@"; }
slow_serves "tun"
link_del "$DEV_A"
link_del "$DEV_B"
kill "$TUN"

# What this host has for itself alone. The core does not connect by 127.0.0.1 and ::1.
IP4_A=10.97.0.1 IP6_A=fd00:97::1
a ip addr add "$IP4_A/32" dev lo
a ip addr add "$IP6_A/128" dev lo nodad
link_add "$DEV_A" roce lo "$NS_A" || die "no link on lo"
GID4_A=$GID4 GID6_A=$GID6
NS_B=$NS_A DEV_B=$DEV_A GID4_B=$GID4 GID6_B=$GID6
moves "lo"
NS_B=roce-test-b

# A netdev without IP has no packets for us.
a ip link add quiet type dummy
a ip link set quiet mtu 60 2>/dev/null || true
refuse "a netdev that is too small for IP cannot have a link" "not supported" \
	a rdma link add other type roce netdev quiet
finish
