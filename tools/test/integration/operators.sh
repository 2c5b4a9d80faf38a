#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What an operator looks at, by the programs that operators use: ibstat, rdma,
# ibv_devinfo, ibv_asyncwatch, MADs, tracepoints, Prometheus' node_exporter, and
# our roce-stat. What they show is true. (That the counters are right is
# counters.sh's.)

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
link_pair

# has WHAT PATTERN COMMAND...: the output has the pattern in it, wherever its lines end
has()
{
	local what=$1 pattern=$2 output words
	shift 2

	output=$("$@" 2>&1)
	read -rd '' -a words <<<"$output" || true
	[[ "${words[*]} " =~ $pattern ]] && return
	printf '%s\n' "no '$pattern' in $what:" "$output"
	return 1
}

# --- the device ----------------------------------------------------------------

VERSION=$(</sys/module/roce/version)
versions()
{
	has ibstat "Firmware version: $VERSION" ibstat "$DEV_A"
	has ibv_devinfo "fw_ver:.*$VERSION" ibv_devinfo -d "$DEV_A"
	has "rdma dev" "$DEV_A:.* fw $VERSION " rdma dev show "$DEV_A"
}
check "the firmware version is the module's: ibstat, ibv_devinfo, rdma dev" versions

speed()
{
	local gigabits=$(($(a cat "/sys/class/net/$VETH_A/speed") / 1000))

	has ibstat "Rate: $gigabits " ibstat "$DEV_A"
	has ibstatus "rate:.* $gigabits Gb/sec" ibstatus "$DEV_A"
}
check "the rate is the netdev's: ibstat, ibstatus" speed

mtu_shown() { has ibv_devinfo "active_mtu:[[:space:]]*$1 " ibv_devinfo -d "$DEV_A"; }
mtus()
{
	mtu_shown 1024
	a ip link set "$VETH_A" mtu 4200
	wait_for mtu_shown 4096
	a ip link set "$VETH_A" mtu "$MTU"
	wait_for mtu_shown 1024
}
check "the MTU follows the netdev's: ibv_devinfo" mtus
check "rdma link names the netdev in its namespace" \
	has "rdma link" "$DEV_A/1 state ACTIVE .*netdev $VETH_A" a rdma link show "$DEV_A/1"

# --- events ----------------------------------------------------------------------

asyncwatch() { has ibv_asyncwatch "$1" cat "$TMP/async"; }
events()
{
	local pid

	stdbuf -oL ibv_asyncwatch -d "$DEV_A" >"$TMP/async" &
	pid=$!
	wait_for asyncwatch "event FD"
	b ip link set "$VETH_B" down
	wait_for asyncwatch PORT_ERR
	has ibstat "State: Down" ibstat "$DEV_A"
	has "rdma link" "state DOWN" rdma link show "$DEV_A/1"
	b ip link set "$VETH_B" up
	b ip addr add "$IP6_B/64" dev "$VETH_B" nodad
	wait_for asyncwatch PORT_ACTIVE
	has ibstat "State: Active" ibstat "$DEV_A"
	a ip addr add 10.99.0.77/24 dev "$VETH_A"
	wait_for asyncwatch GID_CHANGE
	a ip addr del 10.99.0.77/24 dev "$VETH_A"
	kill "$pid"
}
check "ibv_asyncwatch sees the port go down and up, and GIDs change" events

# --- resources ---------------------------------------------------------------------

qp_shown() { has "rdma resource" "$3" rdma resource show qp link "$1/1" lqpn "$2" -dd; }

# 10 sends of 3 packets and 3 reads of 5, from PSN 0xfffffe on
qp_details()
{
	qp_shown "$DEV_A" "$QPN_A" "rqpn $QPN_B type RC state RTS .* comm connection"
	qp_shown "$DEV_A" "$QPN_A" "drv_mtu 1024 .*drv_sq_psn 43 drv_sq_unacked_psn 43 drv_sq_in_flight 0 drv_sq_outstanding 0 "
	qp_shown "$DEV_B" "$QPN_B" "drv_rq_psn 43 drv_rq_msn 13"
}

# A send of which nothing arrives for a while
qp_in_trouble()
{
	lose "$NS_B" "$VETH_B" '*:1:0'
	echo "send 1 3000" >&"$CONNECTION_OUT"
	wait_for qp_shown "$DEV_A" "$QPN_A" \
		"drv_sq_psn 46 drv_sq_unacked_psn 43 drv_sq_in_flight 3 drv_sq_outstanding 1 .*drv_sq_recovering 1 "
	qp_shown "$DEV_A" "$QPN_A" "drv_ack_timeout 18 drv_retries_left [0-6] "
	lose "$NS_B" "$VETH_B" ''
	moved
}

other_resources()
{
	has "rdma resource" "lqpn 1 type GSI state RTS" rdma resource show qp link "$DEV_A/1" type GSI
	has "the CQs" "dev $DEV_A cqn .* comm connection .*drv_entries [0-9]+ drv_armed 0 drv_overflowed 0" \
		rdma resource show cq -dd
	has "the MRs" "dev $DEV_A mrn .* mrlen 65536 .*drv_kind user drv_pages 16 .*drv_valid 1 " \
		rdma resource show mr -dd
	has "the PDs" "dev $DEV_A pdn .* comm connection" rdma resource show pd -dd
}

connect rc || die "no connection"
sends_and_reads()
{
	move send 10 3000
	move read 3 5000
}
check "a connection moves messages" sends_and_reads
check "rdma resource shows where its QPs are" qp_details
check "and what one waits for whose packets are lost" qp_in_trouble
check "and CQs, MRs and PDs" other_resources
hang_up || not_ok "the connection ends by itself"

cm_ids()
{
	local pid

	a rping -s -a "$IP4_A" -C 1 >/dev/null 2>&1 &
	pid=$!
	wait_for has "rdma resource" "state LISTEN .*comm rping" rdma resource show cm_id
	kill "$pid"
}
check "rdma resource shows connection manager ids" cm_ids

srqs()
{
	local pid rc=0

	a ibv_srq_pingpong -d "$DEV_A" -g "$GID4_A" >"$TMP/pingpong" 2>&1 &
	pid=$!
	wait_for has "rdma resource" "dev $DEV_A srqn [0-9]+ type BASIC lqpn [0-9]+-[0-9]+ pdn " \
		rdma resource show srq || rc=1
	kill "$pid" || rc=1
	((rc == 0)) || { rdma resource show srq; cat "$TMP/pingpong"; }
	return $rc
}
check "and shared receive queues" srqs

# --- counters of QPs -----------------------------------------------------------------

statistic() { has "rdma statistic" "$1" rdma statistic qp show link "$DEV_A/1"; }

# 3 packets to and 1 from the peer
counts_apart()
{
	grows "$DEV_A" "tx_packets=3 rx_packets=1 rdma_sends=1" move send 1 3000
	statistic "$1 .*tx_packets 3 .*rx_packets 1 .*rdma_sends 1 .*LQPN: <$QPN_A>"
}

automatic()
{
	rdma statistic qp set link "$DEV_A/1" auto "$1" on
	connect rc
	counts_apart ""
	hang_up
	rdma statistic qp set link "$DEV_A/1" auto off
	refute statistic LQPN
}

bound()
{
	local counter

	connect rc
	move send 10 100
	rdma statistic qp bind link "$DEV_A/1" lqpn "$QPN_A"
	counter=$(rdma statistic qp show link "$DEV_A/1" | grep -o 'cntn [0-9]*')
	counts_apart "$counter"
	# shellcheck disable=SC2086 # two words
	rdma statistic qp unbind link "$DEV_A/1" $counter lqpn "$QPN_A"
	grows "$DEV_A" "tx_packets=3" move send 1 3000
	hang_up
}

# All QPs of the first process, all of the second: two counters of one device
two_apart()
{
	local other

	rdma statistic qp set link "$DEV_A/1" auto pid on
	"$BUILD/connection" rc "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" \
		< <(echo "send 5 100"; sleep 300) >"$TMP/other" &
	other=$!
	wait_for grep -q "done" "$TMP/other"
	connect rc
	counts_apart ""
	statistic "tx_packets 5 "
	expect "counters of QPs" 2 "$(rdma statistic qp show link "$DEV_A/1" | grep -c 'cntn [1-9]')"
	kill "$other"
	wait "$other" || true
	hang_up
}

refute() { ! "$@"; }

check "each new QP counts apart: rdma statistic, auto type on" automatic type
check "each process counts apart: auto pid on" automatic pid
check "a QP counts apart that was bound by hand" bound
check "two processes count apart from each other" two_apart
rdma statistic qp set link "$DEV_A/1" auto off

# --- the standard counters ---------------------------------------------------------------

port_counters()
{
	(cd "/sys/class/infiniband/$1/ports/1/counters" && grep -r . | tr : ' ')
}

# of NAME FILE: what a file of "name value" says
of() { awk -v name="$1" '$1 == name { print $2 }' "$2"; }

# account_port DEVICE: ports/1/counters are made of hw_counters
account_port()
{
	local n

	counters "$1" >"$TMP/hw"
	port_counters "$1" >"$TMP/port"
	n=$(of tx_packets "$TMP/hw")
	expect port_xmit_packets "$n" "$(of port_xmit_packets "$TMP/port")"
	expect unicast_xmit_packets "$n" "$(of unicast_xmit_packets "$TMP/port")"
	n=$(of rx_packets "$TMP/hw")
	expect port_rcv_packets "$n" "$(of port_rcv_packets "$TMP/port")"
	expect unicast_rcv_packets "$n" "$(of unicast_rcv_packets "$TMP/port")"
	expect port_xmit_data "$(($(of tx_bytes "$TMP/hw") / 4))" "$(of port_xmit_data "$TMP/port")"
	expect port_rcv_data "$(($(of rx_bytes "$TMP/hw") / 4))" "$(of port_rcv_data "$TMP/port")"
	expect link_downed "$(of link_downed "$TMP/hw")" "$(of link_downed "$TMP/port")"
	((n > 0))
}
check "ports/1/counters has what hw_counters has, data in words of 4 bytes" account_port "$DEV_A"
check "also at the other end" account_port "$DEV_B"

# A distribution's rdma-core loads it with the first device.
modprobe ib_umad

# ask [zero]: side A asks side B, which answers by itself
ask()
{
	"$BUILD/performance" "$DEV_A" "$GID6_A" "$(gid "$DEV_B" "" "$GID6_B")" "$@"
}

# A MAD travels in a packet of 280 bytes; the question has arrived when it is answered.
performance_management()
{
	local sent received

	port_counters "$DEV_B" >"$TMP/port"
	sent=$(of port_xmit_packets "$TMP/port")
	received=$(of port_rcv_packets "$TMP/port")
	ask >"$TMP/answers"
	expect "packets sent" "$sent" "$(of extended.port_xmit_packets "$TMP/answers")"
	expect "packets received" $((received + 1)) "$(of extended.port_rcv_packets "$TMP/answers")"
	expect "data received" $(($(of port_rcv_data "$TMP/port") + 70)) \
		"$(of extended.port_rcv_data "$TMP/answers")"
	expect "packets sent a question later" $((sent + 1)) "$(of plain.port_xmit_packets "$TMP/answers")"
	expect "packets received by then" $((received + 2)) "$(of plain.port_rcv_packets "$TMP/answers")"
	expect "the class" 1 "$(of class.class_version "$TMP/answers")"
	# Bit 9: extended counters
	(($(of class.capability_mask "$TMP/answers") & 0x200))
}
check "performance management answers MADs to QP 1" performance_management

# The RDMA core of the one who asks takes an IPv4 header for GIDs, and does not
# find the question to the answer.
ask_over_ipv4()
{
	refute "$BUILD/performance" "$DEV_A" "$GID4_A" "$(gid "$DEV_B" "" "$GID4_B")"
}
check "also over IPv4" grows "$DEV_B" "rx_packets=1 tx_packets=1" ask_over_ipv4

zeroed()
{
	ask zero >"$TMP/answers"
	# The answer to Set has left, and a question has come, since.
	expect "packets sent" 1 "$(of extended.port_xmit_packets "$TMP/answers")"
	expect "packets received" 1 "$(of extended.port_rcv_packets "$TMP/answers")"
	(($(counter "$DEV_B" tx_packets) > 10))
}
check "a manager can zero the standard counters, and none of hw_counters" zeroed

# --- tracepoints ------------------------------------------------------------------------------

trace_of()
{
	trace_anew
	trace .
	"$@"
	untrace
	sed -n 's/.* \(roce_[a-z_]*: .*\)/\1/p' "$TRACING/trace" >"$TMP/trace"
}

# in_order PATTERN...: lines of the trace that follow each other, among others
in_order()
{
	local line

	while read -r line; do
		[[ ! $line =~ $1 ]] || shift
		(($#)) || return 0
	done <"$TMP/trace"
	printf '%s\n' "not seen in its turn: $1" "the trace:"
	cat "$TMP/trace"
	return 1
}

# A WRITE of 5 packets is FIRST and a MIDDLE of its size, and a train of the rest.
life_of_a_packet()
{
	trace_of eval "connect rc; move write 1 5000; hang_up"
	in_order "qp_state: $DEV_A qpn=$QPN_A RESET -> INIT" \
		"qp_state: $DEV_A qpn=$QPN_A INIT -> RTR" \
		"qp_state: $DEV_A qpn=$QPN_A RTR -> RTS" \
		"train_sent: $DEV_A qpn=$QPN_A to=$QPN_B opcode=0x06 psn=16777214\.\." \
		"train_received: $DEV_B qpn=$QPN_B to=$QPN_B opcode=0x06 psn=16777214\.\." \
		"train_received: $DEV_B qpn=$QPN_B .*\.\.2 packets=" \
		"train_sent: $DEV_B qpn=$QPN_B to=$QPN_A opcode=0x11 psn=2\.\.2 packets=1 bytes=20" \
		"train_received: $DEV_A qpn=$QPN_A to=$QPN_A opcode=0x11 psn=2\.\.2"
	expect "packets sent and received" 10 "$(awk -F'packets=' '
		/train_sent: '"$DEV_A"'|train_received: '"$DEV_B"'/ { sum += $2 } END { print sum }' "$TMP/trace")"
}
check "a packet can be followed from QP to QP, and its acknowledgment back" life_of_a_packet

# The first packet is lost, so the second one is ahead.
lost_packet()
{
	single_packets
	lose "$NS_B" "$VETH_B" 0x06:99:0
	trace_of eval "connect rc; move write 1 5000; hang_up"
	lose "$NS_B" "$VETH_B" ''
	in_order "train_sent: $DEV_A .*opcode=0x06 psn=16777214\.\." \
		"train_received: $DEV_B .*opcode=0x07 psn=16777215\.\." \
		"nak_sent: $DEV_B qpn=$QPN_B psn=16777214 syndrome=0x60 NAK" \
		"nak_received: $DEV_A qpn=$QPN_A psn=16777214 syndrome=0x60 NAK" \
		"retry: $DEV_A qpn=$QPN_A psn=16777214 limit=3 retries_left=7 reason=packet_seq_err" \
		"train_sent: $DEV_A .*opcode=0x06 psn=16777214\.\." \
		"train_received: $DEV_B .*opcode=0x06 psn=16777214\.\."
}
check "so can the loss of one" lost_packet

dropped_packet()
{
	trace_of crafted 4 --qpn 1 --only wrong_pkey
	in_order "drop: $DEV_A qpn=1 psn=[0-9]+ packets=1 reason=rx_dropped_pkey"
}
check "a drop has its reason" dropped_packet

# --- monitoring ---------------------------------------------------------------------------------

scrape() { exec 3<>/dev/tcp/127.0.0.1/9100 && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && cat <&3 >"$TMP/metrics"; }

# exported METRIC: its value for side A
exported() { sed -n "s/^node_infiniband_$1{device=\"$DEV_A\",port=\"1\"} //p" "$TMP/metrics"; }

node_exporter()
{
	local pid

	prometheus-node-exporter --collector.disable-defaults --collector.infiniband \
		--web.listen-address 127.0.0.1:9100 >"$TMP/exporter.out" 2>&1 &
	pid=$!
	wait_for scrape
	kill "$pid"
	counters "$DEV_A" >"$TMP/hw"
	# It knows bytes, of which there are 4 in a word, and prints them as %g.
	expect port_transmit_packets "$(printf %g "$(of tx_packets "$TMP/hw")")" \
		"$(printf %g "$(exported port_packets_transmitted_total)")"
	expect port_data_transmitted "$(printf %g $(($(of tx_bytes "$TMP/hw") / 4 * 4)))" \
		"$(printf %g "$(exported port_data_transmitted_bytes_total)")"
	expect port_packets_received "$(printf %g "$(of rx_packets "$TMP/hw")")" \
		"$(printf %g "$(exported port_packets_received_total)")"
	expect link_downed "$(of link_downed "$TMP/hw")" "$(exported link_downed_total)"
	grep -q "node_infiniband_info{.*device=\"$DEV_A\".*firmware_version=\"$VERSION\"" "$TMP/metrics"
}
check "Prometheus' node_exporter exports what was counted" node_exporter

ROCE_STAT=$TEST_DIR/../roce-stat

# What roce-stat sees within its seconds, it says as a rate.
rates_are_right()
{
	/usr/bin/python3 - "$TMP/json" "$DEV_A" "$QPN_A" <<-'END'
		import json, sys
		counted = {"device": [0, 0, 0], "QP": [0, 0, 0]}
		for sample in map(json.loads, open(sys.argv[1])):
		    device, = (d for d in sample["devices"] if d["name"] == sys.argv[2])
		    qp, = (q for q in device["qps"] if q["lqpn"] == [int(sys.argv[3])])
		    for whose, rates in ("device", device["rates"]), ("QP", qp["rates"]):
		        for i, name in enumerate(("tx_packets", "rx_packets", "rdma_sends")):
		            counted[whose][i] += round(rates[name] * sample["seconds"])
		print(counted)
		assert counted == {"device": [60, 20, 20], "QP": [60, 20, 20]}
	END
}

roce_stat_shows()
{
	rdma statistic qp set link "$DEV_A/1" auto type on
	connect rc
	"$ROCE_STAT" --json --count 3 --interval 3 >"$TMP/json" &
	# Its first interval is over: the messages move in the others.
	wait_for test -s "$TMP/json"
	move send 20 3000
	wait $!
	rates_are_right
	has roce_stat "received.*$DEV_A .* qp $QPN_A .*$DEV_B " "$ROCE_STAT" --count 1
	hang_up
}
check "roce-stat tells the rates of a device and of its QP, and has a line for each" roce_stat_shows
check "roce-stat names a device that is not there" \
	refute "$ROCE_STAT" nosuch --count 1
finish
