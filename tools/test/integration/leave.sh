#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A program leaves with thousands of regions and QPs. That must not take a grace
# period of RCU for each: an expedited one interrupts all CPUs.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

REGIONS=${REGIONS:-10000} QPS=${QPS:-1000}

build
ns_pair
link_pair
mountpoint -q "$TRACING" || mount -t tracefs tracefs "$TRACING"

# Of synchronize_rcu_expedited(), since it is probed
calls() { awk '$1 == "roce_test" { print $2 }' "$TRACING/kprobe_profile"; }

leave() { check "a program leaves with $REGIONS regions and $QPS QPs" "$BUILD/leave" "$DEV_A" "$REGIONS" "$QPS"; }

if [[ -e $TRACING/kprobe_events ]]; then
	echo 'p:roce_test synchronize_rcu_expedited' >>"$TRACING/kprobe_events"
	echo 1 >"$TRACING/events/kprobes/roce_test/enable"
	leave
	seen=$(calls)
	echo 0 >"$TRACING/events/kprobes/roce_test/enable"
	note "$seen expedited grace periods"
	check "and takes far fewer grace periods" [ "$seen" -lt $((QPS / 10)) ]
else
	leave
	skip "and takes far fewer grace periods" "no kprobes in this kernel; KUnit counts them"
fi
check "traffic goes on" integrity_pair --ops mix --sizes 300 --count 20
finish
