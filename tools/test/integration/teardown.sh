#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The end of everything, under traffic. Nothing may hang, leak or splat, and no
# process may wait for ever. ROUNDS says how often a link comes and goes.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Fewer where everything is checked and slow
ROUNDS=${ROUNDS:-$((15 / SLOWNESS))}
build

# Traffic in both directions until somebody ends it.
traffic_start()
{
	local long=(--ops mix --sizes 5000 --qps 2 --flags bidir --count 10000000
		--bytes 4000m --seconds 300)

	rm -f "$TMP/integrity.sock"
	# Not in the namespaces: these would live as long as a process in them.
	"$BUILD/integrity" --dev "$DEV_A" --gid "$GID4_A" \
		--listen "$TMP/integrity.sock" >"$TMP/traffic.a" 2>&1 &
	TRAFFIC_A=$!
	wait_for test -S "$TMP/integrity.sock"
	"$BUILD/integrity" --dev "$DEV_B" --gid "$GID4_B" \
		--connect "$TMP/integrity.sock" "${long[@]}" >"$TMP/traffic.b" 2>&1 &
	TRAFFIC_B=$!
	wait_for traffic_flows
}

# Both processes end by themselves: the device tells them, or the peer's end.
traffic_ends()
{
	local pid

	for pid in $TRAFFIC_A $TRAFFIC_B; do
		wait_for ended "$pid" || {
			echo "process $pid does not end"
			cat "/proc/$pid/stack" || true
			cat "$TMP/traffic.a" "$TMP/traffic.b"
			kill -KILL "$pid"
			return 1
		}
		wait "$pid" || true
	done
}

scene()
{
	modprobe roce
	ns_pair
	link_pair
	traffic_start
}

# A clean house, whatever was left of the scene.
clear_scene()
{
	local link

	traffic_ends
	for link in "${!LINKS[@]}"; do
		# It may be going by itself just now.
		link_gone "$link" || link_del "$link" ||
			wait_for link_gone "$link"
	done
	[[ ! -e /run/netns/$NS_A ]] || ip netns del "$NS_A"
	[[ ! -e /run/netns/$NS_B ]] || ip netns del "$NS_B"
	wait_for link_gone "$DEV_A"
	wait_for link_gone "$DEV_B"
	modprobe -r roce
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
	local name=$1 i
	shift

	for ((i = 1; i <= TEARDOWNS; i++)); do
		check "$name, under traffic ($i)" teardown "$@"
		leave_nothing
	done
}

# What a failed one leaves would make the next one fail too.
leave_nothing()
{
	ip netns del "$NS_A" 2>/dev/null || true
	ip netns del "$NS_B" 2>/dev/null || true
}

down_up()
{
	a ip link set "$VETH_A" down
	nap 0.1
	a ip link set "$VETH_A" up
	# They may have ended with a named error by themselves.
	kill "$TRAFFIC_A" "$TRAFFIC_B" || true
}

# Expanded when it is run, as the process ids are known by then.
kill_a() { kill -KILL "$TRAFFIC_A"; }
kill_b() { kill -KILL "$TRAFFIC_B"; }
delete_link() { rdma link delete "$DEV_A"; }
delete_netdev() { a ip link del "$VETH_A"; }
delete_ns() { ip netns del "$NS_A"; }

# Nobody waits for a program that does not run.
delete_from_stopped()
{
	kill -STOP "$REMOVED"
	timeout 20 rdma link delete "$DEV_A"
	link_gone "$DEV_A"
	kill -CONT "$REMOVED"
}

teardowns "rdma link delete" taken_away delete_link
teardowns "rdma link delete, of a program that is stopped" taken_away delete_from_stopped
teardowns "kill -9 of the server" kill_a
teardowns "kill -9 of the client" kill_b
teardowns "netdev deletion" taken_away delete_netdev
teardowns "namespace deletion" taken_away delete_ns
teardowns "ip link set down and up" down_up

# rmmod succeeds or says that the module is in use; it never hangs.
unload_or_busy()
{
	rmmod roce 2>"$TMP/rmmod" || grep -qi 'in use' "$TMP/rmmod"
	cat "$TMP/rmmod"
	[[ ! -d /sys/module/roce ]] || kill "$TRAFFIC_A" "$TRAFFIC_B" || true
}
teardowns "rmmod roce" unload_or_busy

# Without a program nothing keeps it, whatever arrives.
unload_under_fire()
{
	local attacker

	modprobe roce
	ns_pair
	link_pair
	crafted 4 --seed 1 --rounds 1000 >/dev/null 2>&1 &
	attacker=$!
	wait_for something_arrives
	rmmod roce
	pkill -P "$attacker"
	wait "$attacker" || true
	figure 1 "teardowns under hostile packets"
}
something_arrives() { (($(counter "$DEV_A" rx_dropped_no_qp) > 0)); }
# QEMU's emulation (seen with 7.2 and Linux 6.1) may leave a CPU at an instruction that
# another one has just patched, for ever: in ip_local_deliver(), whose jump label tells
# that a netfilter hook has gone. Our own kernels have no jump labels.
if grep -q TCG /proc/cpuinfo && grep -q ' arch_jump_label_transform_apply$' /proc/kallsyms; then
	skip "rmmod roce, while packets arrive" "an emulated CPU may not survive jump labels"
else
	for ((i = 1; i <= TEARDOWNS; i++)); do
		check "rmmod roce, while packets arrive ($i)" unload_under_fire
		leave_nothing
	done
fi

delete_watched() { watched rdma link delete "$DEV_A"; }
teardowns "rdma link delete, while others look at the device" delete_watched

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
teardowns "rdma link delete by three at once" delete_twice

# A connection is somewhere between its beginning and its traffic.
come_and_go()
{
	local i pid

	ns_pair
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
	ns_del "$NS_A"
	ns_del "$NS_B"
}
check "$ROUNDS times a link comes and goes under who uses it" come_and_go
NAMESPACES=()
finish
