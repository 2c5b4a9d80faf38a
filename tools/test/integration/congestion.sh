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

# writes SECONDS [OUTSTANDING]: B's memory is written to from A, for longer where
# everything is slower
writes()
{
	"$BUILD/stream" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" $(($1 * SLOWNESS)) "${2:-4}" </dev/null
}

# For a bash in A's namespace: microseconds and bytes sent, at one moment
# shellcheck disable=SC2016 # expanded by the inner shell
CLOCK_AND_BYTES='read -r bytes <"/sys/class/net/'$VETH_A'/statistics/tx_bytes"; echo "${EPOCHREALTIME/./} $bytes"'

# since NAME DEVICE COUNTER: remembers it; moved NAME: by how much it moved
declare -A BEFORE=()
remember()
{
	local name

	for name in "$@"; do BEFORE[$name]=$(counter "${name%%:*}" "${name#*:}"); done
}
moved() { echo $(($(counter "${1%%:*}" "${1#*:}") - BEFORE[$1])); }

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
	writes 2
	expect "packets moved" yes "$( (($(moved "$DEV_A:tx_packets") > 100)) && echo yes)"
}
check "it works" timely
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

# The port is as busy as it can be, and nothing is lost once the rate is found.
loop()
{
	local MARKED CNPS HANDLED SEEN BYTES begin end bytes lost writer

	echo 1 >/sys/kernel/tracing/events/roce/roce_rate_change/enable
	echo 1 >/sys/kernel/tracing/events/roce/roce_cnp_sent/enable
	echo 1 >/sys/kernel/tracing/events/roce/roce_cnp_received/enable
	remember "$DEV_A:rp_cnp_handled" "$DEV_A:tx_packets" \
		"$DEV_B:np_ecn_marked_roce_packets" "$DEV_B:np_cnp_sent"
	writes 14 &
	writer=$!
	wait_for limited
	nap 4
	remember "$DEV_A:retransmitted_packets"
	read -r begin bytes <<<"$(a bash -c "$CLOCK_AND_BYTES")"
	nap 5
	read -r end BYTES <<<"$(a bash -c "$CLOCK_AND_BYTES")"
	lost=$(moved "$DEV_A:retransmitted_packets")
	wait "$writer"
	nap 0.5
	MARKED=$(moved "$DEV_B:np_ecn_marked_roce_packets")
	CNPS=$(moved "$DEV_B:np_cnp_sent")
	HANDLED=$(moved "$DEV_A:rp_cnp_handled")
	SEEN=$(((BYTES - bytes) * 8 / (end - begin)))
	echo "port $SEEN of $MBIT Mbit/s, $lost retransmitted, $MARKED marked, $CNPS CNPs sent, $HANDLED handled"
	traced roce_rate_change "$DEV_A"
	traced roce_cnp_sent "$DEV_B"
	traced roce_cnp_received "$DEV_A"
	((MARKED > 0 && CNPS > 0 && CNPS <= MARKED && HANDLED == CNPS))
	((lost == 0))
	((SEEN >= MBIT * 85 / 100))
}
expect_slow_port "$DEV_A"
check "dcqcn finds the rate of the port: marks, CNPs, no loss, and it can be seen" loop
note "$(tail -1 "$TMP/check.out")"

none()
{
	control algorithm none
	remember "$DEV_B:np_ecn_marked_roce_packets" "$DEV_A:retransmitted_packets"
	writes 3 8
	echo "$(moved "$DEV_A:retransmitted_packets") retransmitted"
	expect "marked" 0 "$(moved "$DEV_B:np_ecn_marked_roce_packets")"
	(($(moved "$DEV_A:retransmitted_packets") > 0))
}
check "none is not marked, but loses packets" none
note "$(tail -1 "$TMP/check.out")"
control algorithm dcqcn

# --- pacing --------------------------------------------------------------

# pace MBIT: what leaves in three seconds, in thousandths of the rate. One marked
# packet sets it, and the target is not raised for ten seconds.
pace()
{
	local rate=$1 begin end bytes BYTES

	mark "$NS_A" 'limit rate 1/hour burst 1 packets'
	writes 6 >/dev/null &
	wait_for limited
	nap 0.5
	read -r begin bytes <<<"$(a bash -c "$CLOCK_AND_BYTES")"
	nap 3
	read -r end BYTES <<<"$(a bash -c "$CLOCK_AND_BYTES")"
	wait
	mark_none "$NS_A"
	SEEN=$(((BYTES - bytes) * 8 * 1000 / (end - begin) / rate))
	echo "$rate Mbit/s: $SEEN per mille"
}

# paced MBIT: what leaves is within 2% of the rate. A machine that does not run for a
# while sends less, but more is never its fault: three attempts for the former.
paced()
{
	local SEEN=0

	dcqcn rate_to_set_on_first_cnp "$1"
	dcqcn rpg_time_reset 131071
	dcqcn rpg_threshold 31
	dcqcn min_packets_per_period 255
	dcqcn rpg_byte_reset 0
	for _ in 1 2 3; do
		pace "$1"
		((SEEN < 980)) || break
	done
	((SEEN >= 980 && SEEN <= 1020))
}

fast_port pb
# A train is marked as a whole, and is to be told of once.
echo 4095 >"/sys/class/infiniband/$DEV_B/cc/np/min_time_between_cnps"
FASTER=$((20 / SLOWNESS))
for rate in 5 $FASTER; do
	check "$rate Mbit/s are kept within 2%" paced $rate
	note "$(tail -1 "$TMP/check.out")"
done
a tc qdisc add dev "$VETH_A" root fq
check "$FASTER Mbit/s are kept within 2% with fq" paced $FASTER
note "$(tail -1 "$TMP/check.out")"

finish
