#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# NFS over RDMA: the kernel's server and client, in two namespaces; a file is
# written, read back from the server, and compared.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

EXPORT=$TMP/export
MOUNT=$TMP/mount
STATE=/proc/fs/nfsd

# Unlike ip netns exec this leaves the mounts where everybody sees them.
a_net() { enter "$NS_A" "$@"; }
b_net() { enter "$NS_B" "$@"; }

# enter NS COMMAND...: of this script's functions, too
enter()
{
	local ns=$1 all
	shift

	all=$(declare -p IP4_A IP4_B EXPORT MOUNT STATE; declare -f)
	nsenter --net="/run/netns/$ns" bash -ec "$all
		\"\$@\"" enter "$@"
}

# What rpc.mountd would answer: who the client is, what it may have (insecure,
# no subtree check, fsid given), and what the root of the server is.
export_to_client()
{
	local forever=$(($(date +%s) + 86400))

	cd /proc/net/rpc || return
	echo "nfsd $IP4_B $forever client" >auth.unix.ip/channel
	echo "client $EXPORT $forever $((0x2402)) 65534 65534 0" >nfsd.export/channel
	printf "client 1 %s %s %s\n" "\\x00000000" "$forever" "$EXPORT" >nfsd.fh/channel
}

start_server()
{
	mount -t nfsd nfsd "$STATE"
	echo "-3 +4" >"$STATE/versions"
	# So long nobody gets a lock, and nobody was here before to want his back.
	echo 10 >"$STATE/nfsv4gracetime"
	export_to_client
	echo "rdma 20049" >"$STATE/portlist"
	echo 2 >"$STATE/threads"
}

server_up()
{
	modprobe nfsd
	modprobe rpcrdma
	mkdir -p "$EXPORT" "$MOUNT"
	mount -t tmpfs -o size=64m export "$EXPORT"
	a_net start_server
	grep rdma "$STATE/portlist"
}

client_up()
{
	modprobe nfsv4
	b_net mount -i -t nfs4 "$IP4_A:/" "$MOUNT" \
		-o "proto=rdma,port=20049,vers=4.1,addr=$IP4_A,clientaddr=$IP4_B"
	grep "$MOUNT.*proto=rdma" /proc/mounts
}

many_files()
{
	local i

	for ((i = 0; i < 50; i++)); do
		echo "file number $i" >"$MOUNT/$i"
	done
	for ((i = 0; i < 50; i++)); do
		expect "content on the server" "file number $i" "$(<"$EXPORT/$i")"
	done
	rm "$MOUNT"/[0-9]*
}

stop_server()
{
	local cache

	echo 0 >"$STATE/threads"
	for cache in nfsd.fh nfsd.export auth.unix.ip; do
		echo 1 >"/proc/net/rpc/$cache/flush"
	done
}

server_down()
{
	a_net stop_server
	umount "$STATE"
	umount "$EXPORT"
}

unload()
{
	wait_for modprobe -r nfsv4 nfs
	wait_for modprobe -r nfsd
	wait_for modprobe -r rpcrdma
}

ns_pair
link_pair
check "a server listens on RDMA" server_up
check "a client mounts" client_up
check "8 MiB arrive and come back" same_file 8 "$MOUNT" "$EXPORT"
check "many small files do" many_files
check "by RDMA WRITE and READ of the server" rdma_has_moved
check "the client unmounts" umount "$MOUNT"
check "the server stops" server_down
check "the modules unload" unload
finish
