#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What a program without privileges may take: locked memory, and objects of the
# device. What it is refused it is refused with an errno, and others go on.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

CGROUP=$TMP/cgroup
OBJECTS=${OBJECTS:-16}

put_back()
{
	[[ ! -d $CGROUP/user ]] || rmdir "$CGROUP/user"
	umount "$CGROUP" 2>/dev/null
}

build
ns_pair
link_pair
mkdir "$CGROUP"

# unprivileged LOCKED-KIB COMMAND...: as somebody who may lock so much memory
unprivileged()
{
	local locked=$1
	shift

	# shellcheck disable=SC2016 # expanded by the inner shell
	bash -c 'ulimit -l "$1"; shift; exec setpriv --reuid 65534 --regid 65534 \
		--clear-groups "$@"' unprivileged "$locked" "$@"
}

# Its region has 64 KiB.
region() { unprivileged "$1" "$BUILD/hostile_rings" "$DEV_A" "$GID4_A" --rounds 1; }
refuse "a region beyond RLIMIT_MEMLOCK is refused" "Cannot allocate memory" region 60
check "one within it is not" region 128

if ! mount -t cgroup2 none "$CGROUP" || ! found rdma <"$CGROUP/cgroup.controllers"; then
	skip "limits of a cgroup" "this kernel has no rdma controller"
	finish
fi
echo +rdma >"$CGROUP/cgroup.subtree_control"
mkdir "$CGROUP/user"

# limited MAXIMA COMMAND...: in a cgroup that may have so much of the device
limited()
{
	local maxima=$1
	shift

	echo "$DEV_A $maxima" >"$CGROUP/user/rdma.max"
	(echo "$BASHPID" >"$CGROUP/user/cgroup.procs" && "$@")
}

# A context; two PDs, two AHs, a region, a window, a CQ, an SRQ and four QPs
program() { limited "$1" unprivileged unlimited "$BUILD/hostile_rings" "$DEV_A" "$GID4_A" --rounds 1; }
# The RDMA core (seen in 6.12) forgets to put the task of a context that
# it refuses, in the ioctl method GET_CONTEXT: kmemleak would find that.
if [[ -e /sys/kernel/debug/kmemleak ]]; then
	skip "a program without handles cannot open the device" "the RDMA core leaks its task"
else
	refuse "a program without handles cannot open the device" \
		"temporarily unavailable" program "hca_handle=0 hca_object=max"
fi
for objects in 0 1 3 5 7 9 11; do
	refuse "nor have more than $objects objects of a limit of $objects" \
		"temporarily unavailable" program "hca_handle=1 hca_object=$objects"
done
check "but all that its limits allow" program "hca_handle=1 hca_object=$OBJECTS"
check "what it had is given back" grep "^$DEV_A hca_handle=0 hca_object=0 *$" \
	"$CGROUP/user/rdma.current"
check "and others are not bound by that" integrity_pair --ops mix --sizes 300 --count 20
finish
