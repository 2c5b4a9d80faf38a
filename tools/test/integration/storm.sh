#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Threads of several programs create, modify, use and destroy objects of all kinds at
# once, ROUNDS each (tools/test/storm). In a long run a CPU comes and goes meanwhile.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ROUNDS=${ROUNDS:-$(long 20000 3000 $((1200 / SLOWNESS)))}
PROCESSES=${PROCESSES:-$(long 6 6 3)}
THREADS=${THREADS:-$(long 16 16 6)}
CPU=/sys/devices/system/cpu/cpu1/online

build
ns_pair
link_pair

# The RDMA core's own objects are there before, too.
resources() { rdma resource show | grep -E "^[0-9]+: ($DEV_A|$DEV_B):"; }
as_before() { [[ $(resources) == "$before" ]]; }

storm()
{
	"$BUILD/storm" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" "$ROCE_SEED" "$PROCESSES" \
		"$THREADS" "$ROUNDS"
}

# Until $TMP/hotplug goes
hotplug()
{
	while [[ -e $TMP/hotplug ]]; do
		echo 0 >"$CPU"
		nap "0.$((RANDOM % 5))"
		echo 1 >"$CPU"
		nap "0.$((RANDOM % 10))"
		echo once >>"$TMP/turns"
	done
}

turns() { wc -l <"$TMP/turns"; }

before=$(resources)
if [[ -n $LONG && -w $CPU ]]; then
	touch "$TMP/hotplug" "$TMP/turns"
	hotplug &
	tap_run "a storm" storm
	rm "$TMP/hotplug"
	wait
	check "meanwhile a CPU goes and comes" test "$(turns)" -gt 0
else
	tap_run "a storm" storm
fi
check "nothing is left of it" wait_for as_before
check "and all is well afterwards" integrity_pair --ops mix --sizes 5000 --count 28
finish
