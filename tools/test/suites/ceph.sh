#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ceph.sh [DRIVER...]: Ceph's messenger async+rdma, between a monitor, an OSD and a client
# on three hosts.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../switch.sh
. "$TEST_DIR/switch.sh"
# shellcheck source=../beside.sh
. "$TEST_DIR/beside.sh"

MONITOR=1 OSD=2 CLIENT=3
FSID=11111111-2222-3333-4444-555555555555
MONITOR_ADDRESS=v2:$(host_address $MONITOR):3300
MIB=8

# configuration HOST: one OSD that keeps everything in memory, and no keys
configuration()
{
	cat <<-END
		[global]
		fsid = $FSID
		mon host = $MONITOR_ADDRESS
		mon initial members = a
		public addr = $(host_address "$1")
		ms type = async+rdma
		ms async rdma device name = $(host_name "$1")
		ms async rdma gid idx = $GID4
		ms async rdma receive queue len = 256
		ms async rdma send buffers = 256
		ms bind msgr1 = false
		auth cluster required = none
		auth service required = none
		auth client required = none
		run dir = $FOLDER
		mon data = $FOLDER/mon
		osd data = $FOLDER/osd
		osd objectstore = memstore
		osd pool default size = 1
		osd pool default min size = 1
		osd crush chooseleaf type = 0
		mon allow pool size one = true
		log file = $FOLDER/\$name.log
	END
}

# on HOST PROGRAM...
on() { CEPH_CONF=$FOLDER/host-$1.conf ip netns exec "$(host_name "$1")" "${@:2}"; }

monitor_up()
{
	mkdir "$FOLDER/mon"
	monmaptool --create --fsid "$FSID" --addv a "[$MONITOR_ADDRESS]" "$FOLDER/map"
	on $MONITOR ceph-mon -i a --mkfs --monmap "$FOLDER/map"
	begin "$TMP/monitor.out" on $MONITOR ceph-mon -f -i a
	on $CLIENT ceph status
}

osd_up()
{
	local uuid id

	uuid=$(</proc/sys/kernel/random/uuid)
	id=$(on $CLIENT ceph osd new "$uuid")
	mkdir "$FOLDER/osd"
	on $OSD ceph-osd -i "$id" --mkfs --osd-uuid "$uuid"
	begin "$TMP/osd.out" on $OSD ceph-osd -f -i "$id"
	on $CLIENT ceph osd pool create data 8
}

# received HOST: packets; both drivers have a counter of this name
received() { counter "$(host_name "$1")" rcvd_pkts; }

objects()
{
	local before packets

	before=$(received $OSD)
	dd if=/dev/urandom of="$TMP/in" bs=1M count=$MIB status=none
	on $CLIENT rados -p data put object "$TMP/in"
	on $CLIENT rados -p data get object "$TMP/out"
	cmp "$TMP/in" "$TMP/out"
	packets=$(($(received $OSD) - before))
	echo "the OSD received $packets packets"
	((packets > MIB * 1024 * 1024 / MTU))
}

ceph_cluster()
{
	local host

	FOLDER=$TMP/ceph-$DRIVER
	mkdir "$FOLDER"
	for host in $MONITOR $OSD $CLIENT; do
		configuration "$host" >"$FOLDER/host-$host.conf"
	done
	monitor_up
	osd_up
	objects
}

over_driver() { suite "Ceph, async+rdma: monitor, OSD and client" ceph_cluster; }

hosts_new 3
beside "$@"
finish
