#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# VRFs: a link on a netdev that is in one, with routes and addresses of its own,
# whatever the sysctl udp_l3mdev_accept says; and a netdev that enters a VRF and
# leaves it.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

VRF=red TABLE=10

# enter_vrf NS NETDEV ADDRESS6: entering a VRF takes the IPv6 addresses away
enter_vrf()
{
	ip -n "$1" link set "$2" master "$VRF"
	ip -n "$1" addr replace "$3" dev "$2" nodad
}

vrf_add()
{
	ip -n "$1" link add "$VRF" type vrf table "$TABLE"
	ip -n "$1" link set "$VRF" up
}

accept()
{
	a sysctl -qw "net.ipv4.udp_l3mdev_accept=$1"
	b sysctl -qw "net.ipv4.udp_l3mdev_accept=$1"
}

# find_gids [NETDEV-A NETDEV-B]: their indices change with the network
find_gids()
{
	local family netdev_a=${1:-$VETH_A} netdev_b=${2:-$VETH_B}

	for family in 4 6; do
		wait_for gid_index "$DEV_A" "$NS_A" "$family" "$netdev_a"
		wait_for gid_index "$DEV_B" "$NS_B" "$family" "$netdev_b"
		printf -v "GID${family}_A" %s "$(gid_index "$DEV_A" "$NS_A" "$family" "$netdev_a")"
		printf -v "GID${family}_B" %s "$(gid_index "$DEV_B" "$NS_B" "$family" "$netdev_b")"
	done
}

# The address of a program's side chooses the VRF; librdmacm knows no other way.
ping_by_cm()
{
	rping_pair "$1" 5 -I "$2"
}

# Side A talks to itself.
to_itself()
{
	local NS_B=$NS_A DEV_B=$DEV_A GID4_B=$GID4_A GID6_B=$GID6_A

	integrity_pair "$@"
}

build
modprobe vrf || true
ns_pair
vrf_add "$NS_A"
vrf_add "$NS_B"
enter_vrf "$NS_A" "$VETH_A" "$IP6_A/64"
enter_vrf "$NS_B" "$VETH_B" "$IP6_B/64"
link_pair

for value in 0 1; do
	accept $value
	check_services "udp_l3mdev_accept=$value: "
	for family in 4 6; do
		check "udp_l3mdev_accept=$value: RC to itself (IPv$family)" \
			to_itself "-$family" --ops mix --sizes 100,5000 --count 14
		to=IP${family}_A from=IP${family}_B
		check "udp_l3mdev_accept=$value: rping (IPv$family)" \
			ping_by_cm "${!to}" "${!from}"
	done
done
accept 0
READY=ready_mckey check "mckey: a group in a VRF" pair \
	stdbuf -oL mckey -m 239.1.2.3 -b "$IP4_A" -- mckey -m 239.1.2.3 -b "$IP4_B" -s

# --- a VLAN on top --------------------------------------------------------------

vlan_pair 7
enter_vrf "$NS_A" "$VETH_A.7" fd00:7::1/64
enter_vrf "$NS_B" "$VETH_B.7" fd00:7::2/64
find_gids "$VETH_A.7" "$VETH_B.7"
for family in 4 6; do
	check "RC over a VLAN in the VRF (IPv$family)" \
		integrity_pair "-$family" --ops mix --sizes 100,5000 --count 14
done
check "rping over a VLAN in the VRF" ping_by_cm 10.99.7.1 10.99.7.2
a ip link del "$VETH_A.7"
b ip link del "$VETH_B.7"

# --- two VRFs with the same addresses ---------------------------------------------

# another_vrf: a second veth pair in VRFs of their own, with the addresses of the first
another_vrf()
{
	local VRF=blue TABLE=20

	ip link add va2 netns "$NS_A" type veth peer name vb2 netns "$NS_B"
	vrf_add "$NS_A"
	vrf_add "$NS_B"
	ip -n "$NS_A" link set va2 master "$VRF"
	ip -n "$NS_B" link set vb2 master "$VRF"
	address "$NS_A" va2 "$IP4_A/24" "$IP6_A/64"
	address "$NS_B" vb2 "$IP4_B/24" "$IP6_B/64"
	link_add blue_a roce va2 "$NS_A"
	link_add blue_b roce vb2 "$NS_B"
}

in_blue()
{
	local DEV_A=blue_a DEV_B=blue_b GID4_A GID6_A GID4_B GID6_B

	find_gids va2 vb2
	grows blue_a "rx_packets=+" "$@"
}

another_vrf
find_gids
for family in 4 6; do
	check "two VRFs with the same addresses: the one (IPv$family)" \
		integrity_pair "-$family" --ops mix --sizes 100,5000 --count 14
	check "two VRFs with the same addresses: the other (IPv$family)" \
		in_blue integrity_pair "-$family" --ops mix --sizes 100,5000 --count 14
done
link_del blue_a
link_del blue_b
a ip link del va2
a ip link del blue
b ip link del blue

# --- in and out -------------------------------------------------------------------

out() { a ip link set "$VETH_A" nomaster; }
back() { enter_vrf "$NS_A" "$VETH_A" "$IP6_A/64"; }

# The address stays, and so does the traffic of its GID.
survives()
{
	background_traffic --bytes 64m --timeout 18
	"$@"
	wait "$TRAFFIC" || { cat "$TMP/traffic"; return 1; }
}

works()
{
	find_gids
	integrity_pair -4 --ops mix --sizes 300,5000 --count 14
	integrity_pair -6 --ops mix --sizes 300,5000 --count 14
}

in_and_out()
{
	out
	nap 1
	back
	nap 1
	out
}
find_gids
check "a netdev leaves its VRF, enters it and leaves again under traffic, which goes on (IPv4)" \
	survives in_and_out
a ip addr replace "$IP6_A/64" dev "$VETH_A" nodad
check "out of the VRF there are new connections" works
check "it enters its VRF under traffic, which goes on (IPv4)" survives back
check "in the VRF there are new connections" works
# Moving takes the IPv6 address and its GID away.
check "it leaves its VRF under traffic over IPv6, which ends with an error" breaks_traffic -6 out
back
check "and there are new connections when it is back" works
check "the VRF is removed under traffic, which goes on (IPv4)" survives a ip link del "$VRF"
a ip addr replace "$IP6_A/64" dev "$VETH_A" nodad
check "without the VRF there are new connections" works
finish
