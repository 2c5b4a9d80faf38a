# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Disks behind RDMA, for the kernel's targets and initiators; after lib.sh:
#
#	disk() { ls /dev/nvme*n1; }	# prints the initiator's disk, if it is there
#	ram_disk_new
#	verify 4 4k

CONFIG=/sys/kernel/config
RAM_DISK=/dev/roce_test		# what the target has

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
