#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# blktests.sh [DRIVER...]: the tests over RDMA of blktests. No distribution has a
# package of it: run-blktests gets its source, and has its programs built.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../beside.sh
. "$TEST_DIR/beside.sh"

COPY=$TMP/blktests
EXCEPT=(
	# A host that connects again when the port is open, but before it is allowed to, gives
	# up. Over any driver.
	nvme/061
	# scsi_debug is loaded twice there, which its driver does not bear.
	nvme/065
)

# The tests make links on each netdev, of rdma_rxe as they believe.
blktests_new()
{
	rm -rf "${COPY:?}"/*
	cp -r "$ROCE_BLKTESTS/." "$COPY"
	mkdir "$COPY/tmp"
	[[ $DRIVER == rxe ]] ||
		sed -i "s/rdma_rxe/$DRIVER/; s/type=rxe/type=$DRIVER/" \
			"$COPY"/common/{multipath-over-rdma,nvme} "$COPY/tests/rnbd/rc"
	cat >"$COPY/config" <<-END
		NVMET_TRTYPES="rdma"
		NVMET_BLKDEV_TYPES="device"
		NVME_IMG_SIZE=350M
		USE_RXE=1
		QUICK_RUN=1
		TIMEOUT=30
		EXCLUDE=(${EXCEPT[*]})
	END
}

# blktests AT_LEAST GROUP: so many tests pass, and none fails
blktests()
{
	local passed failed left

	blktests_new
	(cd "$COPY" && TMPDIR=$COPY/tmp ./check "$2") >"$TMP/blktests.out" 2>&1 || true
	read -r passed failed left < <(awk '
		/\[passed\]/ { passed++ } /\[failed\]/ { failed++ } /\[not run\]/ { left++ }
		END { print passed + 0, failed + 0, left + 0 }' "$TMP/blktests.out")
	echo "$passed passed, $left skipped" | tee "$TMP/outcome"
	((passed >= $1 && failed == 0)) || { cat "$TMP/blktests.out"; return 1; }
}

put_back() { umount "$COPY"; }

over_driver()
{
	suite "blktests, RNBD" blktests 2 rnbd
	suite "blktests, SRP" blktests 8 srp
	suite "blktests, NVMe" blktests 28 nvme
}

[[ -x ${ROCE_BLKTESTS:-}/check ]] || die "ROCE_BLKTESTS names no folder of blktests"
mkdir "$COPY"
mount -t tmpfs -o size=3G blktests "$COPY"
modprobe virtio_net
wait_for test -e /sys/class/net/eth0 -a -e /sys/class/net/eth1
ip address add "$IP4_A/24" dev eth0
ip link set eth0 up
ip link set eth1 up
# multipathd asks it about devices.
/lib/systemd/systemd-udevd --daemon
udevadm trigger
# Which options the kernel has
cp "$ROCE_KERNEL_CONFIG" "/boot/config-$(uname -r)"
modprobe -a nvme-fabrics nvme-rdma nvmet nvmet-rdma loop configfs
mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
beside "$@"
finish
