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

# A disk in memory to swap to
swap_disk()
{
	modprobe zram num_devices=1 2>/dev/null && [[ -w /sys/block/zram0/disksize ]] &&
		echo 256M >/sys/block/zram0/disksize &&
		mkswap /dev/zram0 >/dev/null && swapon /dev/zram0
}
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

exits()
{
	local round

	for ((round = 0; round < 5; round++)); do
		"${DUO[@]}" exit
	done
}
check "a program exits while its pages are faulted in" exits
finish
