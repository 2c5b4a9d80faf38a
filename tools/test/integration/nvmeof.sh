#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# NVMe over fabrics: the kernel's own target (nvmet-rdma) and host (nvme-rdma)
# on two devices, with fio writing and verifying checksums, on a good link and
# on one that loses packets.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../one_host.sh
. "$TEST_DIR/one_host.sh"
# shellcheck source=../disks.sh
. "$TEST_DIR/disks.sh"

NQN=roce-test
NVMET=$CONFIG/nvmet

target_up()
{
	local subsystem=$NVMET/subsystems/$NQN port=$NVMET/ports/1

	ram_disk_new
	modprobe nvmet-rdma
	mkdir "$subsystem"
	echo 1 >"$subsystem/attr_allow_any_host"
	mkdir "$subsystem/namespaces/1"
	echo "$RAM_DISK" >"$subsystem/namespaces/1/device_path"
	echo 1 >"$subsystem/namespaces/1/enable"
	mkdir "$port"
	echo rdma >"$port/addr_trtype"
	echo ipv4 >"$port/addr_adrfam"
	echo "$IP4_A" >"$port/addr_traddr"
	echo 4420 >"$port/addr_trsvcid"
	ln -s "$subsystem" "$port/subsystems/"
}

target_down()
{
	rm "$NVMET/ports/1/subsystems/$NQN"
	rmdir "$NVMET/ports/1"
	echo 0 >"$NVMET/subsystems/$NQN/namespaces/1/enable"
	rmdir "$NVMET/subsystems/$NQN/namespaces/1" "$NVMET/subsystems/$NQN"
	ram_disk_del
}

disk() { ls /dev/nvme*n1; }

host_up()
{
	modprobe nvme-rdma
	nvme connect -t rdma -a "$IP4_A" -s 4420 -n "$NQN" -w "$IP4_B" \
		--nr-io-queues=2 --queue-size=32 --keep-alive-tmo=60 || return
	find_disk
}

host_down() { nvme disconnect -n "$NQN"; }

unload()
{
	modprobe -r nvme-rdma
	modprobe -r nvmet-rdma
}

both_ends_here
link_add "$DEV_A" roce "$VETH_A" "" || die "no link on side A"
link_add "$DEV_B" roce "$VETH_B" "" || die "no link on side B"
check "a target is configured" target_up
check "a host connects and sees the disk" host_up
check "4 KiB blocks are written and verified" verify 4 4k
check "512 KiB blocks are written and verified" verify 32 512k
check "what the host wrote is what the target has" same_bytes
check "by RDMA WRITE and READ of the target" rdma_has_moved

single_packets_here()
{
	ethtool -K "$VETH_A" tx-udp-segmentation off
	ethtool -K "$VETH_B" tx-udp-segmentation off
	tc qdisc add dev "$VETH_A" root netem limit 10000 loss 1%
	tc qdisc add dev "$VETH_B" root netem limit 10000 loss 1%
}

check "the link goes bad: 1% loss both ways" single_packets_here
check "blocks are written and verified with loss" verify 4 64k
tc qdisc del dev "$VETH_A" root
tc qdisc del dev "$VETH_B" root
check "the host disconnects" host_down
check "it connects again" host_up
check "and verifies again" verify 4 64k
check "it disconnects again" host_down
check "the target is taken down" target_down
check "the modules unload" unload
finish
