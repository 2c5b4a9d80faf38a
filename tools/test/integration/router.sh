#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A router between the hosts: it counts hop limits down, and marks packets when it
# is congested.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

NS_R=roce-test-r
IP4_A=10.99.1.2 IP4_B=10.99.2.2

# side NS NETDEV ROUTER-NETDEV SUBNET: a host in 10.99.SUBNET.0/24, of which all
# routes lead through the router
side()
{
	ip link add "$2" mtu "$MTU" netns "$1" type veth peer name "$3" mtu "$MTU" netns "$NS_R"
	address "$1" "$2" "10.99.$4.2/24" "fd00:99:$4::2/64"
	address "$NS_R" "$3" "10.99.$4.1/24" "fd00:99:$4::1/64"
	ip -n "$1" route add default via "10.99.$4.1"
	ip -n "$1" -6 route add default via "fd00:99:$4::1"
}

in_router() { ip netns exec "$NS_R" "$@"; }

# router_rules [RULE...]: for what it receives; none without rules
router_rules()
{
	in_router nft flush ruleset
	[[ $# == 0 ]] || {
		echo "table inet router { chain way { type filter hook prerouting priority 0;"
		printf '%s\n' "$@"
		printf "}\n}\n"
	} | in_router nft -f -
}

# hop_limits: of the packets of the capture, each once
hop_limits()
{
	tshark -r "$TMP/routed.pcap" -T fields -e ip.ttl -e ipv6.hlim 2>/dev/null |
		tr -d '\t' | sort -u | xargs
}

# A CNP may come when its QP has sent everything, and is gone.
traffic_until_cnp()
{
	local before

	before=$(counter "$DEV_B" rp_cnp_handled)
	while (($(counter "$DEV_B" rp_cnp_handled) == before)); do
		integrity_pair "$1" --ops write --sizes 60000 --count 40
	done
}

marks_become_cnps()
{
	grows "$DEV_A" "np_ecn_marked_roce_packets=+ np_cnp_sent=+" traffic_until_cnp "$1"
}

build
ns_add "$NS_A"
ns_add "$NS_B"
ns_add "$NS_R"
side "$NS_A" "$VETH_A" ra 1
side "$NS_B" "$VETH_B" rb 2
in_router sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
link_pair

capture "$TMP/routed.pcap" "$NS_A" "$VETH_A" -Q in
check_services "over a router: "
capture_end
is "the router has counted the hop limit down" 63 "$(hop_limits)"
check "over a router: trains" perftest ib_write_bw -n 100 -s 65536
for family in 4 6; do
	to=10.99.1.2
	[[ $family == 4 ]] || to=fd00:99:1::2
	check "over a router: rping (IPv$family)" rping_pair "$to" 5
done

router_rules 'udp dport 4791 ip ecn ect0 limit rate 20/second ip ecn set ce'
check "marks of the router become CNPs (IPv4)" marks_become_cnps -4

# CE as the two bytes that hold version and traffic class: nft 1.0.6 makes of "ip6 ecn
# set ce" the second byte alone, which Linux 7.3 does not let it write.
router_rules 'udp dport 4791 ip6 ecn ect0 limit rate 20/second @nh,0,16 set 0x6030'
check "marks of the router become CNPs (IPv6)" marks_become_cnps -6

finish
