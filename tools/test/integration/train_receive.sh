#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Trains from a sender that is not ours: a GSO datagram of many RoCE packets is
# executed whole, behind a firewall with connection tracking too.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
# Side B has no device: train_send is the peer.
link_add "$DEV_A" roce "$VETH_A" "$NS_A"
GID4_A=$GID4 GID6_A=$GID6

trains()
{
	tap_run "$1 (IPv4)" b "$BUILD/train_send" "$DEV_A" "$GID4_A" "$IP4_B"
	tap_run "$1 (IPv6)" b "$BUILD/train_send" "$DEV_A" "$GID6_A" "$IP6_B"
}

# Packets arrive in the stack: one sk_buff a train, or one a packet.
sk_buffs() { a cat "/sys/class/net/$VETH_A/statistics/rx_packets"; }

trains "trains"
note "$(sk_buffs) sk_buffs came, rx_packets $(counter "$DEV_A" rx_packets), rx_trains $(counter "$DEV_A" rx_trains)"
# The odd trains and the one for two QPs are many short runs.
check "trains come whole: many packets in each" \
	test "$(counter "$DEV_A" rx_packets)" -gt $((3 * $(counter "$DEV_A" rx_trains)))

if a nft -f - 2>"$TMP/nft" <<'NFT'
table inet filter {
	chain input {
		type filter hook input priority 0; policy drop;
		ct state established,related accept
		udp dport 4791 ct state new counter accept
		meta l4proto { icmp, ipv6-icmp } accept
	}
}
NFT
then
	note "behind a firewall with connection tracking:"
	trains "trains behind a firewall"
	check "the firewall saw them" \
		bash -c "ip netns exec $NS_A nft list ruleset | grep -E 'counter packets [1-9]'"
else
	skip "trains behind a firewall" "this kernel has no nftables: $(head -1 "$TMP/nft")"
fi
finish
