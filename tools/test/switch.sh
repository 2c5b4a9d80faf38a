# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A switch for tests of congestion control: a bridge in a namespace of its own,
# one port of which can be slow and mark. After lib.sh and MTU=...:
#
#	switch_new
#	host "$NS_A" "$VETH_A" pa "$IP4_A"
#	slow_port pa 400000

NS_SWITCH=roce-test-switch
MBIT=20		# of the slow port

switch_new()
{
	ns_add "$NS_SWITCH"
	ip -n "$NS_SWITCH" link add br0 mtu "$MTU" type bridge
	ip -n "$NS_SWITCH" link set br0 up
}

in_switch() { ip netns exec "$NS_SWITCH" "$@"; }

# As on a cable, nothing overtakes: veth hands a packet to the CPU that sends it.
one_cpu()
{
	local file=/sys/class/net/$2/queues/rx-0/rps_cpus

	# A kernel for one CPU does not have it.
	ip netns exec "$1" sh -c "! test -e $file || echo 1 >$file"
}

# host NAMESPACE VETH PORT IPV4: a new one, at that port of the switch
host()
{
	ns_add "$1"
	ip link add "$2" mtu "$MTU" netns "$1" type veth peer name "$3" mtu "$MTU" netns "$NS_SWITCH"
	ip -n "$NS_SWITCH" link set "$3" master br0 up
	address "$1" "$2" "$4/24" "fd00:99::${4##*.}/64"
	one_cpu "$1" "$2"
	one_cpu "$NS_SWITCH" "$3"
}

# slow_port PORT BYTES: MBIT, RED with ECN, and a buffer of so many bytes. A burst
# below a train cuts trains, so RED sees single packets; and its average follows
# the queue as fast as it can.
slow_port()
{
	in_switch tc -batch - <<-END
		qdisc add dev $1 root handle 1: tbf rate ${MBIT}mbit burst 50000 limit 10000000
		qdisc add dev $1 parent 1:1 handle 10: red limit $2 min 8400 max 210000 avpkt 4200 burst 3 probability 0.8 bandwidth ${MBIT}mbit ecn nodrop
	END
}

# streams_begin OUTSTANDING DEVICE GID...: from each of these devices, WRITEs of 64 KiB into
# memory behind B's, so many at a time, until streams_end
declare -a STREAMS=() STREAM_INPUTS=()
streams_begin()
{
	local outstanding=$1 input
	shift

	for ((; $#; )); do
		exec {input}> >(exec "$BUILD/stream" "$1" "$2" "$DEV_B" "$GID4_B" 0 "$outstanding" >"$TMP/stream.$1")
		STREAMS+=($!)
		STREAM_INPUTS+=("$input")
		wait_for grep -q ready "$TMP/stream.$1"
		shift 2
	done
	for input in "${STREAM_INPUTS[@]}"; do
		echo >&"$input"
	done
}

streams_end()
{
	local pid input

	# All of them first: each process has inherited the inputs of those before it.
	for input in "${STREAM_INPUTS[@]}"; do
		exec {input}>&-
	done
	for pid in "${STREAMS[@]}"; do
		wait "$pid"
	done
	STREAMS=() STREAM_INPUTS=()
}

# expect_slow_port DEVICE: its line is one of 10 Gbit/s, so dcqcn has to be told. Tests
# are short: with three packets a period instead of ten the rate is found sooner.
expect_slow_port()
{
	local folder=/sys/class/infiniband/$1/cc/dcqcn

	echo $((4 * MBIT)) >"$folder/rpg_max_rate"
	echo 3 >"$folder/min_packets_per_period"
}
