# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Disks behind RDMA, for the kernel's targets and initiators; after lib.sh:
#
#	disk() { ls /dev/nvme*n1; }	# prints the initiator's disk, if it is there
#	both_ends_here
#	ram_disk_new
#	verify 4 4k

CONFIG=/sys/kernel/config
RAM_DISK=/dev/roce_test		# what the target has

# Most of these modules live in the initial namespace only, so both ends of the link are
# there, and policy routing has to keep packets from the short way through lo: an address
# is local only to what came in through its netdev.
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
	# Who connects does not wait as long as the core may wait for a neighbour.
	ip neigh replace "$IP4_B" lladdr "$(mac "" "$VETH_B")" dev "$VETH_A"
	ip neigh replace "$IP4_A" lladdr "$(mac "" "$VETH_A")" dev "$VETH_B"
}

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

# ram_disk_new: of 64 MiB
ram_disk_new()
{
	local folder=$CONFIG/nullb/${RAM_DISK##*/}

	modprobe configfs
	mountpoint -q "$CONFIG" || mount -t configfs configfs "$CONFIG"
	modprobe null_blk nr_devices=0
	mkdir "$folder"
	echo 64 >"$folder/size"
	echo 1 >"$folder/memory_backed"
	echo 1 >"$folder/power"
}

ram_disk_del() { rmdir "$CONFIG/nullb/${RAM_DISK##*/}"; }

# find_disk: comes a little later than the connection; leaves it in DISK
find_disk()
{
	wait_for disk
	DISK=$(disk)
}

# verify MB BLOCKSIZE: write, read back, compare checksums
verify()
{
	find_disk
	fio --name=verify --filename="$DISK" --size="$1M" --bs="$2" \
		--rw=randwrite --direct=1 --ioengine=libaio --iodepth=16 \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0 \
		--group_reporting --minimal >"$TMP/fio.out" 2>&1 || {
		tail -20 "$TMP/fio.out"
		return 1
	}
}

# The bytes that the initiator wrote are those on the disk of the target.
same_bytes()
{
	local here there

	find_disk
	dd if=/dev/urandom of="$DISK" bs=1M count=4 oflag=direct status=none
	here=$(dd if="$DISK" bs=1M count=4 iflag=direct status=none | sha256sum)
	there=$(dd if="$RAM_DISK" bs=1M count=4 iflag=direct status=none | sha256sum)
	expect "checksum on the target" "$here" "$there"
}
