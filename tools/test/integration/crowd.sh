#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# QPS connected QPs of one program, TALKERS pairs of them with traffic, and their end;
# those of others work on meanwhile. What the QPs take and how long that lasts is told.
# ENDS are the ways in which they end: exit, kill or destroy.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

QPS=${QPS:-$((3000 / SLOWNESS))}
ENDS=${ENDS:-exit kill}
TALKERS=${TALKERS:-50}

build
ns_pair
link_pair
# Each has a ring that is mapped.
sysctl -q vm.max_map_count=1000000

crowd() { "$BUILD/crowd" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" "$QPS" "$TALKERS" "$1"; }

qps_of() { rdma resource show qp link "$1/1" | wc -l; }
# The GSI's, and those of a program that is just going
nobody_left() { (($(qps_of "$DEV_A") <= 1 && $(qps_of "$DEV_B") <= 1)); }

for kind in $ENDS; do
	note "a crowd of $QPS QPs: $kind"
	tap_run "a crowd" crowd "$kind"
	check "nothing is left of the crowd ($kind)" wait_for nobody_left
done

removed()
{
	begin "$TMP/crowd" crowd removed
	local pid=$BEGUN begin

	wait_for_crowd "$pid"
	begin=${EPOCHREALTIME/./}
	link_del "$DEV_B"
	echo "in $(((${EPOCHREALTIME/./} - begin) / 1000)) ms (rdma link delete)" >"$TMP/took"
	wait "$pid" || { cat "$TMP/crowd"; return 1; }
	link_gone "$DEV_B"
}

# A program that ends early is no crowd.
wait_for_crowd()
{
	until grep -q '^# ready' "$TMP/crowd"; do
		! ended "$1" || { cat "$TMP/crowd"; return 1; }
		nap 0.2
	done
}
check "rdma link delete takes a crowd of $QPS QPs away" removed
note "$(cat "$TMP/took")"
unset "LINKS[$DEV_B]"
link_add "$DEV_B" roce "$VETH_B" "$NS_B" || die "no link on side B"
GID4_B=$GID4
check "and all is well afterwards" integrity_pair --ops mix --sizes 5000 --count 28
finish
