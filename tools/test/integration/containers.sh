#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Containers, as engines make them: namespaces of their own, one RDMA device in /dev, no
# privileges, a cgroup with limits. In both modes of rdma system.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

CGROUP=$TMP/cgroup

put_back()
{
	wait_for rdma system set netns shared ||
		echo "# the system stays in exclusive mode"
	[[ ! -d $CGROUP/a ]] || rmdir "$CGROUP/a"
	umount "$CGROUP" 2>/dev/null
}

# $TMP/container DEVICE COMMAND...: in the network namespace of the caller, as nobody
# shellcheck disable=SC2016 # expanded by the inner shells
make_container()
{
	cat >"$TMP/container" <<-'END'
		#!/bin/bash
		ulimit -l unlimited
		exec unshare --mount --pid --ipc --uts --fork --kill-child bash -ec '
			node() { mknod -m 666 "/dev/$1" c "${2%:*}" "${2#*:}"; }

			uverbs=$(grep -lx "$1" /sys/class/infiniband_verbs/uverbs*/ibdev)
			uverbs=$(basename "$(dirname "$uverbs")")
			dev=$(cat "/sys/class/infiniband_verbs/$uverbs/dev")
			cm=$(cat /sys/class/misc/rdma_cm/dev)
			mount -t proc proc /proc
			mount -t tmpfs -o mode=755 tmpfs /dev
			mkdir /dev/infiniband
			node "infiniband/$uverbs" "$dev"
			node infiniband/rdma_cm "$cm"
			node null 1:3
			node zero 1:5
			node urandom 1:9
			exec setpriv --reuid 65534 --regid 65534 --clear-groups \
				--inh-caps=-all --bounding-set=-all --no-new-privs "${@:2}"
		' container "$@"
	END
	chmod +x "$TMP/container"
}

# On side A, with that device in /dev
container() { a "$TMP/container" "$@"; }

sees_device() { container "$DEV_A" ibv_devinfo -d "$DEV_A"; }
opens_other() { container "$DEV_A" ibv_devinfo -d "$DEV_B"; }

perftest_pair()
{
	READY="ready_tcp 18515" pair \
		"$TMP/container" "$DEV_A" ib_write_bw -F -d "$DEV_A" -x "$GID4_A" -n 100 -- \
		"$TMP/container" "$DEV_B" ib_write_bw -F -d "$DEV_B" -x "$GID4_B" -n 100 "$IP4_A"
}

# In exclusive mode nobody else is shown its connections.
ready_container() { [[ $(a rdma resource show cm_id) == *LISTEN* ]] && nap "0.$((2 * SLOWNESS))"; }

cm_pair()
{
	READY=ready_container pair \
		"$TMP/container" "$DEV_A" rping -s -C 5 -V -a "$IP4_A" -- \
		"$TMP/container" "$DEV_B" "$TEST_DIR/../lib/rping_client" 5 -a "$IP4_A"
}

# A context; two PDs, two AHs, a region, a window, a CQ, an SRQ and four QPs
limited()
{
	echo "$DEV_A hca_handle=1 hca_object=$1" >"$CGROUP/a/rdma.max"
	(echo "$BASHPID" >"$CGROUP/a/cgroup.procs" &&
		container "$DEV_A" "$BUILD/hostile_rings" "$DEV_A" "$GID4_A" --rounds 1)
}

networks_end()
{
	ip netns del "$NS_A"
	ip netns del "$NS_B"
	wait_for link_gone "$DEV_A"
	wait_for link_gone "$DEV_B"
}

# MODE
play()
{
	ns_pair
	link_pair
	check "$1: a container has its device, as nobody" sees_device
	refuse "$1: it cannot use that of another one" "wasn't found" opens_other
	check "$1: two containers, perftest" perftest_pair
	check "$1: two containers, rdma_cm" cm_pair
	refuse "$1: no more objects than its cgroup allows" "temporarily unavailable" limited 3
	check "$1: but as many" limited 16
	check "$1: the devices go with the networks of the containers" networks_end
	NAMESPACES=() LINKS=()
}

build
make_container
modprobe ib_uverbs
modprobe rdma_ucm
mkdir "$CGROUP"
mount -t cgroup2 none "$CGROUP"
echo +rdma >"$CGROUP/cgroup.subtree_control" || die "this kernel has no rdma controller"
mkdir "$CGROUP/a"
play shared
wait_for rdma system set netns exclusive || die "this system has other network namespaces"
play exclusive
finish
