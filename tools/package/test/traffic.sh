# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two virtio NICs with a wire between them: one stays with the host, the other one moves
# into a namespace that is the other host. To be sourced.

# ADDRESS: the name that udev gave to the NIC with that MAC address
nic() { grep -slx "$1" /sys/class/net/*/address | sed -n '1s|/sys/class/net/\(.*\)/address|\1|p'; }

# Until udev has given all of them their names
udevadm settle
nic_a=$(nic 52:54:00:00:00:00) nic_b=$(nic 52:54:00:00:00:01)
address_a=10.77.0.1 address_b=10.77.0.2
# shellcheck disable=SC2034 # of the other two NICs, in the second boot
address_bond=10.78.0.1 address_storage=10.78.0.2
device_a=roce0 device_b=roce_b
rping_client=$(dirname "${BASH_SOURCE[0]}")/../../lib/rping_client

there() { ip netns exec there "$@"; }

# DEVICE ADDRESS [COMMAND...]: the index of its RoCE v2 GID; COMMAND sees the device
gid_index() {
	local gid index port=/sys/class/infiniband/$1/ports/1 address=$2 bytes
	shift 2

	IFS=. read -ra bytes <<<"$address"
	gid=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${bytes[@]}")
	for index in $("$@" grep -rslx "$gid" "$port/gids" | sed 's|.*/||' | sort -n); do
		"$@" grep -qsx 'RoCE v2' "$port/gid_attrs/types/$index" || continue
		echo "$index"
		return
	done
	return 1
}

make_hosts() {
	[ -n "$nic_a" ] && [ -n "$nic_b" ] || { echo "there are no two NICs"; return 1; }
	ip netns add there &&
		ip link set "$nic_b" netns there &&
		there ip link set lo up &&
		there ip address add $address_b/24 dev "$nic_b" &&
		there ip link set "$nic_b" up &&
		ip address add $address_a/24 dev "$nic_a" &&
		ip link set "$nic_a" up &&
		there rdma link add $device_b type roce netdev "$nic_b" &&
		wait_for gid_index $device_a $address_a &&
		wait_for gid_index $device_b $address_b there &&
		wait_for ping -c 1 $address_b
}

# ADDRESS of the other host: the server is there when its port is.
run_rping() {
	there rping -s -a "$1" -C 5 >/tmp/rping 2>&1 &
	local server=$!

	wait_for "$rping_client" 5 -a "$1" || { kill $server; cat /tmp/rping; return 1; }
	wait $server
}

run_perftest() {
	local index_a index_b server

	index_a=$(gid_index $device_a $address_a) || return
	index_b=$(gid_index $device_b $address_b there) || return
	there ib_write_bw -d $device_b -x "$index_b" -n 100 -F >/tmp/perftest 2>&1 &
	server=$!
	wait_for eval "there ss -Htln 'sport = :18515' | grep -q ." ||
		{ cat /tmp/perftest; return 1; }
	ib_write_bw -d $device_a -x "$index_a" -n 100 -F $address_b || { kill $server; cat /tmp/perftest; return 1; }
	wait $server
}
