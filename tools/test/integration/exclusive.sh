#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# rdma system netns exclusive: a device is in the namespace where it was made,
# usable there, and nowhere else, until it is moved.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
modprobe ib_uverbs
if ! wait_for rdma system set netns exclusive >/dev/null; then
	skip "exclusive mode" "this system has other network namespaces"
	finish
fi

# ib_core allows the change only while no other namespace exists.
put_back()
{
	wait_for rdma system set netns shared ||
		echo "# the system stays in exclusive mode"
}

sees() { in_ns "$1" rdma link | found "link $2/1\b"; }
sees_not() { ! sees "$@"; }

ns_pair
link_pair
check "the device is in the namespace where it was made" sees "$NS_A" "$DEV_A"
check "and not in another one" sees_not "$NS_B" "$DEV_A"
check "nor in the initial one" sees_not "" "$DEV_A"
check "traffic between two exclusive namespaces" \
	integrity_pair --ops mix --sizes 1,mtu,10000 --count 20

# The device is taken from its programs, and nobody waits for them.
taken_away()
{
	background_traffic
	a rdma dev set "$DEV_A" netns "$NS_B"
	! wait "$TRAFFIC"
	sees "$NS_B" "$DEV_A"
	sees_not "$NS_A" "$DEV_A"
}

brought_back()
{
	b rdma dev set "$DEV_A" netns "$NS_A"
	wait_for gid_index "$DEV_A" "$NS_A" 4
	GID4_A=$(gid_index "$DEV_A" "$NS_A" 4)
	integrity_pair --ops mix --sizes 1,mtu,10000 --count 20
}
check "a device is moved to another namespace, under traffic" taken_away
check "and works again when it is back" brought_back
finish
