#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The memory of QPs that are connected and idle, with small rings: a QP takes less than
# 20 KiB of the kernel, and nothing is left of it when it is destroyed. The argument is the
# number of possible CPUs that the machine must have: memory that each CPU has would show.
# Without an argument it is as many as there are.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

CPUS=${1:-}
QPS=${QPS:-3000}
ENTRIES=16
LIMIT=$((20 * 1024))
# What others in the machine may take meanwhile, as bytes of a QP: from Linux 6.18 on, caches
# keep more for each CPU. kmemleak finds smaller leaks on "debug".
LEFT=200

build
ns_pair
link_pair

possible=$(</sys/devices/system/cpu/possible)
note "possible CPUs: $possible"
[[ -z $CPUS ]] || is "the machine has $CPUS possible CPUs" "0-$((CPUS - 1))" "$possible"

idle_qps() { a "$BUILD/idle_qps" "$DEV_A" "$GID4_A" "::ffff:$IP4_B" "$QPS" "$ENTRIES"; }

# measure: sets bytes of one QP: TAKEN, and GONE, which were not free afterwards
measure()
{
	local rings rest

	idle_qps >"$TMP/qps" || die "no idle QPs" "$(<"$TMP/qps")"
	read -r _ rings rest GONE <"$TMP/qps"
	TAKEN=$((rings + rest))
	note "one of $QPS QPs: $rings bytes of rings, $rest of the rest, $GONE left over"
}

# The first QPs of a machine fill caches and tables that stay; a leak comes each time.
for ((i = 0; i < 3; i++)); do
	measure
	((GONE >= LEFT)) || break
done

below() { echo "$1 bytes, limit $2"; (($1 < $2)); }
if ((SLOWNESS > 1)); then
	skip "an idle QP takes less than 20 KiB" "a kernel that checks memory needs more of it"
	skip "nothing is left of it" "a kernel that checks memory frees it late"
else
	check "an idle QP takes less than 20 KiB" below "$TAKEN" "$LIMIT"
	check "nothing is left of it" below "$GONE" "$LEFT"
fi
finish
