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

move_device() { a rdma dev set "$DEV_A" netns "$NS_B"; }

moved_away()
{
	background_traffic
	OWNER_NS=$NS_A taken_away move_device
	traffic_failed
	sees "$NS_B" "$DEV_A"
	sees_not "$NS_A" "$DEV_A"
	figure 1 "teardowns under traffic"
}

# find_gid: the index of side A's GID, once it is there again
find_gid()
{
	wait_for gid_index "$DEV_A" "$NS_A" 4
	GID4_A=$(gid_index "$DEV_A" "$NS_A" 4)
}

brought_back()
{
	b rdma dev set "$DEV_A" netns "$NS_A"
	find_gid
	integrity_pair --ops mix --sizes 1,mtu,10000 --count 20
}
for ((i = 1; i <= TEARDOWNS; i++)); do
	check "a device is moved to another namespace, under traffic ($i)" moved_away
	check "and works again when it is back ($i)" brought_back
	find_gid || true
done
finish
