#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The loop of congestion control through a bridge whose port to B is slow and
# marks (RED with ECN): marks, CNPs, rates; the pacer; the control files.

MTU=4200
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../switch.sh
. "$(dirname "$0")/../switch.sh"

dcqcn() { control "dcqcn/$1" "$2"; }

# A writes into B's memory.
writes_begin() { streams_begin "${1:-4}" "$DEV_A" "$GID4_A"; }
writes_end() { streams_end; }

SENT=/sys/class/net/$VETH_A/statistics/tx_bytes

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
refuse "a parameter beyond its range" "out of range" dcqcn rpg_threshold 32
refuse "a parameter that is no number" "Invalid argument" dcqcn rpg_threshold many
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
traced() { grep -q "$1: $2 qpn=" /sys/kernel/tracing/trace; }

# full_window: in two seconds the port was as busy as it can be, and nothing was lost. If
# the machine pauses, another window has to show it.
full_window()
{
	local begin end bytes BYTES lost seen

	remember "$DEV_A:retransmitted_packets"
	read -r begin bytes <<<"$(clock_and "$NS_A" "$SENT")"
	nap 2
	read -r end BYTES <<<"$(clock_and "$NS_A" "$SENT")"
	lost=$(since "$DEV_A:retransmitted_packets")
	seen=$(((BYTES - bytes) * 8 / (end - begin)))
	echo "port $seen of $MBIT Mbit/s, $lost retransmitted" >"$TMP/window"
	((lost == 0 && seen >= MBIT * 85 / 100))
}

# The port is as busy as it can be, and nothing is lost once the rate is found.
loop()
{
	local MARKED CNPS HANDLED

	echo 1 >/sys/kernel/tracing/events/roce/roce_rate_change/enable
	echo 1 >/sys/kernel/tracing/events/roce/roce_cnp_sent/enable
	echo 1 >/sys/kernel/tracing/events/roce/roce_cnp_received/enable
	remember "$DEV_A:rp_cnp_handled" "$DEV_B:np_ecn_marked_roce_packets" "$DEV_B:np_cnp_sent"
	writes_begin
	wait_for limited
	wait_for full_window || { cat "$TMP/window"; return 1; }
	writes_end
	wait_for all_handled
	MARKED=$(since "$DEV_B:np_ecn_marked_roce_packets")
	CNPS=$(since "$DEV_B:np_cnp_sent")
	HANDLED=$(since "$DEV_A:rp_cnp_handled")
	echo "$(<"$TMP/window"), $MARKED marked, $CNPS CNPs sent, $HANDLED handled"
	traced roce_rate_change "$DEV_A"
	traced roce_cnp_sent "$DEV_B"
	traced roce_cnp_received "$DEV_A"
	((MARKED > 0 && CNPS > 0 && CNPS <= MARKED && HANDLED == CNPS))
}
all_handled() { (($(since "$DEV_A:rp_cnp_handled") == $(since "$DEV_B:np_cnp_sent"))); }
expect_slow_port "$DEV_A"
check "dcqcn finds the rate of the port: marks, CNPs, no loss, and it can be seen" loop
note "$(tail -1 "$TMP/check.out")"

# With more on its way than the buffer takes, and a port that no machine is too slow for
none()
{
	control algorithm none
	in_switch tc qdisc change dev pb root handle 1: tbf rate 2mbit burst 50000 limit 10000000
	remember "$DEV_B:np_ecn_marked_roce_packets" "$DEV_A:retransmitted_packets"
	writes_begin 16
	wait_for have_moved "$DEV_A:retransmitted_packets"
	writes_end
	echo "$(since "$DEV_A:retransmitted_packets") retransmitted"
	expect "marked" 0 "$(since "$DEV_B:np_ecn_marked_roce_packets")"
}
check "none is not marked, but loses packets" none
note "$(tail -1 "$TMP/check.out")"
control algorithm dcqcn

# --- pacing --------------------------------------------------------------

# pace MBIT: what leaves in three seconds, in thousandths of the rate. One marked packet
# sets the rate, and the target is not raised for ten seconds: a window that ends later
# says nothing, and PACED is 0.
pace()
{
	local rate=$1 marked begin end bytes BYTES

	remember "$DEV_A:rp_cnp_handled"
	mark "$NS_A" 'limit rate 1/hour burst 1 packets'
	writes_begin >/dev/null
	marked=${EPOCHREALTIME/./}
	wait_for have_moved "$DEV_A:rp_cnp_handled"
	nap 0.5
	read -r begin bytes <<<"$(clock_and "$NS_A" "$SENT")"
	nap 3
	read -r end BYTES <<<"$(clock_and "$NS_A" "$SENT")"
	writes_end
	mark_none "$NS_A"
	PACED=0
	((end - marked > 9000000)) || PACED=$(((BYTES - bytes) * 8 * 1000 / (end - begin) / rate))
	echo "$rate Mbit/s: $PACED per mille"
}

# paced MBIT: what leaves is within 2% of the rate. A machine that does not run for a
# while sends less, and is asked again; more is never its fault.
paced()
{
	local PACED=0

	dcqcn rate_to_set_on_first_cnp "$1"
	dcqcn rpg_time_reset 131071
	dcqcn rpg_threshold 31
	dcqcn min_packets_per_period 255
	dcqcn rpg_byte_reset 0
	for _ in {1..20}; do
		pace "$1"
		((PACED < 980)) || break
	done
	((PACED >= 980 && PACED <= 1020))
}

fast_port pb
# A train is marked as a whole, and is to be told of once.
echo 4095 >"/sys/class/infiniband/$DEV_B/cc/np/min_time_between_cnps"
# A rate that a slow machine can send at
check "5 Mbit/s are kept within 2%" paced 5
note "$(tail -1 "$TMP/check.out")"
a tc qdisc add dev "$VETH_A" root fq
check "5 Mbit/s are kept within 2% with fq" paced 5
note "$(tail -1 "$TMP/check.out")"

finish
