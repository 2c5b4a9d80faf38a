#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A packet that a switch has marked becomes a CNP, and the CNP a lower rate. Nothing
# here is measured: the scenes of tools/lab do that.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
link_pair

put_back()
{
	untrace
	trace_anew
} 2>/dev/null

# What dcqcn says of the QP at side A
flow() { rdma resource show qp link "$DEV_A" lqpn "$QPN_A" -dd; }

# lower_rate: of that QP, as the tracepoint has it
lower_rate()
{
	awk -v device="$DEV_A" -v qpn="qpn=$QPN_A" '
		/ roce_rate_change: / && index($0, device " " qpn " ") {
			split($0, part, /from=| to=/)
			if (part[3] + 0 < part[2] + 0)
				lower = 1
		}
		END { exit !lower }' $TRACING/trace
}

# cnps_handled COUNT: at least
cnps_handled() { (($(counter "$DEV_A" rp_cnp_handled) >= $1)); }

# One packet of the first message is marked, and no other one ever.
marked()
{
	connect rc
	flow | found 'cc_limited 0'
	trace roce_rate_change
	mark "$NS_A" 'limit rate 1/day burst 1 packets'
	move write 1 300
	wait_for cnps_handled 1
	mark_none "$NS_A"
	expect "packets that arrived marked" 1 "$(counter "$DEV_B" np_ecn_marked_roce_packets)"
	expect "CNPs sent" 1 "$(counter "$DEV_B" np_cnp_sent)"
	expect "CNPs handled" 1 "$(counter "$DEV_A" rp_cnp_handled)"
	lower_rate || { cat $TRACING/trace; return 1; }
	hang_up
}
check "a marked packet becomes a CNP, and the QP that sent it gets a lower rate" marked

unmarked() { integrity_pair --ops mix --sizes 100,5000 --flags bidir --count 28; }
check "packets without a mark make no CNP" grows "$DEV_A" \
	"np_cnp_sent=0 rp_cnp_handled=0 tx_packets=+" unmarked

marked_uc()
{
	connect uc
	mark "$NS_A" 'limit rate 1/day burst 1 packets'
	move write 1 300
	wait_for cnps_handled 2
	mark_none "$NS_A"
	hang_up
}
check "one of UC becomes a CNP, too" marked_uc

# An algorithm that does not react sends packets that say so: no switch marks them.
deaf()
{
	control algorithm none
	connect rc
	mark "$NS_A"
	move write 3 5000
	mark_none "$NS_A"
	hang_up
	control algorithm dcqcn
}
check "without an algorithm nothing asks for marks" grows "$DEV_B" \
	"rx_packets=+ np_ecn_marked_roce_packets=0 np_cnp_sent=0" deaf
finish
