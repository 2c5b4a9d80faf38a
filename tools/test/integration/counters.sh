#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Every counter against an independent count: tcpdump captures what arrives at
# each side, and operators/account.py works out what both devices must have
# counted. Losses are scripted, behind the captures.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

build
ns_pair
link_pair
# What account.py works out is go-back-N: nothing is kept.
set_patience 0
# ACK timeouts of 17 s: a machine that is late is no loss.
PATIENT_QP=(--timeout 22)

# Received by one CPU, so that a capture has the order in which nft drops.
a bash -c "echo 1 >/sys/class/net/$VETH_A/queues/rx-0/rps_cpus"
b bash -c "echo 1 >/sys/class/net/$VETH_B/queues/rx-0/rps_cpus"

watch_begin()
{
	lose "$NS_A" "$VETH_A" "$LOST_A"
	lose "$NS_B" "$VETH_B" "$LOST_B"
	capture "$TMP/a.pcap" "$NS_A" "$VETH_A" -Q in
	capture "$TMP/b.pcap" "$NS_B" "$VETH_B" -Q in
	counters "$DEV_A" >"$TMP/a.before"
	counters "$DEV_B" >"$TMP/b.before"
}

watch_end()
{
	capture_end
	counters "$DEV_A" >"$TMP/a.after"
	counters "$DEV_B" >"$TMP/b.after"
	lose "$NS_A" "$VETH_A" ''
	lose "$NS_B" "$VETH_B" ''
}

# What tcpdump did not see cannot be counted.
captured_all() { expect "packets that tcpdump missed" "0 0" "$(missed "$TMP/a.pcap") $(missed "$TMP/b.pcap")"; }

# account NAME ARGS... -- COMMAND...: what both devices count for the command
account()
{
	local name=$1 args=() LOST_A='' LOST_B=''
	shift

	while [[ $1 != -- ]]; do
		case $1 in
		--lost-a) LOST_A=$2 ;;
		--lost-b) LOST_B=$2 ;;
		esac
		args+=("$1")
		shift
	done
	shift
	watch_begin
	check "$name" "$@"
	watch_end
	check "... and each packet was captured" captured_all
	check "... and every counter says what the captures say" \
		"$TEST_DIR/operators/account.py" "$TMP" "${args[@]}"
	grep '^#' "$TMP/check.out" || true
}

all_services()
{
	local family

	for family in -4 -6; do
		integrity_pair $family --ops all --sizes 0,1,mtu+1,5000 --count 20
		integrity_pair $family --ops mix --sizes 3000 --qps 3 --flags bidir --count 20
		integrity_pair $family --types uc --ops push --sizes 1,5000 --count 10
		integrity_pair $family --types ud --ops send,send_imm --sizes 1,mtu --count 10
	done
	perftest ib_write_bw -s 20000 -n 30
	perftest ib_read_lat -s 3000 -n 30
}

# grown a|b COUNTER: since watch_begin
grown()
{
	local device=$DEV_A

	[[ $1 == a ]] || device=$DEV_B
	echo $(($(counter "$device" "$2") - $(value_of "$2" "$(<"$TMP/$1.before")")))
}

# A message of 5 packets
one_message() { integrity_pair --ops "$1" --sizes 5000 --count 1; }

rest_is_dropped() { (($(grown b rx_dropped_incomplete) == 2)); }
writes()
{
	one_message write
	connect uc
	move write 1 5000
	wait_for rest_is_dropped
	hang_up
}

# What A sent has come, and B has answered the copy. One answer of B is lost.
all_is_answered()
{
	local answers

	answers=$(grown b tx_packets)
	((answers > 1 && $(grown a rx_packets) == answers - 1 &&
		$(grown b rx_packets) == $(grown a tx_packets)))
}

# One packet: the answers to copies that come together are one. Without a QP, the answer
# would be counted as dropped.
send_twice()
{
	connect rc
	move send 1 500
	wait_for all_is_answered
	hang_up
}

# --- packet by packet ---------------------------------------------------------

single_packets
account "traffic of all services in single packets" -- all_services
account "a packet of a WRITE is lost, reliable and not" \
	--lost-a 0x07:99:1 --expect b:packet_seq_err=1 --expect b:completer_retry_err=1 \
	--expect b:roce_slow_restart_cnps=1 --expect b:roce_slow_restart_trans=1 \
	--lost-b 0x27:99:1 --expect b:out_of_sequence=1 --expect b:rx_dropped_incomplete=2 \
	-- writes
account "a packet of a READ's response is lost" --lost-b 0x0e:99:1 \
	--expect b:implied_nak_seq_err=1 --expect b:completer_retry_err=1 \
	--expect a:roce_slow_restart_cnps=1 --expect a:roce_slow_restart_trans=1 \
	-- one_message read
account "the acknowledgment is lost" --lost-a 0x11:99:0 \
	--expect a:local_ack_timeout_err=1 --expect a:completer_retry_err=1 \
	--expect a:roce_slow_restart=1 --expect a:roce_slow_restart_cnps=1 \
	--expect a:roce_slow_restart_trans=1 \
	-- send_twice
account "a request is lost, again and again" --lost-a '*:17:5' \
	--free packet_seq_err --free local_ack_timeout_err \
	--free completer_retry_err --free rcvd_seq_err --free out_of_seq_request \
	--free roce_slow_restart --free roce_slow_restart_cnps --free roce_slow_restart_trans \
	-- integrity_pair --ops push --sizes 1,3000 --count 60 --timeout 18

# --- trains --------------------------------------------------------------------

a ethtool -K "$VETH_A" tx-udp-segmentation on gso on tso on >/dev/null
b ethtool -K "$VETH_B" tx-udp-segmentation on gso on tso on >/dev/null
account "traffic of all services in trains" --trains -- all_services

# --- what goes wrong -----------------------------------------------------------

tap_run "failures, one by one" \
	"$BUILD/verbs" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" counters

# The GSI is a QP that is always there.
check "damaged packets are counted for what is wrong with them" grows "$DEV_A" \
	"rx_icrc_encapsulated=20 rx_dropped_header=15 rx_dropped_pkey=5" \
	crafted 4 --qpn 1 --only bad_icrc --only bad_version --only wrong_pkey

# The first datagram stays in the queue, which has room for one.
full_queue()
{
	connect ud
	netem "$NS_A" "$VETH_A" delay 20s limit 1
	move send 3 8
	netem "$NS_A" "$VETH_A"
	hang_up
}
check "datagrams that the egress queue does not take wait, and are given up" \
	grows "$DEV_A" "tx_packets=1 tx_stalled_queue=+ send_err=+ tx_wait_us=+ tx_dropped_queue_full=2" \
	full_queue

# The queue takes them all, and lets six of them go in a second.
slow_queue()
{
	connect uc
	a tc qdisc replace dev "$VETH_A" root tbf rate 8kbit burst 5000 limit 10000000
	move write 600 100
	a tc qdisc del dev "$VETH_A" root
	hang_up
}
check "unreliable messages wait while too many are in the queues of their own host" \
	grows "$DEV_A" "tx_packets=600 tx_held_back=+ tx_stalled_queue=0 tx_dropped_queue_full=0" \
	slow_queue

no_route()
{
	connect ud -6
	a ip -6 route add unreachable "$IP6_B/128"
	move send 3 8
	a ip -6 route del unreachable "$IP6_B/128"
	hang_up
}
check "datagrams without a route are given up" \
	grows "$DEV_A" "tx_packets=0 tx_dropped_no_route=3" no_route

port_is() { [[ $(port_attr "$1" "" state) == *"$2" ]]; }
went_down() { (($(counter "$DEV_A" link_downed) == 1)); }
down_and_up()
{
	b ip link set "$VETH_B" down
	wait_for went_down
	b ip link set "$VETH_B" up
	wait_for port_is "$DEV_A" ACTIVE
}
check "a port that goes down is counted" grows "$DEV_A" link_downed=1 down_and_up
check "at both ends" test "$(counter "$DEV_B" link_downed)" -eq 1
finish
