#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Beside rdma_rxe: both drivers carry the same driver id, and rxe looks for its
# devices by netdev and driver id. Whatever happens to one, the other works on.
#
# Before 7.x rxe works in the initial namespace only, and takes port 4791 there.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
if ! modprobe rdma_rxe 2>/dev/null; then
	skip "roce beside rdma_rxe" "this kernel has no rdma_rxe"
	finish
fi

rxe_up()
{
	modprobe rdma_rxe
	ip link show x0 >/dev/null 2>&1 || {
		ip link add x0 type veth peer name x1
		ip addr add 10.98.0.1/24 dev x0
		ip link set x0 up
		ip link set x1 up
	}
	rdma link add rxe_x type rxe netdev x0
	wait_for gid_index rxe_x "" 4
}

rxe_works()
{
	local gid

	gid=$(gid_index rxe_x "" 4)
	"$BUILD/verbs" rxe_x "$gid" rxe_x "$gid" objects
}

roce_works() { integrity_pair --ops mix --sizes 1,5000 --count 14; }

check "rxe and roce links side by side" rxe_up
ns_pair
link_pair
check "roce carries traffic beside rxe" roce_works
check "rxe carries traffic beside roce" rxe_works
refuse "roce where rxe has the port is refused" 'in use|error' \
	rdma link add roce_x type roce netdev x1

# An MTU change and a rename make rxe look for a device on that netdev.
a ip link set "$VETH_A" mtu 1400
a ip link set "$VETH_A" mtu 1500
ip link set x0 mtu 1400
ip link set x0 mtu 1500
check "MTU changes of either netdev: roce works on" roce_works
check "MTU changes of either netdev: rxe works on" rxe_works

rename()
{
	in_ns "$1" ip link set "$2" down
	in_ns "$1" ip link set "$2" name "$3"
	in_ns "$1" ip link set "$3" up
}
rename "$NS_A" "$VETH_A" renamed
a ip addr add "$IP6_A/64" dev renamed nodad
rename "$NS_A" renamed "$VETH_A"
a ip addr replace "$IP6_A/64" dev "$VETH_A" nodad
wait_for gid_index "$DEV_A" "$NS_A" 4
check "after renaming roce's netdev roce works on" roce_works
check "after renaming roce's netdev rxe works on" rxe_works

# A netdev of its own for each ends with its link only.
check "rxe's netdev is unregistered: roce works on" \
	bash -c 'ip link del x0'
check "rxe's link is gone with it" wait_for link_gone rxe_x
check "roce works after it" roce_works

check "a new rxe link" rxe_up
a ip link del "$VETH_A"
check "roce's netdev is unregistered: its link goes" wait_for link_gone "$DEV_A"
check "and rxe works on" rxe_works
unset "LINKS[$DEV_A]" "LINKS[$DEV_B]"
wait_for link_gone "$DEV_B"
ns_del "$NS_A"
ns_del "$NS_B"

ns_pair
link_pair
unload_beside_busy_rxe()
{
	local pid

	rxe_works &
	pid=$!
	modprobe -r roce
	wait "$pid"
}
check "rmmod roce: a busy rxe goes on" unload_beside_busy_rxe
LINKS=()

# rxe's unload unregisters every device of its driver id: ours too.
unload_rxe()
{
	modprobe rdma_rxe
	link_pair
	background_traffic
	taken_away modprobe -r rdma_rxe
	traffic_failed
	module_loaded roce
	for dev in "$DEV_A" "$DEV_B"; do
		wait_for link_gone "$dev"
	done
	figure 1 "teardowns under traffic"
}
for ((i = 1; i <= TEARDOWNS; i++)); do
	check "rmmod rdma_rxe takes roce's devices from their programs, under traffic ($i)" unload_rxe
	for dev in "$DEV_A" "$DEV_B"; do
		link_gone "$dev" || rdma link delete "$dev"
	done
done
link_pair
check "and roce links can be made and used again" roce_works
ip link del x0
finish
