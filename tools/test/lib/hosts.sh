# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Hosts: namespaces, netdevs, addresses, links and their GIDs. Part of lib.sh.

# The network that every script has: side A and side B.
NS_A=roce-test-a NS_B=roce-test-b
VETH_A=va VETH_B=vb
IP4_A=10.99.0.1 IP4_B=10.99.0.2
IP6_A=fd00:99::1 IP6_B=fd00:99::2
UNDER_A=10.98.0.1 UNDER_B=10.98.0.2	# of netdevs below a tunnel
DEV_A=${LINK_TYPE_A}_a DEV_B=${LINK_TYPE_B}_b
declare -a NAMESPACES=()
declare -A LINKS=()	# name of a link -> its namespace

a() { ip netns exec "$NS_A" "$@"; }
b() { ip netns exec "$NS_B" "$@"; }

# in_ns NS COMMAND...: NS may be empty for the initial namespace
in_ns()
{
	local ns=$1
	shift

	if [[ -n $ns ]]; then
		ip netns exec "$ns" "$@"
	else
		"$@"
	fi
}

ns_add()
{
	ip netns add "$1"
	NAMESPACES+=("$1")
	ip -n "$1" link set lo up
}

ns_del()
{
	local ns left=()

	ip netns del "$1"
	for ns in "${NAMESPACES[@]}"; do
		[[ $ns == "$1" ]] || left+=("$ns")
	done
	NAMESPACES=("${left[@]}")
}

# address NS NETDEV IPV4/LEN [IPV6/LEN]: nodad, for they have to serve at once. NS may be
# empty for the initial namespace.
address()
{
	ip ${1:+-n "$1"} -batch - <<-END
		link set lo up
		addr add $3 dev $2
		${4:+addr add $4 dev $2 nodad}
		link set $2 up
	END
}

# address_pair: the addresses of both sides
address_pair()
{
	address "$NS_A" "$VETH_A" "$IP4_A/24" "$IP6_A/64"
	address "$NS_B" "$VETH_B" "$IP4_B/24" "$IP6_B/64"
}

# veth_pair [QUEUES]: two namespaces with a veth pair. GSO packets stay whole on it;
# single_packets cuts them.
veth_pair()
{
	local queues=${1:+numtxqueues $1 numrxqueues $1}

	ns_add "$NS_A"
	ns_add "$NS_B"
	# shellcheck disable=SC2086 # words
	ip -n "$NS_A" link add "$VETH_A" mtu "$MTU" $queues type veth \
		peer name "$VETH_B" mtu "$MTU" $queues netns "$NS_B"
}

# ns_pair [QUEUES]: a veth pair with IPv4 and IPv6 addresses
ns_pair()
{
	veth_pair "$@"
	address_pair
}

# underlay_pair: a veth pair with the addresses of netdevs below a tunnel
underlay_pair()
{
	veth_pair
	address "$NS_A" "$VETH_A" "$UNDER_A/24"
	address "$NS_B" "$VETH_B" "$UNDER_B/24"
}

# nic_pair [MODULE NETDEV NETDEV]: two namespaces with one NIC of the machine each, instead
# of the veths; those of virtio, or others of a module
nic_pair()
{
	VETH_A=${2:-eth0} VETH_B=${3:-eth1}
	modprobe "${1:-virtio_net}" || true
	wait_for test -e "/sys/class/net/$VETH_A" -a -e "/sys/class/net/$VETH_B" ||
		die "the machine has no $VETH_A and $VETH_B"
	ns_add "$NS_A"
	ns_add "$NS_B"
	ip link set "$VETH_A" mtu "$MTU" netns "$NS_A"
	ip link set "$VETH_B" mtu "$MTU" netns "$NS_B"
	address_pair
}

# vlan_pair ID: a VLAN device on each side, with addresses 10.99.ID.x
vlan_pair()
{
	local id=$1

	ip -n "$NS_A" link add link "$VETH_A" name "$VETH_A.$id" type vlan id "$id"
	ip -n "$NS_B" link add link "$VETH_B" name "$VETH_B.$id" type vlan id "$id"
	address "$NS_A" "$VETH_A.$id" "10.99.$id.1/24" "fd00:$id::1/64"
	address "$NS_B" "$VETH_B.$id" "10.99.$id.2/24" "fd00:$id::2/64"
}

mac() { in_ns "$1" cat "/sys/class/net/$2/address"; }

# know_neighbours: for a link that loses packets. The core waits for a neighbour for
# one second, and asks a second time after one.
know_neighbours()
{
	local mac_a mac_b

	mac_a=$(mac "$NS_A" "$VETH_A") mac_b=$(mac "$NS_B" "$VETH_B")
	ip -n "$NS_A" neigh replace "$IP4_B" lladdr "$mac_b" dev "$VETH_A"
	ip -n "$NS_A" neigh replace "$IP6_B" lladdr "$mac_b" dev "$VETH_A"
	ip -n "$NS_B" neigh replace "$IP4_A" lladdr "$mac_a" dev "$VETH_B"
	ip -n "$NS_B" neigh replace "$IP6_A" lladdr "$mac_a" dev "$VETH_B"
}

# link_add NAME TYPE NETDEV NS: adds the link, waits for the GIDs of the netdev's
# addresses, and leaves their indices in GID4 and GID6
link_add()
{
	local name=$1 type=$2 netdev=$3 ns=$4 gids

	LINKS[$name]=$ns
	gids=$(in_ns "$ns" bash -c "$LINK_ADD" link_add "$name" "$type" "$netdev" "$PATIENCE") || {
		echo "# no link $name, or no GIDs: $gids"
		return 1
	}
	# shellcheck disable=SC2034 # GID6: for the caller
	read -r GID4 GID6 <<<"$gids"
}

link_del()
{
	in_ns "${LINKS[$1]}" rdma link delete "$1" || return
	unset "LINKS[$1]"
}

# link_there NAME: the device exists
link_there() { [[ -n $(rdma link show "$1/1" 2>/dev/null) ]]; }
link_gone() { ! link_there "$1"; }

# link_pair: a link on each side
link_pair()
{
	link_add "$DEV_A" "$LINK_TYPE_A" "$VETH_A" "$NS_A" || die "no link on side A"
	# shellcheck disable=SC2034 # for the caller
	GID4_A=$GID4 GID6_A=$GID6
	link_add "$DEV_B" "$LINK_TYPE_B" "$VETH_B" "$NS_B" || die "no link on side B"
	# shellcheck disable=SC2034 # for the caller
	GID4_B=$GID4 GID6_B=$GID6
}

# pair_del: away with all links, and both hosts
pair_del()
{
	local link

	for link in "${!LINKS[@]}"; do
		link_del "$link"
	done
	ns_del "$NS_A"
	ns_del "$NS_B"
}

# For a bash in the namespace: first_gid DEVICE 4|6|link [NETDEV] prints the index
# of the first RoCE v2 GID of a family, on a certain netdev if one is given.
# shellcheck disable=SC2016 # expanded by the inner shell
FIND_GID='
first_gid()
{
	local n type gid ndev

	for n in {0..31}; do
		read -r type <"gid_attrs/types/$n" || continue
		read -r gid <"gids/$n" || continue
		[[ $type == "RoCE v2" ]] || continue
		if [[ -n $3 ]]; then
			read -r ndev <"gid_attrs/ndevs/$n" || continue
			[[ $ndev == "$3" ]] || continue
		fi
		case $2:$gid in
		4:0000:0000:0000:0000:0000:ffff:*) ;;
		6:fd*) ;;
		link:fe80:*) ;;
		*) continue ;;
		esac
		echo "$n"
		return
	done 2>/dev/null
	return 1
}
cd "/sys/class/infiniband/$1/ports/1" 2>/dev/null'

# shellcheck disable=SC2016 # expanded by the inner shell
GID_INDEX=$FIND_GID' && first_gid "$@"'

# shellcheck disable=SC2016 # expanded by the inner shell
LINK_ADD='
rdma link add "$1" type "$2" netdev "$3" 2>&1 || exit
[[ $2 != siw ]] || { echo 0 0; exit; } # iWARP has one GID
exec {nap}<> <(:)
for ((i = 0; i < 10 * $4; i++)); do'$FIND_GID' &&
	g4=$(first_gid "$1" 4) && g6=$(first_gid "$1" 6) && break
	read -rt 0.1 -u $nap
done
echo "$g4 $g6"
[[ -n $g4 && -n $g6 ]]'

# gid_index DEVICE NS 4|6|link [NETDEV]
gid_index()
{
	in_ns "$2" bash -c "$GID_INDEX" gid_index "$1" "$3" "${4:-}"
}

# gid DEVICE NS INDEX
gid() { in_ns "$2" cat "/sys/class/infiniband/$1/ports/1/gids/$3"; }

# port_attr DEVICE NS FILE: "state", "rate", ...
port_attr() { in_ns "$2" cat "/sys/class/infiniband/$1/ports/1/$3"; }

module_loaded() { [[ -d /sys/module/$1 ]]; }
