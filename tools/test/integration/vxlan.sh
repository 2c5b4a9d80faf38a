#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A link on a VXLAN netdev.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ID=42

# tunnel NS NETDEV FROM TO: named vxlan, over the netdev
tunnel()
{
	ip -n "$1" -batch - <<-END
		link add vxlan type vxlan id $ID local $3 remote $4 dstport 4789 dev $2
		link set vxlan up
	END
}

# mark_tunnel: what leaves A's tunnel is marked as by a congested switch of the underlay
mark_tunnel()
{
	a nft -f - <<-END
		table ip congested {
			chain out {
				type filter hook postrouting priority 0;
				udp dport 4789 ip ecn ect0 limit rate 20/second ip ecn set ce
			}
		}
	END
}

# marks_pass: of a packet of the underlay, as decapsulation copies it to the inner one
marks_pass()
{
	grows "$DEV_B" "np_ecn_marked_roce_packets=+ np_cnp_sent=+" \
		grows "$DEV_A" "rp_cnp_handled=+" \
		integrity_pair -4 --ops write --sizes 60000 --flags bidir --count 40
}

serves()
{
	check_services "$1: "
	check "$1: trains" perftest ib_write_bw -n 100 -s 65536
	check "$1: rping" rping_pair "$IP4_A" 5
}

build
modprobe vxlan || true
MTU=1600
UNDERLAY_A=$VETH_A UNDERLAY_B=$VETH_B
underlay_pair
tunnel "$NS_A" "$VETH_A" "$UNDER_A" "$UNDER_B"
tunnel "$NS_B" "$VETH_B" "$UNDER_B" "$UNDER_A"
VETH_A=vxlan VETH_B=vxlan
address_pair
link_pair
serves "on a VXLAN"
mark_tunnel
check "marks of the underlay become CNPs" marks_pass
a nft delete table ip congested
a ethtool -K "$UNDERLAY_A" tx-udp_tnl-segmentation off tx-udp-segmentation off >/dev/null
b ethtool -K "$UNDERLAY_B" tx-udp_tnl-segmentation off tx-udp-segmentation off >/dev/null
check "an underlay that cannot segment" \
	integrity_pair --ops all --sizes 100,60000 --flags bidir --count 36

finish
