#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# On a distribution's packaged kernel: it loads, links, moves data, unloads.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
check "modprobe roce" modprobe roce
ns_pair
link_pair
check "rdma link shows the port ACTIVE" \
	bash -c "rdma link show $DEV_A/1 | grep -w 'state ACTIVE'"
check "ib_write_bw" perftest ib_write_bw -n 100 -s 65536
check "rping" rping_pair "$IP4_A" 10
for family in -4 -6; do
	check "integrity over IPv${family#-}: RC" \
		integrity_pair $family --ops mix --sizes 1,mtu+1,20000 --count 14
	check "integrity over IPv${family#-}: UD" \
		integrity_pair $family --types ud --ops send --sizes 1,mtu --count 14
done
check "rdma link delete" link_del "$DEV_A"
check "rdma link delete" link_del "$DEV_B"
# What both need stays with the other one.
unload_beside_rxe()
{
	ip link add x0 type veth peer name x1
	ip link set x0 up
	ip link set x1 up
	modprobe rdma_rxe
	rdma link add rxe_x type rxe netdev x0
	modprobe -r roce
	rdma link delete rxe_x
	modprobe -r rdma_rxe
}
check "modprobe -r roce, while rdma_rxe has a link" unload_beside_rxe
finish
