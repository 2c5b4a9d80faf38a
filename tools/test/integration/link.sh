#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A link: how it is made, what it says of its netdev, how it goes.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# --- made and removed ------------------------------------------------------

ns_pair

# log_has TEXT: the kernel's log of this script has a line with it
dmesg -C
log_has() { dmesg | found "$1"; }

check "rdma link add loads the module by its alias" \
	a rdma link add "$DEV_A" type roce netdev "$VETH_A"
LINKS["$DEV_A"]=$NS_A
check "rdma link shows the link with its netdev" \
	bash -c "ip netns exec $NS_A rdma link show $DEV_A/1 | grep -w 'netdev $VETH_A'"
wait_for gid_index "$DEV_A" "$NS_A" 4 || not_ok "the IPv4 address is a GID"
refuse "a second link on the same netdev is refused" 'exists|busy' \
	a rdma link add other type roce netdev "$VETH_A"
check "and the log says why" log_has 'second roce device'
refuse "a second link of the same name is refused" 'exists' \
	b rdma link add "$DEV_A" type roce netdev "$VETH_B"
refuse "a netdev that does not exist is refused" 'no such device|invalid' \
	a rdma link add other type roce netdev nothere

ip -n "$NS_A" link add link "$VETH_A" name vlan5 type vlan id 5
dmesg -C
refuse "a VLAN is refused: the device below serves it" 'not supported' \
	a rdma link add other type roce netdev vlan5
check "and the log says why" log_has 'vlan5.*VLAN'
ip -n "$NS_A" link del vlan5

port_taken()
{
	b /usr/bin/python3 -c '
import socket, time
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("::", 4791))
print("bound", flush=True)
time.sleep(60)' >"$TMP/bound" &
	wait_for grep -q bound "$TMP/bound"
	if b rdma link add other type roce netdev "$VETH_B" >"$TMP/taken" 2>&1; then
		echo "the link was made"
		return 1
	fi
	cat "$TMP/taken"
	grep -qi 'address already in use' "$TMP/taken"
}
dmesg -C
check "a link where UDP port 4791 is taken is refused with EADDRINUSE" port_taken
check "and the log names the port" log_has 4791
check "once the port is free the link can be made" \
	b rdma link add "$DEV_B" type roce netdev "$VETH_B"
LINKS["$DEV_B"]=$NS_B

# --- what a port says is true of the netdev ----------------------------------

has() { port_attr "$1" "$2" "$3" | found "$4"; }
check "a port on a netdev that is up is ACTIVE" \
	wait_for has "$DEV_A" "$NS_A" state ACTIVE
a ip link set "$VETH_A" down
check "a port on a netdev that is down is DOWN" \
	wait_for has "$DEV_A" "$NS_A" state DOWN
a ip link set "$VETH_A" up
check "and ACTIVE again once it is up" \
	wait_for has "$DEV_A" "$NS_A" state ACTIVE
b ip link set "$VETH_B" down
check "a port without a carrier is DOWN" \
	wait_for has "$DEV_A" "$NS_A" state DOWN
b ip link set "$VETH_B" up
# In Linux 7.x a netdev may have a lock of its own, held while it is said to be up.
a ip link add locked type dummy
a rdma link add roce_locked type roce netdev locked
goes_up()
{
	a ip link set locked up
	wait_for has roce_locked "$NS_A" state ACTIVE
}
check "a port on a netdev with a lock of its own follows it" goes_up
a rdma link delete roce_locked
a ip link del locked
speed=$(a cat "/sys/class/net/$VETH_A/speed")
is "the port's rate is the netdev's speed" "$((speed / 1000)) Gb/sec" \
	"$(port_attr "$DEV_A" "$NS_A" rate | sed 's/ (.*//')"
is "the link layer is Ethernet" Ethernet \
	"$(port_attr "$DEV_A" "$NS_A" link_layer)"

active_mtu() { a ibv_devinfo -d "$DEV_A" | awk '/active_mtu/ { print $2 }'; }
for pair in 1500:1024 9000:4096 4200:4096 2200:2048 1000:512 576:256 400:256; do
	a ip link set "$VETH_A" mtu "${pair%:*}"
	is "a netdev of MTU ${pair%:*} has an active MTU of ${pair#*:}" \
		"${pair#*:}" "$(active_mtu)"
done
a ip link set "$VETH_A" mtu 1500

# --- GIDs follow the addresses -----------------------------------------------

# has_gid TEXT, lacks_gid TEXT
gids() { a bash -c "cat /sys/class/infiniband/$DEV_A/ports/1/gids/*" 2>/dev/null; }
has_gid() { gids | found "$1"; }
lacks_gid() { gids >"$TMP/gids" && ! grep -q "$1" "$TMP/gids"; }
a ip addr add 10.99.77.1/24 dev "$VETH_A"
check "a new IPv4 address becomes a GID" wait_for has_gid 'ffff:0a63:4d01'
a ip addr del 10.99.77.1/24 dev "$VETH_A"
check "an address that is removed is no GID any more" \
	wait_for lacks_gid 'ffff:0a63:4d01'
a ip addr add fd00:77::1/64 dev "$VETH_A" nodad
check "a new IPv6 address becomes a GID" wait_for has_gid '^fd00:0077:'
check "the IPv6 link local address is a GID" wait_for has_gid '^fe80:'

# --- names and ends ------------------------------------------------------------

# The netdev that programs find: /sys/class/infiniband/DEVICE/device/net/NAME
leads_to() { [[ $(a cat "/sys/class/infiniband/$1/device/net/$2/address") == "$(a cat "/sys/class/net/$2/address")" ]]; }
check "device/net leads to the netdev" leads_to "$DEV_A" "$VETH_A"
a ip link set "$VETH_A" down
a ip link set "$VETH_A" name renamed
a ip link set renamed up
shows() { a rdma link show "$1/1" | found "netdev $2\b"; }
check "a renamed netdev keeps its link" wait_for shows "$DEV_A" renamed
check "device/net leads to it under its new name" leads_to "$DEV_A" renamed
is "and has no other" renamed "$(a ls "/sys/class/infiniband/$DEV_A/device/net")"
check "a renamed port is ACTIVE" wait_for has "$DEV_A" "$NS_A" state ACTIVE

many()
{
	local i

	for i in {1..8}; do
		ip -n "$NS_A" link add "m$i" type veth peer name "n$i"
		ip -n "$NS_A" link set "m$i" up
		ip -n "$NS_A" link set "n$i" up
		a rdma link add "many$i" type roce netdev "m$i"
	done
	expect "links" 8 "$(a rdma link | grep -c 'link many')"
	for i in {1..8}; do
		wait_for has "many$i" "$NS_A" state ACTIVE
	done
	for i in {1..8}; do
		a rdma link delete "many$i"
	done
	expect "links left" 0 "$(a rdma link | grep -c 'link many' || true)"
}
check "a namespace has room for many links" many

check "rdma link delete removes the link" link_del "$DEV_B"
check "and the device with it" wait_for link_gone "$DEV_B"
check "the netdev can be linked again" \
	b rdma link add "$DEV_B" type roce netdev "$VETH_B"
a ip link del renamed
check "a netdev that is deleted takes its link along" wait_for link_gone "$DEV_A"
check "its peer's deletion takes the other one along" wait_for link_gone "$DEV_B"
unset "LINKS[$DEV_A]" "LINKS[$DEV_B]"

ns_add roce-test-c
ip -n roce-test-c link add c0 type veth peer name c1
ip -n roce-test-c link set c0 up
in_ns roce-test-c rdma link add roce_c type roce netdev c0
check "a link in a third namespace" wait_for link_there roce_c
netdev_moves()
{
	ip -n roce-test-c link set c0 netns "$NS_A"
	a rdma link add roce_d type roce netdev c0
	link_gone roce_c
	a rdma link delete roce_d
	ip -n "$NS_A" link set c0 netns roce-test-c
}
check "a netdev that is moved has a link of its new namespace at once" netdev_moves
in_ns roce-test-c rdma link add roce_c type roce netdev c0 || true
ns_del roce-test-c
check "a namespace that is deleted takes its links along" \
	wait_for link_gone roce_c
check "the module unloads" wait_for modprobe -r roce
check "a link in the initial namespace" bash -c '
	ip link add i0 type veth peer name i1 && ip link set i0 up &&
	rdma link add roce_i type roce netdev i0 && rdma link show roce_i/1 &&
	modprobe -r roce && ! rdma link show roce_i/1 2>/dev/null && ip link del i0'

finish
