#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The control files of congestion control, and its loop through a bridge whose port to B is
# slow and marks (RED with ECN). How fast, fair and exact it is, is for tools/lab/scenes.

MTU=4200
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../switch.sh
. "$(dirname "$0")/../switch.sh"

# A writes into B's memory.
writes_begin() { streams_begin 4 "$DEV_A" "$GID4_A"; }
writes_end() { streams_end; }

# remember DEVICE:COUNTER...: their values; since DEVICE:COUNTER: by how much it has grown
declare -A BEFORE=()
remember()
{
	local name

	for name in "$@"; do BEFORE[$name]=$(counter "${name%%:*}" "${name#*:}"); done
}
have_moved() { (($(since "$1") > ${2:-0})); }
since() { echo $(($(counter "${1%%:*}" "${1#*:}") - BEFORE[$1])); }

build
switch_new
host "$NS_A" "$VETH_A" pa "$IP4_A"
host "$NS_B" "$VETH_B" pb "$IP4_B"
link_pair
slow_port pb 400000

# --- control files -------------------------------------------------------

is "a new device has dcqcn" dcqcn "$(control algorithm)"
refuse "no algorithm of that name" "No such file" control algorithm nonsense
refuse "a parameter beyond its range" "out of range" control dcqcn/rpg_threshold 32
refuse "a parameter that is no number" "Invalid argument" control dcqcn/rpg_threshold many
check "an algorithm in a module of its own is loaded by its name" control algorithm timely
is "its parameters appear" 200 "$(control timely/t_low)"
refuse "its module stays while it is selected" "in use" rmmod roce_timely
timely()
{
	remember "$DEV_A:tx_packets"
	writes_begin
	wait_for have_moved "$DEV_A:tx_packets" 100
	writes_end
}
check "packets move under it" timely
unselected()
{
	control algorithm dcqcn
	wait_for rmmod roce_timely
	expect "its folder" no "$(test -e "/sys/class/infiniband/$DEV_A/cc/timely" || echo no)"
}
check "its module goes when it is not selected any more" unselected

# --- the loop ------------------------------------------------------------

# What operators see of the flow meanwhile
limited() { rdma resource show qp -dd | found 'cc_limited 1'; }
traced() { grep -q "$1: $2 qpn=" "$TRACING/trace"; }

loop()
{
	local MARKED CNPS HANDLED

	trace roce_rate_change roce_cnp_sent roce_cnp_received
	remember "$DEV_A:rp_cnp_handled" "$DEV_B:np_ecn_marked_roce_packets" "$DEV_B:np_cnp_sent"
	writes_begin
	wait_for limited
	wait_for have_moved "$DEV_A:rp_cnp_handled" 10
	writes_end
	wait_for all_handled
	MARKED=$(since "$DEV_B:np_ecn_marked_roce_packets")
	CNPS=$(since "$DEV_B:np_cnp_sent")
	HANDLED=$(since "$DEV_A:rp_cnp_handled")
	echo "$MARKED marked, $CNPS CNPs sent, $HANDLED handled"
	traced roce_rate_change "$DEV_A"
	traced roce_cnp_sent "$DEV_B"
	traced roce_cnp_received "$DEV_A"
	((CNPS <= MARKED && HANDLED == CNPS))
}
all_handled() { (($(since "$DEV_A:rp_cnp_handled") == $(since "$DEV_B:np_cnp_sent"))); }
expect_slow_port "$DEV_A"
check "marks become CNPs, and CNPs a lower rate, as counters, traces and rdma show" loop
note "$(tail -1 "$TMP/check.out")"
finish
