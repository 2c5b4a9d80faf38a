#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What a link can be on top of, beside a plain netdev: a bond of which a slave
# fails, or that uses several, a bridge, a macvlan. (VLANs have a script of their own.) And traffic
# that leaves no netdev at all: of a device to itself, and between two devices of
# one namespace.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
modprobe bonding
modprobe macvlan

# moves WHAT: all services, both families
moves()
{
	local family

	for family in -4 -6; do
		check "$1: RC (IPv${family#-})" \
			integrity_pair $family --ops all --sizes 100,20000 \
			--layouts uneven --flags bidir --count 18
	done
	moves_lightly "$1"
}

# moves_lightly WHAT: each service, by IPv6 addresses, and a connection by IPv4
moves_lightly()
{
	check "$1: RC" integrity_pair -6 --ops mix --sizes 5000 --count 28
	check "$1: UC" integrity_pair -6 --types uc --ops push --sizes 5000 --count 20
	check "$1: UD" integrity_pair -6 --types ud --ops send --sizes 900 --count 20
	check "$1: rping" rping_pair "$IP4_A" 3
}

# hosts: two namespaces with nothing between them yet
hosts()
{
	ns_add "$NS_A"
	ns_add "$NS_B"
}

# cable NETDEV-A NETDEV-B
cable()
{
	ip link add "$1" netns "$NS_A" type veth peer name "$2" netns "$NS_B"
}

# Side A has a bond of two, side B a bridge for both cables.
hosts
cable va1 vb1
cable va2 vb2
a ip link add bond type bond mode active-backup miimon 50
b ip link add bridge type bridge
for i in 1 2; do
	a ip link set "va$i" master bond
	a ip link set "va$i" up
	b ip link set "vb$i" master bridge up
done
address "$NS_A" bond "$IP4_A/24" "$IP6_A/64"
address "$NS_B" bridge "$IP4_B/24" "$IP6_B/64"
VETH_A=bond VETH_B=bridge
link_pair
moves "a bond and a bridge"

active_slave() { a cat /sys/class/net/bond/bonding/active_slave; }
slave_is_not() { [[ $(active_slave) != "$1" ]]; }

# The bond's slave goes down under a transfer; more bytes if it was over before.
failover()
{
	local first bytes enough

	for bytes in 32m 256m 1024m; do
		background_traffic --bytes "$bytes"
		first=$(active_slave)
		a ip link set "$first" down
		wait_for slave_is_not "$first"
		enough=yes
		! ended "$TRAFFIC" || enough=
		wait "$TRAFFIC" || { cat "$TMP/traffic"; return 1; }
		a ip link set "$first" up
		[[ -z $enough ]] || return 0
	done
	echo "the transfers were over before the bond had another slave"
	return 1
}
check "a bond whose slave fails under a transfer: all of it arrives" failover
pair_del

# bond_of_two SIDE: a bond that uses both its slaves
bond_of_two()
{
	"$1" ip link add bond type bond mode balance-xor miimon 50
	for i in 1 2; do
		"$1" ip link set "v$1$i" master bond
		"$1" ip link set "v$1$i" up
	done
}

# new_connections_have RATE: bits per second
new_connections_have()
{
	local shown

	connect rc
	shown=$(rdma resource show qp link "$DEV_A" lqpn "$QPN_A" -dd)
	hang_up
	found "cc_rate $1 " <<<"$shown "
}

speed()
{
	wait_for new_connections_have 20000000000
	a ip link set va2 down
	wait_for new_connections_have 10000000000
	a ip link set va2 up
	wait_for new_connections_have 20000000000
	a ip link set va2 nomaster
	wait_for new_connections_have 10000000000
}

hosts
cable va1 vb1
cable va2 vb2
bond_of_two a
bond_of_two b
address "$NS_A" bond "$IP4_A/24" "$IP6_A/64"
address "$NS_B" bond "$IP4_B/24" "$IP6_B/64"
VETH_A=bond VETH_B=bond
link_pair
check "a bond: the line rate of new connections is that of its slaves together" speed
pair_del

hosts
cable va vb
a ip link set va up
a ip link add link va name macvlan type macvlan mode bridge
address "$NS_A" macvlan "$IP4_A/24" "$IP6_A/64"
address "$NS_B" vb "$IP4_B/24" "$IP6_B/64"
VETH_A=macvlan VETH_B=vb
link_pair
# A macvlan passes multicast on when it gets to it: neighbour discovery may take more
# than the second after which the core does not find a peer.
check "a macvlan: peers find each other" \
	wait_for integrity_pair -6 --ops write --sizes 8 --count 7
moves "a macvlan"

# Both ends on side A.
a ip link add other type dummy
address "$NS_A" other 10.99.1.1/24 fd00:98::1/64
link_add roce_other roce other "$NS_A" || die "no link on the dummy"
NS_B=$NS_A DEV_B=roce_other GID4_B=$GID4 GID6_B=$GID6
# Not by IPv4 but by rdma_cm: else the core looks for the other device's address
# on the wire of the first one.
moves_lightly "two devices of one namespace, through lo"
DEV_B=$DEV_A GID4_B=$GID4_A GID6_B=$GID6_A
moves "a device to itself"
NS_B=roce-test-b
finish
