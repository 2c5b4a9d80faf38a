#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A train's way through a NIC, whatever the NIC offers: whole, or cut by the driver or
# by the core, without copies and without checksums in software where the NIC allows
# that. Counted are the sk_buffs that leave IP (nftables), those that the NIC gets (a
# tracepoint), and trains and packets of the device.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Settings of the NIC: UDP segmentation, leave to change the IPv4 identification,
# scatter-gather, checksums: 1 for on. A queue before it, or none. Then the ways of
# trains over IPv4, and over IPv6. Without checksums a kernel has no scatter-gather.
WAYS='1011 queue core   whole
1111 queue driver whole
0011 queue core   core
0111 queue core   core
1011 none  driver whole
1111 none  driver whole
0011 none  driver driver
0001 queue core   core
0001 none  driver driver
0000 queue core   core
0000 none  driver driver'

# With a limit to what the NIC cuts, below two packets
LIMITED='1011 queue core   core
1011 none  driver driver'

# With another netdev on top of the NIC, which passes trains on whole
STACKED='1011 queue core   whole
1111 queue driver whole'

# What the NICs of QEMU offer
E1000E='0011 queue core   core
0000 queue core   core'
VIRTIO='0000 queue core   core'

FEATURES=(tx-udp-segmentation tx-tcp-mangleid-segmentation tx-scatter-gather tx-checksum-ip-generic)
SHORT=(USO mangleid SG checksums)
TRACED=$TRACING/instances/roce_test

put_back()
{
	rmdir "$TRACED"
	echo 1 >"$TRACING/options/record-cmd"
	rmmod roce_test_nic
}

# set_features SETTINGS: of the NIC that sends
set_features()
{
	local words=() i

	for i in "${!FEATURES[@]}"; do
		words+=("${FEATURES[i]}" "$(on_or_off "${1:i:1}")")
	done
	b ethtool -K "$NIC" "${words[@]}" >/dev/null
}

on_or_off() { [[ $1 == 1 ]] && echo on || echo off; }

# set_queue queue|none
set_queue()
{
	if [[ $1 == queue ]]; then
		b tc qdisc replace dev "$NIC" root pfifo limit 10000
	else
		b tc qdisc replace dev "$NIC" root noqueue
	fi
}

# set_limits BYTES PACKETS: of what the NIC cuts
set_limits()
{
	LIMITS="gso_max_size $1 gso_max_segs $2"
	b ip link set "$NIC" gso_max_size "$1" gso_max_segs "$2"
}

has_carrier() { [[ $(b cat "/sys/class/net/$NIC/carrier") == 1 ]]; }

# is_set SETTINGS QUEUE: the NIC says so, and packets arrive: it may lose its link meanwhile
is_set()
{
	local i qdisc=noqueue

	b ethtool -k "$NIC" >"$TMP/features"
	for i in "${!FEATURES[@]}"; do
		expect "${FEATURES[i]}" "$(on_or_off "${1:i:1}")" \
			"$(sed -n "s/^[[:space:]]*${FEATURES[i]}: \([a-z]*\).*/\1/p" "$TMP/features")"
	done
	[[ $2 == none ]] || qdisc=pfifo
	expect "qdisc" "$qdisc" "$(b tc qdisc show dev "$NIC" root | cut -d' ' -f2)"
	b ip -d link show dev "$NIC" | grep "$LIMITS "
	wait_for has_carrier
	integrity_pair --ops write --sizes 100 --count 1
}

# count_on NIC: nothing but RoCE leaves side B from now on
count_on()
{
	b nft -f - <<-END
		table inet count {
			counter sk_buffs { }
			counter unchecked { }
			chain out {
				type filter hook output priority 0; policy drop;
				udp dport 4791 counter name sk_buffs
				udp dport 4791 udp checksum 0 counter name unchecked
				udp dport 4791 accept
			}
		}
	END
	echo "name == \"$1\"" >"$TRACED/events/net/net_dev_start_xmit/filter"
}

count_begin()
{
	b nft reset counters >"$TMP/nft"
	packets=$(counter "$DEV_B" tx_packets) trains=$(counter "$DEV_B" tx_trains)
	echo >"$TRACED/trace"
	echo 1 >"$TRACED/tracing_on"
}

nft_counter() { b nft list counter inet count "$1" | awk '$1 == "packets" { print $2 }'; }

# count_end: packets and trains of the device; left_ip: sk_buffs that left IP; came, carried:
# those that the NIC got, and packets in them; linear, checked: those of them with payload
# in the linear part, which is copied there, and those with a checksum of software's
count_end()
{
	local unchecked none

	nap 0.2
	echo 0 >"$TRACED/tracing_on"
	cat "$TRACED"/per_cpu/cpu*/stats | grep -x 'overrun: [1-9].*' && return 1
	packets=$(($(counter "$DEV_B" tx_packets) - packets))
	trains=$(($(counter "$DEV_B" tx_trains) - trains))
	left_ip=$(nft_counter sk_buffs)
	unchecked=$(nft_counter unchecked)
	# A packet that is sent alone may have its few bytes there.
	read -r came carried linear none < <(awk '
		function value(name) { return match($0, " " name "=-?[0-9]+") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) + 0 : "" }
		/ net_dev_start_xmit: / && !/protocol=0x0806/ {
			came++
			carried += value("gso_size") ? value("gso_segs") : 1
			linear += value("len") - value("data_len") - value("transport_offset") - 8 > 256
			none += !value("ip_summed")
		}
		END { print came + 0, carried + 0, linear + 0, none + 0 }' "$TRACED/trace")
	checked=$((none - unchecked))
	echo "$packets packets in $trains trains, $left_ip sk_buffs left IP, $came came with $carried packets," \
		"$linear copied, $checked checksums in software"
}

# most WHAT PART WHOLE
most()
{
	(($2 > $3 / 2)) && return
	echo "$1: expected most of $3, seen $2"
	return 1
}

# goes 4|6 WAY SETTINGS: writes arrive, and have gone that way
goes()
{
	local packets trains left_ip came carried linear checked

	count_begin
	integrity_pair "-$1" --ops write --sizes 60000 --count 12
	count_end
	((packets > 4 * trains))
	expect "packets that the NIC got" "$packets" "$carried"
	case $2 in
	whole) expect "sk_buffs that left IP" "$trains" "$left_ip"
	       expect "sk_buffs that came to the NIC" "$trains" "$came" ;;
	core) expect "sk_buffs that left IP" "$trains" "$left_ip"
	      expect "sk_buffs that came to the NIC" "$packets" "$came" ;;
	driver) expect "sk_buffs that left IP" "$packets" "$left_ip"
		expect "sk_buffs that came to the NIC" "$packets" "$came" ;;
	esac
	if [[ ${3:2:1} == 1 ]]; then
		expect "copies" 0 "$linear"
	else
		most "copies" "$linear" "$came"
	fi
	if [[ ${3:3:1} == 1 ]]; then
		expect "checksums in software" 0 "$checked"
	else
		most "checksums in software" "$checked" "$came"
	fi
}

# told WAY SETTINGS
told()
{
	local way=$1 copies="no copies" checksums="no checksums in software"

	[[ ${2:2:1} == 1 ]] || copies="copies"
	[[ ${2:3:1} == 1 ]] || checksums="checksums in software"
	[[ $way == whole ]] || way="cut by the $way"
	echo "$way, $copies, $checksums"
}

# ways NAME SETTINGS QUEUE WAY4 WAY6
ways()
{
	local name="$1 without offloads" with=with i

	[[ $2 == 0000 ]] || name=$1
	for i in "${!FEATURES[@]}"; do
		[[ ${2:i:1} == 1 ]] || continue
		name+=" $with ${SHORT[i]}"
		with=and
	done
	name+=", $([[ $3 == queue ]] && echo a queue || echo no queue)"
	set_features "$2"
	set_queue "$3"
	check "$name: is set so" is_set "$2" "$3"
	check "$name: IPv4: $(told "$4" "$2")" goes 4 "$4" "$2"
	check "$name: IPv6: $(told "$5" "$2")" goes 6 "$5" "$2"
}

# all_ways NAME TABLE
all_ways()
{
	local settings queue way4 way6

	while read -r settings queue way4 way6; do
		ways "$1" "$settings" "$queue" "$way4" "$way6"
	done <<<"$2"
}

# use_nics MODULE NETDEV NETDEV
use_nics()
{
	nic_pair "$@"
	NIC=$VETH_B
	count_on "$NIC"
	link_pair
	know_neighbours
}

# stack_on KIND: side B's address is that of a netdev on top of its NIC
stack_on()
{
	VETH_B=up0
	case $1 in
	macvlan) ip -n "$NS_B" link add link "$NIC" name up0 type macvlan mode bridge ;;
	bridge) ip -n "$NS_B" link add up0 type bridge ;;
	bond)
		ip -n "$NS_B" link add up0 type bond mode active-backup
		ip -n "$NS_B" link set "$NIC" down
		;;
	esac
	[[ $1 == macvlan ]] || ip -n "$NS_B" link set "$NIC" master up0
	ip -n "$NS_B" link set "$NIC" up
	address "$NS_B" up0 "$IP4_B/24" "$IP6_B/64"
	know_neighbours
	link_add "$DEV_B" roce up0 "$NS_B"
	GID4_B=$GID4 GID6_B=$GID6
}

stack_off()
{
	link_del "$DEV_B"
	ip -n "$NS_B" link del up0
	ip -n "$NS_B" link set "$NIC" up
}

# use_vlan ID: both sides talk over a VLAN of their NICs
use_vlan()
{
	vlan_pair "$1"
	VETH_A=$VETH_A.$1 VETH_B=$VETH_B.$1
	IP4_A=10.99.$1.1 IP4_B=10.99.$1.2 IP6_A=fd00:$1::1 IP6_B=fd00:$1::2
	know_neighbours
	for side in A B; do
		ns=NS_$side dev=DEV_$side veth=VETH_$side
		for family in 4 6; do
			wait_for gid_index "${!dev}" "${!ns}" $family "${!veth}"
			declare -g "GID${family}_$side=$(gid_index "${!dev}" "${!ns}" $family "${!veth}")"
		done
	done
}

# held PACKETS: so many wait for the NIC
held() { b tc -s qdisc show dev "$NIC" root | grep " ${1}p "; }

# merged 4|6 IDENTIFICATION TRAINS: single packets of another sender, with that IPv4
# identification, arrive at once, right, and in so many trains
merged()
{
	local ip=IP$1_B gid=GID$1_A packets trains

	packets=$(counter "$DEV_A" rx_packets) trains=$(counter "$DEV_A" rx_trains)
	b ethtool --set-priv-flags "$NIC" paused on
	begin "$TMP/sender" ip netns exec "$NS_B" "$BUILD/train_send" "$DEV_A" "${!gid}" "${!ip}" "$2"
	wait_for held 40
	b ethtool --set-priv-flags "$NIC" paused off
	wait "$BEGUN" || { cat "$TMP/sender"; return 1; }
	nap 0.2
	expect "packets" 40 $(($(counter "$DEV_A" rx_packets) - packets))
	expect "trains" "$3" $(($(counter "$DEV_A" rx_trains) - trains))
}

build
mountpoint -q "$TRACING" || mount -t tracefs tracefs "$TRACING"
# Each event that is enabled or disabled changes the kernel's text, which not every
# emulated CPU survives: once, while nothing is sent, and without the names of tasks, for
# which the scheduler would be traced.
mkdir "$TRACED"
echo 0 >"$TRACED/tracing_on"
echo 0 >"$TRACING/options/record-cmd"
echo 1 >"$TRACED/events/net/net_dev_start_xmit/enable"
use_nics roce_test_nic nic0 nic1
set_limits 65536 65535
all_ways "a NIC" "$WAYS"
set_limits 2000 65535
all_ways "a NIC with a gso_max_size of 2000" "$LIMITED"
set_limits 65536 1
all_ways "a NIC with a gso_max_segs of 1" "$LIMITED"
set_limits 65536 65535
link_del "$DEV_B"
ip -n "$NS_B" addr flush dev "$NIC"
for kind in macvlan bridge bond; do
	stack_on "$kind"
	all_ways "a $kind" "$STACKED"
	stack_off
done
address "$NS_B" "$NIC" "$IP4_B/24" "$IP6_B/64"
VETH_B=$NIC
know_neighbours

# Another sender: the first packet of a WRITE is longer than the others, so it is alone.
set_queue queue
check "GRO merges packets with a constant identification" merged 4 constant 2
check "GRO merges packets with increasing identifications" merged 4 increasing 2
check "GRO does not merge packets with random identifications" merged 4 random 40
check "GRO merges packets over IPv6" merged 6 constant 2

link_add "$DEV_B" roce "$NIC" "$NS_B"
use_vlan 7
all_ways "a VLAN" "$STACKED"

pair_del
use_nics virtio_net eth0 eth1
all_ways "a NIC of virtio" "$VIRTIO"
pair_del
if modprobe e1000e; then
	use_nics e1000e eth2 eth3
	all_ways "a NIC of Intel" "$E1000E"
else
	skip "a NIC of Intel" "the kernel has no driver for it"
fi
finish
