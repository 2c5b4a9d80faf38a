#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# NVMe over fabrics: the kernel's own target (nvmet-rdma) and host (nvme-rdma)
# on two devices, with fio writing and verifying checksums, on a good link and
# on one that loses packets.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

NQN=roce-test
CONFIG=/sys/kernel/config
NVMET=$CONFIG/nvmet
RAM_DISK=$CONFIG/nullb/roce_test	# becomes /dev/roce_test

# Both modules live in the initial namespace only, so both ends of the link are
# there, and policy routing has to keep packets from the short way through lo:
# an address is local only to what came in through its netdev.
both_ends_here()
{
	ip -batch - <<-END
		link add $VETH_A mtu $MTU type veth peer name $VETH_B mtu $MTU
		addr add $IP4_A/32 dev $VETH_A
		addr add $IP4_B/32 dev $VETH_B
		addr add $IP6_A/128 dev $VETH_A nodad
		addr add $IP6_B/128 dev $VETH_B nodad
		link set lo up
		link set $VETH_A up
		link set $VETH_B up
		rule add pref 10 iif $VETH_A to $IP4_A lookup local
		rule add pref 10 iif $VETH_B to $IP4_B lookup local
		rule add pref 20 lookup 100
		rule add pref 30 lookup local
		route add $IP4_B dev $VETH_A src $IP4_A table 100
		route add $IP4_A dev $VETH_B src $IP4_B table 100
		rule del pref 0
	END
	for f in /proc/sys/net/ipv4/conf/{all,"$VETH_A","$VETH_B"}; do
		echo 1 >"$f/accept_local"
		echo 0 >"$f/rp_filter"
	done
}

target_up()
{
	local subsystem=$NVMET/subsystems/$NQN port=$NVMET/ports/1

	mountpoint -q "$CONFIG" || mount -t configfs configfs "$CONFIG"
	modprobe null_blk nr_devices=0
	mkdir "$RAM_DISK"
	echo 64 >"$RAM_DISK/size"	# MiB
	echo 1 >"$RAM_DISK/memory_backed"
	echo 1 >"$RAM_DISK/power"
	modprobe nvmet-rdma
	mkdir "$subsystem"
	echo 1 >"$subsystem/attr_allow_any_host"
	mkdir "$subsystem/namespaces/1"
	echo /dev/roce_test >"$subsystem/namespaces/1/device_path"
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
	rmdir "$RAM_DISK"
}

# The block device of a connected controller comes a little later.
find_disk()
{
	local i

	for ((i = 0; i < 200; i++)); do
		for DISK in /dev/nvme*n1; do
			[[ ! -b $DISK ]] || return 0
		done
		nap 0.1
	done
	echo "no disk appeared"
	return 1
}

host_up()
{
	modprobe nvme-rdma
	nvme connect -t rdma -a "$IP4_A" -s 4420 -n "$NQN" -w "$IP4_B" \
		--nr-io-queues=2 --queue-size=32 --keep-alive-tmo=60 || return
	find_disk
}

host_down() { nvme disconnect -n "$NQN"; }

# verify MB BLOCKSIZE: write, read back, compare checksums
verify()
{
	find_disk
	fio --name=verify --filename="$DISK" --size="$1M" --bs="$2" \
		--rw=randwrite --direct=1 --ioengine=libaio --iodepth=16 \
		--verify=crc32c --verify_fatal=1 --do_verify=1 \
		--group_reporting --minimal >"$TMP/fio.out" 2>&1 || {
		tail -20 "$TMP/fio.out"
		return 1
	}
}

# The bytes that the host wrote are those on the disk of the target.
same_bytes()
{
	local here there

	find_disk
	dd if=/dev/urandom of="$DISK" bs=1M count=4 oflag=direct status=none
	here=$(dd if="$DISK" bs=1M count=4 iflag=direct status=none | sha256sum)
	there=$(dd if=/dev/roce_test bs=1M count=4 iflag=direct status=none | sha256sum)
	expect "checksum on the target" "$here" "$there"
}

unload()
{
	modprobe -r nvme-rdma
	modprobe -r nvmet-rdma
}

both_ends_here

# No namespace takes this along for the next test.
put_back()
{
	ip link del "$VETH_A"
	ip -batch - <<-END
		rule add pref 0 lookup local
		rule del pref 10 iif $VETH_A
		rule del pref 10 iif $VETH_B
		rule del pref 20
		rule del pref 30
	END
}

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
