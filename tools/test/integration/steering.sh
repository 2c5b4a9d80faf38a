#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Receive flow steering (RFS): what a QP receives comes to the CPU where its program
# posts, as with sockets.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ENTRIES=/proc/sys/net/core/rps_sock_flow_entries

build
ns_pair
link_pair

put_back()
{
	untrace
	trace_anew
	echo 0 >$ENTRIES
} 2>/dev/null

# received_on CPU: trains that the QP at side A has received there, in percent
received_on()
{
	awk -v device="$DEV_A" -v qpn="qpn=$QPN_A" -v cpu="$1" '
		/ roce_train_received: / && index($0, device " " qpn " ") {
			all++
			match($0, /\[[0-9]+\]/)
			here += substr($0, RSTART + 1, RLENGTH - 2) + 0 == cpu
		}
		END { print all ? int(100 * here / all) : "nothing" }' $TRACING/trace
}

# follows CPU: the program moves there, and what its READs bring follows.
follows()
{
	local share

	taskset -pc "$1" "$CONNECTION_END" || return
	# A flow moves when nothing of it waits on the CPU before.
	move read 20 5000 || return
	trace_anew
	move read 100 5000 || return
	share=$(received_on "$1")
	echo "received on CPU $1: $share %"
	((share >= 90))
}

a bash -c "echo 3 >/sys/class/net/$VETH_A/queues/rx-0/rps_cpus"
a bash -c "echo 256 >/sys/class/net/$VETH_A/queues/rx-0/rps_flow_cnt"
echo 1024 >$ENTRIES
trace roce_train_received

for family in -4 -6; do
	connect rc $family
	for cpu in 0 1 0; do
		check "IPv${family#-}: what a QP receives follows its program to CPU $cpu" follows $cpu
	done
	hang_up
done
finish
