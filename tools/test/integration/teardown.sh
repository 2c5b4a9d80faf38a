#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The end of everything, under traffic. Nothing may hang, leak or splat, no process
# may wait for ever, and what the traffic moves until then has to be right. TEARDOWNS
# says how often each end comes, ROUNDS how often a link comes and goes.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ROUNDS=${ROUNDS:-3}
# integrity's exit status when the device or the connection went away
GONE=3
# Of what this script has killed: the exit status that this leads to
declare -A KILLED=()
build

# Traffic in both directions until somebody ends it.
traffic_start()
{
	integrity_begin --ops mix --sizes 5000 --qps 2 --flags bidir \
		--count 10000000 --bytes 4000m --seconds 3000
	wait_for traffic_flows
}

# stop SIGNAL-NUMBER PID...
stop()
{
	local signal=$1 pid
	shift

	for pid; do
		KILLED[$pid]=$((128 + signal))
		kill "-$signal" "$pid" || true
	done
}

# was_right PID: the process ends by itself, unless it was killed, and no byte and no
# completion was wrong until then
was_right()
{
	local status=0

	wait_for ended "$1" || { cat "/proc/$1/stack"; return 1; }
	wait "$1" || status=$?
	((status == 0 || status == GONE || status == ${KILLED[$1]:-0})) && return
	echo "exit status $status"
	return 1
}

# Both processes end: the device tells them, or the peer's end.
traffic_ends()
{
	local pid

	for pid in "$INTEGRITY_A" "$INTEGRITY_B"; do
		was_right "$pid" || {
			cat "$TMP/integrity.a" "$TMP/integrity.b"
			kill -KILL "$pid" || true
			return 1
		}
	done
}

# The scenes use the same two hosts until one of them ends these.
hosts_are_whole()
{
	[[ -e /run/netns/$NS_A && -e /run/netns/$NS_B ]] &&
		ip -n "$NS_A" link show "$VETH_A"
} >/dev/null 2>&1

# no_hosts: nothing is left of them
no_hosts()
{
	[[ ! -e /run/netns/$NS_A ]] || ip netns del "$NS_A"
	[[ ! -e /run/netns/$NS_B ]] || ip netns del "$NS_B"
}

new_hosts()
{
	no_hosts
	ns_pair
}

scene()
{
	modprobe roce
	hosts_are_whole || new_hosts
	link_pair
	traffic_start
}

# The module lets go of everything, whatever was left of the scene.
clear_scene()
{
	traffic_ends
	[[ ! -d /sys/module/roce ]] || rmmod roce
	link_gone "$DEV_A"
	link_gone "$DEV_B"
}

# teardown COMMAND...: one end of one scene
teardown()
{
	scene
	"$@"
	clear_scene
	figure 1 "teardowns under traffic"
}

# teardowns NAME COMMAND...
teardowns()
{
	local name=$1 i failed
	shift

	for ((i = 1; i <= TEARDOWNS; i++)); do
		failed=$FAILED
		check "$name under traffic: both programs end, and the module unloads ($i)" teardown "$@"
		# What a failed one leaves would make the next one fail too.
		((FAILED == failed)) || no_hosts || true
	done
}

down_up()
{
	a ip link set "$VETH_A" down
	nap 0.1
	a ip link set "$VETH_A" up
	# A netdev that goes down loses its IPv6 addresses.
	a ip addr replace "$IP6_A/64" dev "$VETH_A" nodad
	# They may have ended with a named error by themselves.
	stop 15 "$INTEGRITY_A" "$INTEGRITY_B"
}

# Expanded when it is run, as the process ids are known by then.
kill_a() { stop 9 "$INTEGRITY_A"; }
kill_b() { stop 9 "$INTEGRITY_B"; }
delete_link() { rdma link delete "$DEV_A"; }
delete_netdev() { a ip link del "$VETH_A"; }
delete_ns() { ip netns del "$NS_A"; }

# Nobody waits for a program that does not run: the link is gone before it runs again.
delete_from_stopped()
{
	kill -STOP "$REMOVED"
	rdma link delete "$DEV_A"
	link_gone "$DEV_A"
	kill -CONT "$REMOVED"
}

teardowns "a link is deleted" taken_away delete_link
teardowns "a link is deleted that a stopped program has open," taken_away delete_from_stopped
teardowns "the server is killed" kill_a
teardowns "the client is killed" kill_b
teardowns "a netdev is deleted" taken_away delete_netdev
teardowns "a namespace is deleted" taken_away delete_ns
teardowns "a netdev goes down and up" down_up

# rmmod succeeds or says that the module is in use; it never hangs.
unload_or_busy()
{
	rmmod roce 2>"$TMP/rmmod" || grep -qi 'in use' "$TMP/rmmod"
	cat "$TMP/rmmod"
	[[ ! -d /sys/module/roce ]] || stop 15 "$INTEGRITY_A" "$INTEGRITY_B"
}
teardowns "the module is removed or busy" unload_or_busy

# Without a program nothing keeps it, whatever arrives.
unload_under_fire()
{
	local attacker

	modprobe roce
	hosts_are_whole || new_hosts
	link_pair
	# It goes on for ever.
	crafted 4 --seed 1 --rounds 1000000 --only anything >"$TMP/attack" 2>&1 &
	attacker=$!
	wait_for arrives_or_ended "$attacker"
	if ended "$attacker"; then
		cat "$TMP/attack"
		return 1
	fi
	rmmod roce
	# Packets have arrived until the end: their sender still runs.
	kill -0 "$attacker"
	pkill -P "$attacker"
	wait "$attacker" || true
	figure 1 "teardowns under hostile packets"
}
arrives_or_ended() { (($(counter "$DEV_A" rx_dropped_no_qp) > 0)) || ended "$1"; }
# QEMU's emulation (seen with 7.2 and Linux 6.1) may leave a CPU at an instruction that
# another one has just patched, for ever: in ip_local_deliver(), whose jump label tells
# that a netfilter hook has gone. Our own kernels have no jump labels.
if grep -q TCG /proc/cpuinfo && grep -q ' arch_jump_label_transform_apply$' /proc/kallsyms; then
	skip "the module is removed while packets arrive" "an emulated CPU may not survive jump labels"
else
	for ((i = 1; i <= TEARDOWNS; i++)); do
		check "the module is removed while packets arrive ($i)" unload_under_fire
		((FAILED == 0)) || no_hosts || true
	done
fi

delete_watched() { watched rdma link delete "$DEV_A"; }
teardowns "a link is deleted while others look at it," delete_watched

# One of them deletes it; the others do too, or find it gone.
delete_twice()
{
	local pid pids=() deleted=0

	for pid in 1 2 3; do
		rdma link delete "$DEV_A" 2>>"$TMP/deleted" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		! wait "$pid" || deleted=$((deleted + 1))
	done
	cat "$TMP/deleted"
	((deleted > 0)) && link_gone "$DEV_A"
}
teardowns "a link is deleted by three at once," delete_twice

# A connection is somewhere between its beginning and its traffic.
come_and_go()
{
	local i pid

	hosts_are_whole || new_hosts
	link_pair
	for ((i = 0; i < ROUNDS; i++)); do
		echo "write 100000 5000" | "$BUILD/connection" rc "$DEV_A" "$GID4_A" \
			"$DEV_B" "$GID4_B" >/dev/null 2>&1 &
		pid=$!
		nap "0.$((RANDOM % 4))"
		link_del "$DEV_A"
		kill "$pid" 2>/dev/null || true
		wait "$pid" || true
		link_add "$DEV_A" roce "$VETH_A" "$NS_A"
		GID4_A=$GID4
	done
	integrity_pair --ops mix --sizes 5000 --count 28
	link_del "$DEV_A"
	link_del "$DEV_B"
}
check "a link is deleted and added under a program that connects or writes, $ROUNDS times" come_and_go
no_hosts
finish
