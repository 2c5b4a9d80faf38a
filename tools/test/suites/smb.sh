#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# smb.sh [DRIVER...]: SMB Direct, between the kernel's server (ksmbd) and client (cifs). It
# needs a kernel that has both.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../beside.sh
. "$TEST_DIR/beside.sh"
# shellcheck source=../one_host.sh
. "$TEST_DIR/one_host.sh"

# smb_server_up FOLDER: with the share FOLDER/share
smb_server_up()
{
	cat >"$1/conf" <<-END
		[global]
		server multi channel support = yes
		[share]
		path = $1/share
		read only = no
	END
	modprobe ksmbd
	ksmbd.adduser -c "$1/conf" -i "$1/users" -a roce -p secret
	begin "$TMP/mountd.out" ksmbd.mountd -n -c "$1/conf" -u "$1/users"
	wait_for ready_cm
}

smb()
{
	local folder=$TMP/smb mount=$TMP/mount

	# The server goes there as the client's user, who is nobody here.
	chmod 755 "$TMP"
	mkdir -p "$folder/share" "$mount"
	mount -t tmpfs -o size=64m share "$folder/share"
	smb_server_up "$folder"
	mount -t cifs "//$IP4_A/share" "$mount" -o rdma,vers=3.1.1,username=roce,password=secret
	same_file 8 "$mount" "$folder/share"
	was_rdma
	umount "$mount"
	ksmbd.control -s
	umount "$folder/share"
	rm -r "$folder"
	modprobe -r cifs
	modprobe -r ksmbd
}

over_driver() { suite "SMB Direct: ksmbd and cifs" smb; }

both_ends_here
ENDS=("$DEV_A $VETH_A" "$DEV_B $VETH_B")
beside "$@"
finish
