#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# NICs of the machine that are pulled out under traffic, put in again, and told to
# change their rings and queues under traffic: of virtio, and of Intel's e1000e where
# the kernel has its driver.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# netdevs DRIVER: of this namespace
netdevs()
{
	local driver

	for driver in /sys/class/net/*/device/driver; do
		[[ $(readlink "$driver") != */"$1" ]] || basename "${driver%/device/driver}"
	done | sort
}

has_two() { [[ $(netdevs "$1" | wc -l) == 2 ]]; }
has_one() { [[ $(netdevs "$1" | wc -l) == 1 ]]; }

# slot NETDEV: its folder in /sys, that of a PCI device
slot()
{
	local folder

	folder=$(realpath "/sys/class/net/$1/device")
	until [[ -e $folder/remove ]]; do
		folder=${folder%/*}
	done
	echo "$folder"
}

# into SIDE NETDEV: with the addresses of the side
into()
{
	local ns=NS_$1 ip4=IP4_$1 ip6=IP6_$1

	ip link set "$2" netns "${!ns}"
	address "${!ns}" "$2" "${!ip4}/24" "${!ip6}/64"
}

pull_out()
{
	echo 1 >"$SLOT_A/remove"
	wait_for link_gone "$DEV_A"
}

# The traffic ends by itself: its device says so to one side, silence to the other one.
pulled_out()
{
	background_traffic
	taken_away pull_out
	traffic_failed
}

# A new NIC gets the first name that is free.
put_in()
{
	echo 1 >/sys/bus/pci/rescan
	wait_for has_one "$1"
	VETH_A=$(netdevs "$1")
	into A "$VETH_A"
	SLOT_A=$(a bash -c "$(declare -f slot); slot $VETH_A")
	link_add "$DEV_A" roce "$VETH_A" "$NS_A"
	GID4_A=$GID4 GID6_A=$GID6
	know_neighbours
}

# outlasts COMMAND...: under traffic of which everything arrives
outlasts()
{
	background_traffic --bytes 32m --timeout 18
	"$@"
	wait "$TRAFFIC" || { cat "$TMP/traffic"; return 1; }
}

rings()
{
	a ethtool -G "$VETH_A" rx 512 tx 512
	b ethtool -G "$VETH_B" rx 128 tx 128
	nap 1
	a ethtool -G "$VETH_A" rx 256 tx 256
}

features()
{
	a ethtool -K "$VETH_A" tx off sg off gso off gro off
	nap 1
	a ethtool -K "$VETH_A" tx on sg on gso on gro on
}

queues()
{
	a ethtool -L "$VETH_A" rx 1 tx 1
	nap 1
	a ethtool -L "$VETH_A" rx 3 tx 2
	nap 1
	a ethtool -L "$VETH_A" rx 4 tx 4
}

# nics DRIVER: two of them, and a wire
nics()
{
	local driver=$1 i

	mapfile -t VETHS < <(netdevs "$driver")
	VETH_A=${VETHS[0]} VETH_B=${VETHS[1]}
	SLOT_A=$(slot "$VETH_A")
	ns_add "$NS_A"
	ns_add "$NS_B"
	into A "$VETH_A"
	into B "$VETH_B"
	link_pair
	# On a busy machine a neighbour may answer later than the core waits for it.
	know_neighbours
	check_services "$driver: "
	check "$driver: offloads change under traffic" outlasts features
	# That of virtio depends on what the machine offers.
	[[ $driver != e1000e ]] ||
		check "$driver: rings change under traffic" outlasts rings
	for ((i = 1; i <= TEARDOWNS; i++)); do
		check "$driver: pulled out under traffic ($i)" pulled_out
		unset "LINKS[$DEV_A]"
		put_in "$driver"
		check "$driver: put in again ($i)" \
			integrity_pair --ops mix --sizes 100,20000 --flags bidir --count 28
	done
	link_del "$DEV_A"
	link_del "$DEV_B"
	ns_del "$NS_A"
	ns_del "$NS_B"
	wait_for has_two "$driver"
}

build
modprobe virtio_net || true
wait_for has_two virtio_net || die "the machine has no two NICs of virtio"
nics virtio_net

if modprobe e1000e; then
	wait_for has_two e1000e || die "the machine has no two NICs of e1000e"
	nics e1000e
else
	skip "e1000e: a NIC of another kind" "the kernel has no driver for it"
fi

VETH_A=va VETH_B=vb
ns_pair 4
link_pair
check "veth: the number of queues changes under traffic" outlasts queues
finish
