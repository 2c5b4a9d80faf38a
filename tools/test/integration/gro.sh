#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Packets that travel singly are trains again where GRO merges them: in the host
# that receives them, not in one that only forwards them.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../switch.sh
. "$(dirname "$0")/../switch.sh"

build
switch_new
host "$NS_A" "$VETH_A" pa "$IP4_A"
host "$NS_B" "$VETH_B" pb "$IP4_B"
single_packets
for port in pa pb; do
	in_switch ethtool -K "$port" tx-udp-segmentation off gso off tso off >/dev/null
done
link_pair

# delivers NAME: everything arrives, and nothing that is wrong
delivers()
{
	local dev

	check_services "$1: "
	for dev in "$DEV_A" "$DEV_B"; do
		check "$1: every ICRC is right ($dev)" \
			test "$(counter "$dev" rx_icrc_encapsulated)" = 0
	done
}

# written: what comes to side A while ib_write_bw writes to it
written()
{
	packets=$(counter "$DEV_A" rx_packets) trains=$(counter "$DEV_A" rx_trains)
	perftest ib_write_bw -n 200 -s 65536
	packets=$(($(counter "$DEV_A" rx_packets) - packets))
	trains=$(($(counter "$DEV_A" rx_trains) - trains))
	echo "$packets packets in $trains trains"
}
comes_singly() { written; ((packets == trains)); }
comes_in_trains() { written; ((packets > 2 * trains)); }

# No frame is longer than the wire can have it.
not_merged_on_the_way()
{
	local merged

	capture "$TMP/switch.pcap" "$NS_SWITCH" pb -Q in -s 100
	written
	capture_end
	merged=$(tcpdump -r "$TMP/switch.pcap" 'greater 3000' 2>/dev/null | wc -l)
	expect "merged packets" 0 "$merged"
}

check "without GRO each packet comes alone" comes_singly
merging_receivers
delivers "the receiver merges"
check "the receiver merges: trains come" comes_in_trains

# A device of its own has the switch look for packets of RoCE.
address "$NS_SWITCH" br0 10.99.0.250/24 fd00:99::fa/64
link_add roce_switch roce br0 "$NS_SWITCH"
for port in pa pb; do
	in_switch ethtool -K "$port" gro on
done
check "a host that forwards does not" not_merged_on_the_way
delivers "behind a host that forwards"
in_switch rdma link delete roce_switch
finish
