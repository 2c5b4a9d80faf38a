#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# On-demand paging: every operation with memory that is not present, and all that a kernel
# does to pages while messages come and go. (The assertions are in tools/test/odp/.)

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

build
ns_pair
link_pair

# zram_new SIZE: a disk in memory; leaves it in ZRAM
zram_new()
{
	modprobe zram num_devices=0 2>/dev/null &&
		ZRAM=/dev/zram$(</sys/class/zram-control/hot_add) &&
		echo "$1" >"/sys/block/${ZRAM#/dev/}/disksize"
}
swap_disk() { zram_new 256M && mkswap "$ZRAM" >/dev/null && swapon "$ZRAM"; }
vmstat() { sed -n "s/^$1 //p" /proc/vmstat; }
SWAP=
swap_disk && SWAP=yes

DUO=("$BUILD/odp" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B")
export ROCE_ODP_ROUNDS
ROCE_ODP_ROUNDS=$(long 1000 60 20)

announces()
{
	a ibv_devinfo -v -d "$DEV_A" >"$TMP/devinfo"
	sed -n '/general_odp_caps/,/xrc_odp_caps/p' "$TMP/devinfo"
	grep -q ODP_SUPPORT_IMPLICIT "$TMP/devinfo"
	sed -n '/rc_odp_caps/,/uc_odp_caps/p' "$TMP/devinfo" | grep -q SUPPORT_ATOMIC
	sed -n '/ud_odp_caps/,/xrc_odp_caps/p' "$TMP/devinfo" | grep -q SUPPORT_RECV
}
check "ibv_devinfo -v shows the capabilities" announces
tap_run "operations" "${DUO[@]}" operations
tap_run "advice and statistics" "${DUO[@]}" advice statistics

swapped=$(vmstat pswpout)
tap_run "changes" "${DUO[@]}" changes
if [[ -n $SWAP ]]; then
	check "memory was swapped meanwhile" [ "$(vmstat pswpout)" -gt "$swapped" ]
else
	skip "memory was swapped meanwhile" "this kernel has no disk to swap to"
fi
tap_run "failures" "${DUO[@]}" failures

# memfd_secret() is system call 447 everywhere.
has_secret_memory() { python3 -c 'import ctypes; exit(ctypes.CDLL(None).syscall(447, 0) < 0)'; }
if has_secret_memory; then
	tap_run "secret memory" "${DUO[@]}" secret
else
	skip "secret memory" "this kernel has none"
fi

# A file whose file system can be frozen
has_file()
{
	modprobe ext4 2>/dev/null && zram_new 32M && mkfs.ext4 -q "$ZRAM" &&
		mkdir "$TMP/frozen" && mount "$ZRAM" "$TMP/frozen" &&
		truncate -s 4096 "$TMP/frozen/file"
}
thaw() { fsfreeze --unfreeze "$TMP/frozen" 2>/dev/null || true; }
# The other program ends only when this one has thawed the file system.
neighbour()
{
	local other this

	"${DUO[@]}" frozen >"$TMP/frozen.out" &
	other=$!
	wait_for grep -q "prefetches of its file wait" "$TMP/frozen.out"
	"${DUO[@]}" neighbour >"$TMP/neighbour.out" &
	this=$!
	wait_for ended "$this"
	wait "$this"
	thaw
	wait "$other"
}
if has_file; then
	export ROCE_ODP_FILE=$TMP/frozen/file
	check "prefetches that get stuck keep nobody else from leaving" neighbour
	thaw
	wait
	umount "$TMP/frozen"
else
	skip "prefetches that get stuck keep nobody else from leaving" \
		"this kernel has no file system that can be frozen"
fi

exits()
{
	local round

	for ((round = 0; round < 5; round++)); do
		"${DUO[@]}" exit
	done
}
check "a program exits while its pages are faulted in" exits
finish
