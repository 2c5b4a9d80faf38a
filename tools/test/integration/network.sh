#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A network that changes under traffic: what the retries outlast costs nothing,
# what they do not ends in a named completion error, and when the network is
# back, so is the traffic.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
link_pair
# An ARP request that finds the link down is repeated after a second otherwise:
# two of them in a row are more than retries outlast.
a sysctl -qw "net.ipv4.neigh.$VETH_A.retrans_time_ms=100"
b sysctl -qw "net.ipv4.neigh.$VETH_B.retrans_time_ms=100"

# find_gids FAMILY: their indices change with the network
find_gids()
{
	wait_for gid_index "$DEV_A" "$NS_A" "$1"
	wait_for gid_index "$DEV_B" "$NS_B" "$1"
	printf -v "GID${1}_A" %s "$(gid_index "$DEV_A" "$NS_A" "$1")"
	printf -v "GID${1}_B" %s "$(gid_index "$DEV_B" "$NS_B" "$1")"
}

# for_a_moment SIDE CHANGE BACK: two commands of ip, 100 ms apart. One process has
# both: on a busy machine another one takes most of a second to begin.
for_a_moment()
{
	{ echo "$2"; nap 0.1; echo "$3"; } | "$1" ip -batch -
}

# outlasts COMMAND...: the command, again and again, while bytes are on their
# way that all have to arrive; enough of them for two times at least. The retries
# last for more than 8 s, for a busy machine may take long for what should take
# 100 ms.
outlasts()
{
	local times bytes

	for bytes in 16m 64m 256m 1024m; do
		find_gids 4
		times=0
		background_traffic --bytes "$bytes" --timeout 18
		while kill -0 "$TRAFFIC" 2>/dev/null; do
			"$@"
			times=$((times + 1))
			nap 0.5
		done
		echo "$times times in $bytes: $*"
		wait "$TRAFFIC" || { cat "$TMP/traffic"; return 1; }
		((times < 2)) || return 0
	done
	return 1
}

# breaks COMMAND...: the command, under traffic that cannot survive it
breaks()
{
	find_gids 4
	breaks_traffic "$@"
}

# breaks_nothing 4|6 COMMAND...: the command, under traffic that goes on, for longer than
# retries would last; and new connections deliver
breaks_nothing()
{
	local family=$1
	shift

	find_gids "$family"
	background_traffic "-$family"
	"$@"
	nap 3
	! ended "$TRAFFIC" || { cat "$TMP/traffic"; return 1; }
	works "$family"
}

# works 4|6 ARGS...: new connections deliver
works()
{
	find_gids "$1"
	integrity_pair "-$1" --ops mix --sizes 300,5000 --count 21 "${@:2}"
}

# --- what the retries outlast ----------------------------------------------------

forget_neighbours()
{
	a ip neigh flush dev "$VETH_A"
	b ip neigh flush dev "$VETH_B"
}
check "neighbours are forgotten" outlasts forget_neighbours

new_mac()
{
	local mac

	printf -v mac '02:00:00:00:%02x:%02x' $((RANDOM % 256)) $((RANDOM % 256))
	b ip link set "$VETH_B" address "$mac"
	# What an interface that comes up does by itself, or whoever moves an address.
	a ip neigh flush dev "$VETH_A"
}
check "the peer gets another MAC address" outlasts new_mac

other_route()
{
	for_a_moment a "route replace $IP4_B/32 dev $VETH_A src $IP4_A" "route del $IP4_B/32"
}
check "the route changes" outlasts other_route

link_flaps() { for_a_moment b "link set $VETH_B down" "link set $VETH_B up"; }
check "the link is down for 100 ms" outlasts link_flaps
# A netdev that goes down loses its IPv6 addresses.
b ip addr replace "$IP6_B/64" dev "$VETH_B" nodad
# It may take a second until the other one sends again; then the peer is not found.
check "and IPv6 works as well" wait_for works 6

# Anybody can say so, and the kernel believes it (IPv4), or not.
check "a router says that the packets are too big" breaks_nothing 4 crafted 4 --only too_big
check "and over IPv6" breaks_nothing 6 crafted 6 --only too_big
a ip route flush cache
a ip -6 route flush cache

mtu_for_a_moment()
{
	for_a_moment a "link set $VETH_A mtu 900" "link set $VETH_A mtu $MTU"
}
check "the MTU is below the path MTU of the QPs for 100 ms" outlasts mtu_for_a_moment

# --- what they do not --------------------------------------------------------------

check "the link stays down" breaks b ip link set "$VETH_B" down
b ip link set "$VETH_B" up
check "and comes up again" wait_for works 4

silence()
{
	b ip link set "$VETH_B" arp off
	forget_neighbours
}
check "the neighbour does not answer" breaks silence
b ip link set "$VETH_B" arp on
check "and answers again" wait_for works 4

check "the MTU is below the path MTU of the QPs" breaks a ip link set "$VETH_A" mtu 900
is "the port's active MTU follows the netdev's" "512 (2)" \
	"$(a ibv_devinfo -d "$DEV_A" | sed -n 's/.*active_mtu:\s*//p')"
check "a smaller path MTU fits" works 4 --mtus 512
a ip link set "$VETH_A" mtu "$MTU"
is "and follows it up again" "1024 (3)" \
	"$(a ibv_devinfo -d "$DEV_A" | sed -n 's/.*active_mtu:\s*//p')"

# strays 4|6: RoCE packets that leave side A by its other interface
strays() { a nft -j list counter inet strays "by$1" | grep -o '"packets": [0-9]*' | tr -dc 0-9; }

other_interface()
{
	a ip link add other type dummy
	a ip addr add 10.98.0.1/24 dev other
	a ip addr add fd00:98::1/64 dev other nodad
	a ip link set other up
	a ip route add default dev other
	a ip -6 route add default dev other
	a nft -f - <<-END
		table inet strays {
			counter by4 { }
			counter by6 { }
			chain out {
				type filter hook postrouting priority 0;
				oifname other udp dport 4791 meta nfproto ipv4 counter name by4
				oifname other udp dport 4791 meta nfproto ipv6 counter name by6
			}
		}
	END
}

# goes_by_no_other_interface 4|6 COMMAND...: side A has a default route elsewhere, and
# loses the way that its QPs were connected by
goes_by_no_other_interface()
{
	local family=$1
	shift

	find_gids "$family"
	breaks_traffic "-$family" "$@"
	expect "packets that went elsewhere" 0 "$(strays "$family")"
}

lose_link()
{
	a ip link set "$VETH_A" down
	a ip addr flush dev "$VETH_A"
}

# Others of the same network stay.
lose_address()
{
	a ip addr add "${IP4_A%.*}.77/24" dev "$VETH_A"
	a ip addr add "${IP6_A%:*}:77/64" dev "$VETH_A" nodad
	a ip addr del "$IP4_A/24" dev "$VETH_A"
	a ip addr del "$IP6_A/64" dev "$VETH_A"
}

# What a failed check leaves would make the next one fail too.
find_the_way_back()
{
	# Down, or its link-local address would not come back.
	a ip link set "$VETH_A" down
	a ip addr flush dev "$VETH_A"
	address "$NS_A" "$VETH_A" "$IP4_A/24" "$IP6_A/64"
	b ip addr replace "$IP6_B/64" dev "$VETH_B" nodad
	wait_for works 4
	wait_for works 6
} >/dev/null 2>&1

# A route that forbids what a less specific one allows
forbidden()
{
	local rc=0

	a ip -6 route add prohibit "$IP6_B/128"
	find_gids 6
	integrity_pair -6 --ops write --sizes 300 --count 7 || rc=$?
	a ip -6 route del prohibit "$IP6_B/128"
	return "$rc"
}

find_the_way_back
other_interface
for family in 4 6; do
	check "IPv$family: packets leave through the interface of their address or not at all" \
		goes_by_no_other_interface "$family" lose_link
	find_the_way_back
	check "IPv$family: nobody sends with an address that was taken away" \
		goes_by_no_other_interface "$family" lose_address
	find_the_way_back
done
a nft delete table inet strays
a ip link del other
refuse "a route that forbids is obeyed" 'transport retry counter exceeded|timed out|unreachable|denied' forbidden
check "and there is traffic again" wait_for works 6

check "the peer's address is gone" breaks b ip addr del "$IP4_B/24" dev "$VETH_B"
b ip addr add "$IP4_B/24" dev "$VETH_B"
check "and serves again when it is back" works 4

# --- what IPsec has to say -----------------------------------------------------------

for family in 4 6; do
	find_gids "$family"
	to=IP${family}_A
	b ip xfrm policy add dir out dst "${!to}" proto udp dport 4791 action block
	refuse "an IPsec policy that forbids RoCE over IPv$family is obeyed" \
		'transport retry counter exceeded' \
		integrity_pair "-$family" --ops write --sizes 300 --count 7
	b ip xfrm policy flush
	check "and without it there is traffic" works "$family"
done
finish
