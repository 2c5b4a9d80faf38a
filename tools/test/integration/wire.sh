#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What leaves the device is RoCEv2: tshark dissects it without complaint, scapy
# computes the same ICRC, and the headers are as RNICs send them.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
link_pair
single_packets

# tshark looks for RPC over RDMA in every payload and calls shorter ones
# malformed: none of those here, but under loss below.
capture "$TMP/wire.pcap" "$NS_A" "$VETH_A"
for family in -4 -6; do
	check "traffic to look at: RC (IPv${family#-})" \
		integrity_pair $family --ops send,send_imm,write,write_imm,read \
		--sizes 64,5003 --count 2
	check "traffic to look at: UD (IPv${family#-})" \
		integrity_pair $family --types ud --ops send,send_imm \
		--sizes 65,mtu --count 2
done
check "traffic to look at: a connection" rping_pair "$IP4_A" 3
capture_end

tap_run "wire/check.py" /usr/bin/python3 "$TEST_DIR/wire/check.py" "$TMP/wire.pcap"

dissect()
{
	tshark -n -r "$TMP/wire.pcap" "$@" 2>"$TMP/tshark.err" || cat "$TMP/tshark.err"
}
is "tshark takes every packet for RoCE" 0 \
	"$(dissect -Y 'udp.dstport == 4791 && !infiniband' | wc -l)"
dissect -Y '_ws.malformed || _ws.expert.severity >= 6291456' >"$TMP/complaints"
is "tshark finds nothing malformed, no warning, no error" "" \
	"$(head -5 "$TMP/complaints")"

netem "$NS_B" "$VETH_B" loss 3%
capture "$TMP/loss.pcap" "$NS_A" "$VETH_A"
check "traffic to look at: under loss" \
	integrity_pair --ops mix --sizes 0,1,mtu+1,5000 --count 14
capture_end
netem "$NS_B" "$VETH_B"
tap_run "wire/check.py under loss" /usr/bin/python3 "$TEST_DIR/wire/check.py" "$TMP/loss.pcap" 4
finish
