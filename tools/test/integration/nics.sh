#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Two NICs and a wire, instead of a veth pair: drivers with NAPI, GRO, a queue
# that fills up and a parent device.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
nic_pair
link_pair

# under_pci: the PCI device of the NIC is found up the path from the RDMA device
under_pci()
{
	local nic device

	nic=$(a realpath "/sys/class/net/$VETH_A/device")
	device=$(a realpath "/sys/class/infiniband/$DEV_A/device")
	echo "$nic $device"
	[[ $device == */pci*:*"${nic##*/}"/roce.* && $device == "$nic"/* ]]
	expect "NUMA node" "$(a cat "$nic/../numa_node")" "$(a cat "$device/numa_node")"
	expect "local CPUs" "$(a cat "$nic/../local_cpulist")" "$(a cat "$device/local_cpulist")"
}
check "programs find the PCI device, and its NUMA node" under_pci
check_services ""
for op in write read send; do
	check "ib_${op}_bw" perftest "ib_${op}_bw" -n 200 -s 65536
	check "ib_${op}_lat" perftest "ib_${op}_lat" -n 200 -s 64
done
check "packets of a NIC come in trains" \
	test "$(counter "$DEV_A" rx_packets)" -gt $((2 * $(counter "$DEV_A" rx_trains)))
check "ib_write_bw, 8 QPs, both directions" \
	perftest ib_write_bw -b -q 8 -n 50 -s 16384
check "rping" rping_pair "$IP4_A" 5

vlan_pair 7
check "side A: the VLAN's address is a GID" \
	wait_for gid_index "$DEV_A" "$NS_A" 4 "$VETH_A.7"
check "side B: the VLAN's address is a GID" \
	wait_for gid_index "$DEV_B" "$NS_B" 4 "$VETH_B.7"
GID4_A=$(gid_index "$DEV_A" "$NS_A" 4 "$VETH_A.7")
GID4_B=$(gid_index "$DEV_B" "$NS_B" 4 "$VETH_B.7")
check "RC over a VLAN" \
	integrity_pair -4 --ops mix --sizes 100,20000 --flags bidir --count 28
finish
