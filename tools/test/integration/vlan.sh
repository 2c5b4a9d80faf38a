#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# VLANs: addresses on a VLAN device are GIDs of the link on its base device, and
# what is sent from them is tagged.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ID=7

build
ns_pair
link_pair
vlan_pair $ID
for side in A B; do
	ns=NS_$side dev=DEV_$side veth=VETH_$side
	for family in 4 6; do
		check "side $side: the VLAN's IPv$family address is a GID of the base device" \
			wait_for gid_index "${!dev}" "${!ns}" $family "${!veth}.$ID"
	done
done

GID4_A=$(gid_index "$DEV_A" "$NS_A" 4 "$VETH_A.$ID")
GID4_B=$(gid_index "$DEV_B" "$NS_B" 4 "$VETH_B.$ID")
GID6_A=$(gid_index "$DEV_A" "$NS_A" 6 "$VETH_A.$ID")
GID6_B=$(gid_index "$DEV_B" "$NS_B" 6 "$VETH_B.$ID")

FILTER='' capture "$TMP/vlan.pcap" "$NS_A" "$VETH_A"
check "RC over a VLAN (IPv4)" \
	integrity_pair -4 --ops mix --sizes 1,5000 --count 21
check "RC over a VLAN (IPv6)" \
	integrity_pair -6 --ops mix --sizes 1,5000 --count 21
check "UD over a VLAN" \
	integrity_pair --types ud --ops send --sizes 900 --count 20

# A service level is the priority of the packets, which the VLAN maps to a PCP; CNPs
# have priority 6.
ip -n "$NS_A" link set "$VETH_A.$ID" type vlan egress-qos-map 3:5 6:7
ip -n "$NS_B" link set "$VETH_B.$ID" type vlan egress-qos-map 3:5 6:7
mark "$NS_B" 'limit rate 1/hour burst 1 packets'
check "ib_write_bw with service level 3" perftest ib_write_bw -S 3 -n 100 -s 65536
mark_none "$NS_B"

capture_end

# packets FILTER: how many of the capture match
packets() { tcpdump -r "$TMP/vlan.pcap" -n "$1" 2>/dev/null | wc -l; }
check "RoCE packets leave with the VLAN's tag" \
	test "$(packets "vlan $ID and udp port 4791")" -gt 50
is "and none without it" 0 "$(packets "udp port 4791 and not vlan")"
check "those of service level 3 leave with the PCP that the egress map says" \
	test "$(packets "ether[14] >> 5 == 5 and vlan $ID and udp port 4791")" -ge 100
check "and CNPs with that of priority 6" \
	test "$(packets "ether[14] >> 5 == 7 and vlan $ID and udp port 4791")" -ge 1

check "rping over a VLAN's address" rping_pair "10.99.$ID.1" 5

# --- a type of service gets the tag that it gets for others, once ------------------

# TOS 16 has priority 6 (ip(7), tc-prio(8)), which is tagged with 7.
TOS=16

# tagged COMMAND...: it sends requests, all of them with that tag
tagged()
{
	capture "$TMP/vlan.pcap" "$NS_A" "$VETH_A"
	"$@"
	capture_end
	expect "packets with another tag" 0 "$(packets "ether[14] >> 5 != 7 and vlan and $REQUESTS")"
	(($(packets "vlan and $REQUESTS") > 0))
}

# What programs get that do not ask for a type of service themselves
default_tos()
{
	local device=/sys/kernel/config/rdma_cm/$DEV_B

	mkdir -p "$device"
	echo "$1" >"$device/ports/1/default_roce_tos"
}
modprobe rdma_cm
mountpoint -q /sys/kernel/config || mount -t configfs config /sys/kernel/config
default_tos $TOS
FILTER=''
# shellcheck disable=SC2016 # for Python
DATAGRAM='import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(sys.argv[1]))
s.sendto(b"", (sys.argv[2], 9))'
REQUESTS="udp port 9" check "a socket with a type of service" \
	tagged b python3 -c "$DATAGRAM" $TOS "10.99.$ID.1"
REQUESTS="udp port 4791"
check "a connection of rdma_cm with it" tagged rping_pair "10.99.$ID.1" 5
default_tos 0
check "a traffic class of the same" \
	tagged perftest ib_write_bw --tclass=$TOS -n 100 -s 4096

gone() { ! gid_index "$DEV_A" "$NS_A" 4 "$VETH_A.$ID"; }
removed()
{
	breaks_traffic a ip link del "$VETH_A.$ID"
	wait_for gone
}
check "a VLAN is removed under traffic, which ends with an error, and its GIDs go" removed
a ip link add link "$VETH_A" name "$VETH_A.$ID" type vlan id "$ID"
address "$NS_A" "$VETH_A.$ID" "10.99.$ID.1/24" "fd00:$ID::1/64"
wait_for gid_index "$DEV_A" "$NS_A" 4 "$VETH_A.$ID" || true
GID4_A=$(gid_index "$DEV_A" "$NS_A" 4 "$VETH_A.$ID") || true
check "and works when it is there again" integrity_pair --ops mix --sizes 1,5000 --count 21
finish
