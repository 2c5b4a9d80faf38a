#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Netdevs with odd MTUs: the largest path MTU that fits is used, no packet is
# fragmented, and every byte arrives.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# set_mtus MTU-A MTU-B: IPv6 takes no netdev below 1280.
set_mtus()
{
	ip -n "$NS_A" link set "$VETH_A" mtu "$1"
	ip -n "$NS_B" link set "$VETH_B" mtu "$2"
}

active_mtu() { in_ns "$1" ibv_devinfo -d "$2" | awk '/active_mtu/ { print $2 }'; }

fragments()
{
	b nft -j list counter inet fragments seen | grep -o '"packets": [0-9]*' | tr -dc 0-9
}

# moves_everything FAMILY: sizes at the edges of packets, and a long message
moves_everything()
{
	integrity_pair "-$1" --ops all --sizes mtu-1,mtu,mtu+1,60001 \
		--layouts odd --flags bidir --count 36
}

build
ns_pair
link_pair
# What leaves B in fragments would leave it by this chain.
b nft -f - <<-END
	table inet fragments {
		counter seen { }
		chain out {
			type filter hook postrouting priority 300;
			ip frag-off & 0x3fff != 0 counter name seen
			exthdr frag exists counter name seen
		}
	}
END

# The largest path MTU is 96 bytes of headers below the netdev's: that is what the
# connection manager of every device reckons with.
while read -r mtu path; do
	set_mtus "$mtu" "$mtu"
	is "MTU $mtu: the port's active MTU" "$path" "$(active_mtu "$NS_A" "$DEV_A")"
	for family in 4 6; do
		check "MTU $mtu: RC, all operations (IPv$family)" moves_everything "$family"
	done
	check "MTU $mtu: UD" integrity_pair --types ud --ops send,send_imm \
		--sizes mtu-1,mtu --count 20
done <<-END
	1280 1024
	1499 1024
	2044 1024
	2145 2048
	4113 2048
	4191 2048
	4192 4096
	9001 4096
END

# A QP lives longer than an MTU.
printf '#!/bin/sh\nip -n %s link set %s mtu $1 && ip -n %s link set %s mtu $1\n' \
	"$NS_A" "$VETH_A" "$NS_B" "$VETH_B" >"$TMP/set_mtu"
chmod +x "$TMP/set_mtu"
ROCE_SET_MTU=$TMP/set_mtu tap_run "UD, while the MTU changes" \
	"$BUILD/verbs" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" changing_mtu

set_mtus 9001 2044
check "MTUs 9001 and 2044: RC, all operations" moves_everything 4
single_packets
check "and in single packets" moves_everything 4
is "nothing was fragmented" 0 "$(fragments)"
finish
