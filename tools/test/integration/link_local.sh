#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Link-local addresses mean something on one link only: a peer's may be ours on another.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# link_local NS NETDEV
link_local()
{
	ip -n "$1" -6 -br addr show dev "$2" scope link | grep -oE 'fe80::[0-9a-f:]+' | head -n 1
}
has_link_local() { [[ -n $(link_local "$@") ]]; }

# goes TYPE: from side B to side A and back, by link-local GIDs
goes()
{
	local GID6_A=$LINK_A GID6_B=$LINK_B

	integrity_pair -6 --types "$1" --ops send --sizes 1,900 --count 20
}

build
ns_pair
link_pair
wait_for has_link_local "$NS_A" "$VETH_A"
wait_for has_link_local "$NS_B" "$VETH_B"
LINK_A=$(gid_index "$DEV_A" "$NS_A" link) LINK_B=$(gid_index "$DEV_B" "$NS_B" link)
PEER=$(link_local "$NS_A" "$VETH_A")

for type in rc uc ud; do
	check "${type^^} to a link-local address" goes $type
done
b ip link add other type dummy
b ip link set other up
b ip -6 addr add "$PEER/64" dev other nodad
for type in rc uc ud; do
	check "${type^^} to one that this host has on another link" goes $type
done
finish
