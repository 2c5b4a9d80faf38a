#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# After SONiC's RoCEv2 test plan, with a Linux bridge as the switch: TC1 without
# congestion, TC3 an incast under DCQCN. The witness is tshark, on single packets at the
# receiver's port: what it saw and what devices counted are equal. A deep buffer stands in
# for PFC. (TC6, fairness, is a scene of the laboratory.)

MTU=4200
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../switch.sh
. "$(dirname "$0")/../switch.sh"

NS_C=roce-test-c
DEV_C=roce_c

# single_host ARGS...: a host that cuts its trains, for tshark
single_host()
{
	host "$@"
	ip netns exec "$1" ethtool -K "$2" tx-udp-segmentation off gso off >/dev/null
}

build
switch_new
single_host "$NS_A" "$VETH_A" pa "$IP4_A"
single_host "$NS_B" "$VETH_B" pb "$IP4_B"
single_host "$NS_C" vc pc 10.99.0.3
link_pair
link_add "$DEV_C" roce vc "$NS_C" || die "no link on the third host"
GID4_C=$GID4

# serve PORT ARGS...: the receiver of one flow
serve()
{
	local port=$1
	shift

	ip netns exec "$NS_B" ib_write_bw -F -d "$DEV_B" -x "$GID4_B" -p "$port" -u 18 -s 65536 -t 2 "$@" \
		>"$TMP/server.$port" 2>&1 &
	wait_for ready_tcp "$port" $!
}

# send NAMESPACE DEVICE GID PORT ARGS...
send()
{
	local ns=$1 device=$2 gid=$3 port=$4
	shift 4

	ip netns exec "$ns" ib_write_bw -F -d "$device" -x "$gid" -p "$port" \
		-u 18 -s 65536 -t 2 "$@" "$IP4_B" >"$TMP/client.$port" 2>&1
}

# What tshark says of each packet: direction, ECN, DSCP, opcode
dissect()
{
	expect "packets that tcpdump missed" 0 "$(missed "$TMP/b.pcap")"
	tshark -n -r "$TMP/b.pcap" -T fields -e ip.src -e ip.dsfield.ecn \
		-e ip.dsfield.dscp -e infiniband.bth.opcode >"$TMP/packets" 2>/dev/null
}

# packets CONDITION: how many, as awk sees them
packets() { awk -v b="$IP4_B" "$1 { n++ } END { print n + 0 }" "$TMP/packets"; }

DATA='$1 != b && $4 != 129'
ACKS='$1 == b && $4 == 17'
CNPS='$4 == 129'

# growth DEVICE NAME: since the phase began
growth()
{
	echo $(($(counter "$1" "$2") - $(value_of "$2" "$(<"$TMP/$1")")))
}

begin_phase()
{
	local device

	for device in "$DEV_A" "$DEV_B" "$DEV_C"; do
		counters "$device" >"$TMP/$device"
	done
	capture "$TMP/b.pcap" "$NS_B" "$VETH_B" -s 100
}

nothing_lost()
{
	local device name

	for device in "$DEV_A" "$DEV_C"; do
		for name in packet_seq_err local_ack_timeout_err selective_repeats; do
			expect "$name of $device" 0 "$(growth "$device" "$name")"
		done
		# A queue that grows makes the device ask what has arrived.
		expect "packets of $device sent again" "$(growth "$device" tail_loss_probes)" \
			"$(growth "$device" retransmitted_packets)"
	done
}

no_congestion()
{
	begin_phase
	serve 18515 -n 60
	send "$NS_A" "$DEV_A" "$GID4_A" 18515 -n 60
	capture_end
	dissect
	nothing_lost
	expect "data packets at the receiver" "$(growth "$DEV_A" tx_packets)" "$(packets "$DATA")"
	# But for probes, which do not wait for the rate of the flow
	expect "of them with ECT(0)" $(($(packets "$DATA") - $(growth "$DEV_A" tail_loss_probes))) \
		"$(packets "$DATA && \$2 == 2")"
	expect "acknowledgments" "$(growth "$DEV_B" tx_packets)" "$(packets "$ACKS")"
	expect "of them not ECN-capable" "$(packets "$ACKS")" "$(packets "$ACKS && \$2 == 0")"
	expect "marks" 0 "$(growth "$DEV_B" np_ecn_marked_roce_packets)"
	expect "CNPs" 0 "$(packets "$CNPS")"
}
check "TC1: without congestion no loss, no mark, no CNP; packets are counted right" no_congestion

# The senders hear of marks many times.
both_slowed() { (($(growth "$DEV_A" rp_cnp_handled) > 10 && $(growth "$DEV_C" rp_cnp_handled) > 10)); }

incast()
{
	begin_phase
	streams_begin 4 "$DEV_A" "$GID4_A" "$DEV_C" "$GID4_C"
	wait_for both_slowed
	streams_end
	wait_for cnps_handled
	capture_end
	dissect
	nothing_lost
	expect "packets with CE" "$(growth "$DEV_B" np_ecn_marked_roce_packets)" \
		"$(packets "\$2 == 3")"
	expect "CNPs on the wire" "$(growth "$DEV_B" np_cnp_sent)" "$(packets "$CNPS")"
	expect "CNPs handled" "$(packets "$CNPS")" \
		$(($(growth "$DEV_A" rp_cnp_handled) + $(growth "$DEV_C" rp_cnp_handled)))
	expect "CNPs with DSCP 48 and not ECN-capable" "$(packets "$CNPS")" \
		"$(packets "$CNPS && \$2 == 0 && \$3 == 48")"
	echo "$(packets "\$2 == 3") of $(packets "$DATA") packets marked, $(packets "$CNPS") CNPs"
}
cnps_handled()
{
	(($(growth "$DEV_B" np_cnp_sent) ==
		$(growth "$DEV_A" rp_cnp_handled) + $(growth "$DEV_C" rp_cnp_handled)))
}
slow_port pb 4000000
expect_slow_port "$DEV_A"
expect_slow_port "$DEV_C"
check "TC3: an incast: nothing is lost; marks and CNPs are those on the wire" incast
note "$(tail -1 "$TMP/check.out")"
finish
