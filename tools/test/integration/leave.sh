#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A program leaves with thousands of regions and QPs. That must not take a grace
# period of RCU for each: an expedited one interrupts all CPUs.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

REGIONS=${REGIONS:-10000} QPS=${QPS:-1000}
TRACE=/sys/kernel/tracing

build
ns_pair
link_pair
mountpoint -q "$TRACE" || mount -t tracefs tracefs "$TRACE"

# Of synchronize_rcu_expedited(), since it is probed
calls() { awk '$1 == "roce_test" { print $2 }' "$TRACE/kprobe_profile"; }

leave() { check "a program leaves with $REGIONS regions and $QPS QPs" "$BUILD/leave" "$DEV_A" "$REGIONS" "$QPS"; }

if [[ -e $TRACE/kprobe_events ]]; then
	echo 'p:roce_test synchronize_rcu_expedited' >>"$TRACE/kprobe_events"
	echo 1 >"$TRACE/events/kprobes/roce_test/enable"
	leave
	seen=$(calls)
	echo 0 >"$TRACE/events/kprobes/roce_test/enable"
	note "$seen expedited grace periods"
	check "and takes far fewer grace periods" [ "$seen" -lt $((QPS / 10)) ]
else
	leave
	skip "and takes far fewer grace periods" "no kprobes in this kernel; KUnit counts them"
fi
check "traffic goes on" integrity_pair --ops mix --sizes 300 --count 20
finish
