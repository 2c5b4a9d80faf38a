# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Counts: counters of devices, of qdiscs and of netdevs, and captures. Part of lib.sh.

# counter DEVICE NAME: a counter lives in the namespace its device belongs to
counter()
{
	local ns

	for ns in "" "${NAMESPACES[@]}"; do
		in_ns "$ns" cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2" 2>/dev/null &&
			return
	done
	echo "no counter $2 on $1"
	return 1
}

# growth_of NAME BEFORE AFTER: by how much a counter has grown between two readings of all
growth_of() { echo $(($(value_of "$1" "$3") - $(value_of "$1" "$2"))); }

# have_grown DEVICE "NAME=GROWTH..." BEFORE: since that reading, each by so much or more
have_grown()
{
	local now word least

	now=$(counters "$1")
	for word in $2; do
		least=${word#*=}
		(($(growth_of "${word%=*}" "$3" "$now") >= ${least/+/1})) || return 1
	done
}

# grows DEVICE "NAME=GROWTH..." COMMAND...: the command makes each counter grow by
# so much; + is by any amount. What it has sent may still be on its way when it ends.
grows()
{
	local device=$1 growth=$2 before now word seen
	shift 2

	before=$(counters "$device")
	strictly "$@"
	wait_for have_grown "$device" "$growth" "$before" >"$TMP/waited" || true
	# What is too much may come a moment later.
	nap 0.2
	now=$(counters "$device")
	for word in $growth; do
		seen=$(growth_of "${word%=*}" "$before" "$now")
		[[ $word == *=+ && $seen -gt 0 ]] ||
			expect "growth of $device's ${word%=*}" "${word#*=}" "$seen"
		((seen == 0)) || has_moved "${word%=*}"
	done
}

# value_of NAME LINES: of lines "name value"
value_of() { [[ $'\n'$2 =~ $'\n'$1\ ([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }

# rdma_has_moved: what served a block device or a file system was RDMA: side B,
# the initiator, was written to and read from.
rdma_has_moved()
{
	local written read

	written=$(counter "$DEV_B" rx_write_requests)
	read=$(counter "$DEV_B" rx_read_requests)
	echo "side B received $written writes, $read reads"
	((written > 0 && read > 0))
}

# counters DEVICE: all of them, "name value" a line
counters()
{
	local ns

	for ns in "" "${NAMESPACES[@]}"; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		in_ns "$ns" bash -c '
			cd "/sys/class/infiniband/$1/ports/1/hw_counters" 2>/dev/null || exit 1
			for f in *; do [[ $f == lifespan ]] || echo "$f $(<"$f")"; done' \
			counters "$1" && return
	done
	echo "no counters on $1"
	return 1
}

# class_packets SIDE CLASS...: that each class of the qdisc 1: has sent
class_packets()
{
	local ns=NS_$1 veth=VETH_$1 class
	shift

	ip netns exec "${!ns}" tc -s class show dev "${!veth}" >"$TMP/classes"
	for class in "$@"; do
		awk -v class="1:$class" '$1 == "class" && $3 == class { getline; print $4 }' "$TMP/classes"
	done
}

# class_growth SIDE "CLASS..." COMMAND...: packets that the command makes each class send
class_growth()
{
	local side=$1 classes sent_before sent_after i
	read -ra classes <<<"$2"
	shift 2

	class_packets "$side" "${classes[@]}" >"$TMP/before"
	attempt "$@" >"$TMP/command.out"
	[[ $RC == 0 ]] || { cat "$TMP/command.out"; return 1; }
	class_packets "$side" "${classes[@]}" >"$TMP/after"
	mapfile -t sent_before <"$TMP/before"
	mapfile -t sent_after <"$TMP/after"
	expect "classes" ${#classes[@]} ${#sent_before[@]}
	expect "classes" ${#classes[@]} ${#sent_after[@]}
	for i in "${!classes[@]}"; do
		echo $((sent_after[i] - sent_before[i]))
	done
}

# traffic_flows: packets leave side A just now. The netdev's own statistics say so:
# they do not depend on the driver's counters.
traffic_flows()
{
	local n

	n=$(a cat "/sys/class/net/$VETH_A/statistics/tx_packets")
	nap 0.2
	(($(a cat "/sys/class/net/$VETH_A/statistics/tx_packets") > n + 10))
}

# metronome_begin, metronome_end: RAN_US is how many microseconds the machine has run in
# between. Its clock goes on while the host lets it wait, so a rate is what was counted by
# RAN_US, not by the time of the clock. Of what happens on its CPUs alone, counters are
# compared with counters instead.
metronome_begin()
{
	rm -f "$TMP/metronome"
	exec {METRONOME}> >("$BUILD/metronome" >"$TMP/metronome")
}

metronome_end()
{
	exec {METRONOME}>&-
	wait_for test -s "$TMP/metronome"
	# shellcheck disable=SC2034 # for the caller
	read -r RAN_US _ <"$TMP/metronome"
}

# capture FILE NS NETDEV [OPTION...]: tcpdump of RoCE packets (of others if FILTER says so),
# in the background, until capture_end
declare -a CAPTURES=()
capture()
{
	local file=$1 ns=$2 netdev=$3
	shift 3

	: >"$file.err"
	ip netns exec "$ns" tcpdump -q -n -U -B 16384 -i "$netdev" -w "$file" "$@" \
		"${FILTER-udp port 4791}" 2>"$file.err" &
	CAPTURES+=($!)
	wait_for grep -q 'listening on' "$file.err"
}

# asleep PID: it waits for something
asleep() { [[ $(<"/proc/$1/stat") == *") S "* ]]; }

# The captures are complete: what the kernel has kept is in the files. A timer of a
# second hands that over, and then tcpdump runs until it has read all of it.
capture_end()
{
	local pid

	nap 1.5
	for pid in "${CAPTURES[@]}"; do
		wait_for asleep "$pid"
		kill "$pid"
		wait "$pid" || { echo "tcpdump: exit status $?"; return 1; }
	done
	CAPTURES=()
}

# missed FILE: packets that the kernel did not keep for the capture
missed() { sed -n 's/^\([0-9]*\) packets\{0,1\} dropped by kernel$/\1/p' "$1.err"; }
