# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two hosts in one machine; to be sourced inside the VM. Namespaces "left" and
# "right", a veth pair between them, an RDMA link on each end. Reads link_type
# (roce) and mtu (4200: room for a path MTU of 4096).

link_type=${ROCE_LINK_TYPE:-roce}
mtu=${ROCE_MTU:-4200}
LINK_TYPE_A=$link_type LINK_TYPE_B=$link_type MTU=$mtu PATIENCE=300
# shellcheck source=test/lib/hosts.sh
. "$(dirname "${BASH_SOURCE[0]}")/test/lib/hosts.sh"

NS_A=left NS_B=right VETH_A=veth0 VETH_B=veth0
left_address=10.0.0.1 right_address=10.0.0.2
IP4_A=$left_address IP4_B=$right_address
left_device=${link_type}0 right_device=${link_type}1

on() { in_ns "$@"; }

make_two_hosts() { ns_pair; }

add_links() {
	on left rdma link add "$left_device" type "$link_type" netdev veth0
	on right rdma link add "$right_device" type "$link_type" netdev veth0
}

active() { on "$1" grep -qs ACTIVE "/sys/class/infiniband/$2/ports/1/state"; }

# The GID of a new address, and the port, take a moment.
wait_for_links() {
	local end=$((SECONDS + PATIENCE))

	until left_gid=$(gid_index "$left_device" left 4) &&
		right_gid=$(gid_index "$right_device" right 4) &&
		active left "$left_device" && active right "$right_device"; do
		[ $SECONDS -lt $end ] || { echo "the links are not active after $PATIENCE s" >&2; return 1; }
		sleep 0.1
	done
}
