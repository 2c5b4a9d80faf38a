# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Both ends of a link in the initial namespace, for the kernel's servers and clients of
# storage, most of which live there only; after lib.sh:
#
#	both_ends_here

# Policy routing keeps packets from the short way through lo: an address is local only to
# what came in through its netdev.
both_ends_here()
{
	ip -batch - <<-END
		link add $VETH_A mtu $MTU type veth peer name $VETH_B mtu $MTU
		addr add $IP4_A/32 dev $VETH_A
		addr add $IP4_B/32 dev $VETH_B
		addr add $IP6_A/128 dev $VETH_A nodad
		addr add $IP6_B/128 dev $VETH_B nodad
		link set lo up
		link set $VETH_A up
		link set $VETH_B up
		rule add pref 10 iif $VETH_A to $IP4_A lookup local
		rule add pref 10 iif $VETH_B to $IP4_B lookup local
		rule add pref 20 lookup 100
		rule add pref 30 lookup local
		route add $IP4_B dev $VETH_A src $IP4_A table 100
		route add $IP4_A dev $VETH_B src $IP4_B table 100
		rule del pref 0
	END
	for f in /proc/sys/net/ipv4/conf/{all,"$VETH_A","$VETH_B"}; do
		echo 1 >"$f/accept_local"
		echo 0 >"$f/rp_filter"
	done
	# Who connects does not wait as long as the core may wait for a neighbour.
	ip neigh replace "$IP4_B" lladdr "$(mac "" "$VETH_B")" dev "$VETH_A"
	ip neigh replace "$IP4_A" lladdr "$(mac "" "$VETH_A")" dev "$VETH_B"
}

# No namespace takes this along for the next test.
put_back()
{
	ip link del "$VETH_A"
	ip -batch - <<-END
		rule add pref 0 lookup local
		rule del pref 10 iif $VETH_A
		rule del pref 10 iif $VETH_B
		rule del pref 20
		rule del pref 30
	END
}
