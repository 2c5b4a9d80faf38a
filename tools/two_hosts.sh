# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two hosts in one machine; to be sourced inside the VM. Namespaces "left" and
# "right", a veth pair between them, an RDMA link on each end. Reads link_type
# (roce) and mtu (4200: room for a path MTU of 4096).

link_type=${ROCE_LINK_TYPE:-roce}
mtu=${ROCE_MTU:-4200}
left_address=10.0.0.1
right_address=10.0.0.2

on() { ip netns exec "$@"; }

# NAMESPACE VETH ADDRESS DEVICE
make_host() {
	on "$1" ip link set lo up
	on "$1" ip addr add "$3/24" dev "$2"
	on "$1" ip link set "$2" mtu "$mtu" up
}

make_two_hosts() {
	ip netns add left
	ip netns add right
	ip link add veth0 netns left type veth peer name veth0 netns right
	make_host left veth0 $left_address
	make_host right veth0 $right_address
}

add_links() {
	on left rdma link add "${link_type}0" type "$link_type" netdev veth0
	on right rdma link add "${link_type}1" type "$link_type" netdev veth0
	left_device=${link_type}0
	right_device=${link_type}1
}

# HOST DEVICE ADDRESS: the index of the RoCE v2 GID that is this IPv4 address.
# Asked for inside of the host, which alone may see its device.
gid_index() {
	local port=/sys/class/infiniband/$2/ports/1 bytes gid index

	IFS=. read -ra bytes <<<"$3"
	gid=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${bytes[@]}")
	for index in $(on "$1" grep -rslx "$gid" "$port/gids" | sed 's|.*/||' | sort -n); do
		on "$1" grep -qsx 'RoCE v2' "$port/gid_attrs/types/$index" || continue
		echo "$index"
		return
	done
	return 1
}

active() { on "$1" grep -qs ACTIVE "/sys/class/infiniband/$2/ports/1/state"; }

# The GID of a new address, and the port, take a moment.
wait_for_links() {
	local try

	for try in $(seq 50); do
		if left_gid=$(gid_index left "$left_device" $left_address) &&
			right_gid=$(gid_index right "$right_device" $right_address) &&
			active left "$left_device" && active right "$right_device"; then
			return 0
		fi
		sleep 0.1
	done
	echo "the links did not become active in ${try}00 ms" >&2
	return 1
}
