#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# storage.sh [DRIVER...]: the kernel's targets and initiators of iSER, SRP and RNBD, with fio,
# which writes and verifies checksums. NVMe and NFS are integration/nvmeof.sh and nfs.sh.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../beside.sh
. "$TEST_DIR/beside.sh"
# shellcheck source=../one_host.sh
. "$TEST_DIR/one_host.sh"
# shellcheck source=../disks.sh
. "$TEST_DIR/disks.sh"

TARGET=$CONFIG/target
STORE=$TARGET/core/iblock_0/roce

# disk: of a target of LIO, or of an RNBD server
disk()
{
	local file

	file=$(grep -ls LIO-ORG /sys/block/sd*/device/vendor ||
		ls /sys/block/rnbd*/rnbd/state) || return
	file=${file#/sys/block/}
	echo "/dev/${file%%/*}"
}
disk_gone() { ! disk; }

store_new()
{
	ram_disk_new
	modprobe -a target_core_mod sd_mod
	mkdir -p "$STORE"
	echo "udev_path=$RAM_DISK" >"$STORE/control"
	echo 1 >"$STORE/enable"
}

store_del()
{
	rmdir "$STORE" "${STORE%/*}"
	ram_disk_del
}

# lun_new FOLDER: of a target; the disk, with the number 0
lun_new()
{
	mkdir -p "$1/lun/lun_0"
	ln -s "$STORE" "$1/lun/lun_0/"
}

lun_del()
{
	rm "$1/lun/lun_0/${STORE##*/}"
	rmdir "$1/lun/lun_0"
}

disk_works()
{
	verify 4 4k
	verify 32 512k
	same_bytes
	was_rdma
}

# --- iSER -------------------------------------------------------------------------

IQN=iqn.2026-01.test.roce:disk
ISER=(-T "$IQN" -p "$IP4_A:3260" -I iser)

iser_target_up()
{
	local group=$TARGET/iscsi/$IQN/tpgt_1

	modprobe iscsi_target_mod
	mkdir -p "$group/np/$IP4_A:3260"
	echo 1 >"$group/np/$IP4_A:3260/iser"
	lun_new "$group"
	echo 0 >"$group/attrib/authentication"
	echo 1 >"$group/attrib/generate_node_acls"
	echo 0 >"$group/attrib/demo_mode_write_protect"
	echo 1 >"$group/enable"
}

iser_target_down()
{
	local group=$TARGET/iscsi/$IQN/tpgt_1

	echo 0 >"$group/enable"
	lun_del "$group"
	rmdir "$group/np/$IP4_A:3260" "$group" "${group%/*}" "$TARGET/iscsi"
}

iser()
{
	store_new
	iser_target_up
	modprobe ib_iser
	# At its end it kills its process group.
	begin "$TMP/iscsid.out" setsid iscsid -f
	wait_for iscsiadm -m iface
	iscsiadm -m node -o new "${ISER[@]}"
	iscsiadm -m node "${ISER[@]}" --login
	disk_works
	iscsiadm -m node "${ISER[@]}" --logout
	wait_for disk_gone
	iscsiadm -m node -o delete "${ISER[@]}"
	iscsiadm -k 0
	iser_target_down
	store_del
	modprobe -r ib_iser
	modprobe -r ib_isert
}

# --- SRP --------------------------------------------------------------------------

SRP_PORT=5555

srp_target_up()
{
	local guid

	modprobe ib_srpt
	guid=$(cut -d: -f5- "/sys/class/infiniband/$DEV_A/ports/1/gids/0")
	SRP_GROUP=$TARGET/srpt/$guid/$guid
	mkdir -p "$SRP_GROUP"
	echo "$SRP_PORT" >"$TARGET/srpt/discovery_auth/rdma_cm_port"
	lun_new "$SRP_GROUP"
	# Who comes by rdma_cm has the name of the address that he has come to.
	mkdir -p "$SRP_GROUP/acls/$IP4_A/lun_0"
	ln -s "$SRP_GROUP/lun/lun_0" "$SRP_GROUP/acls/$IP4_A/lun_0/"
	echo 1 >"$SRP_GROUP/enable"
}

srp_target_down()
{
	echo 0 >"$SRP_GROUP/enable"
	rm "$SRP_GROUP/acls/$IP4_A/lun_0/lun_0"
	rmdir "$SRP_GROUP/acls/$IP4_A"{/lun_0,}
	lun_del "$SRP_GROUP"
	rmdir "$SRP_GROUP" "${SRP_GROUP%/*}" "$TARGET/srpt"
}

srp()
{
	local guid host=/sys/class/infiniband_srp/srp-$DEV_B-1

	store_new
	srp_target_up
	modprobe ib_srp
	read -r guid </sys/module/ib_srpt/parameters/srpt_service_guid
	guid=${guid#0x}
	wait_for test -e "$host/add_target"
	echo "id_ext=$guid,ioc_guid=$guid,dest=$IP4_A:$SRP_PORT,src=$IP4_B" >"$host/add_target"
	disk_works
	echo 1 >"$(echo /sys/class/srp_remote_ports/port-*)/delete"
	wait_for disk_gone
	srp_target_down
	store_del
	modprobe -r ib_srp
	modprobe -r ib_srpt
}

# --- RNBD -------------------------------------------------------------------------

rnbd()
{
	ram_disk_new
	modprobe -a rnbd_server rnbd_client
	echo "sessname=roce path=ip:$IP4_B@ip:$IP4_A device_path=$RAM_DISK" \
		>/sys/devices/virtual/rnbd-client/ctl/map_device
	disk_works
	echo normal >"/sys/block/${DISK#/dev/}/rnbd/unmap_device"
	wait_for disk_gone
	modprobe -r rnbd_client
	modprobe -r rnbd_server
	ram_disk_del
}

over_driver()
{
	suite "iSER: target and initiator" iser
	suite "SRP: target and initiator" srp
	suite "RNBD: server and client" rnbd
}

both_ends_here
ENDS=("$DEV_A $VETH_A" "$DEV_B $VETH_B")
beside "$@"
finish
