#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Hostile programs and hostile packets. The victims may lose their connections;
# an ordinary connection beside them loses nothing, and the kernel stays whole.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

ROUNDS=${ROUNDS:-$(long 100000 100000 $((2000 / SLOWNESS / SLOWNESS)))}
FLOOD=${FLOOD:-$(long 1000000 100000 $((10000 / SLOWNESS / SLOWNESS)))}
GUESSES=${GUESSES:-$((100000 / SLOWNESS / SLOWNESS))}
# A long run has that of the day.
SEED=${SEED:-$(long "$(date +%-j)" "$(date +%-j)" 1)}

build
ns_pair
link_pair

# beside COMMAND...: the command, and an ordinary connection as long as it runs,
# or several one after the other. They leave it some time of the CPU.
beside()
{
	local rc=0 pid connections=0

	("$@") &
	pid=$!
	while kill -0 "$pid" 2>/dev/null || ((connections == 0)); do
		integrity_pair --ops mix --sizes 100,5000 --qps 2 \
			--flags bidir,events --count 140 >"$TMP/beside" 2>&1 || {
			echo "the ordinary connection:"
			cat "$TMP/beside"
			rc=1
			break
		}
		connections=$((connections + 1))
		! kill -0 "$pid" 2>/dev/null || nap 1
	done
	wait "$pid" || rc=$?
	figure "$connections" "ordinary connections beside hostile programs and packets"
	return "$rc"
}

check "a program that scribbles over its rings (seed $SEED)" \
	beside a "$BUILD/hostile_rings" "$DEV_A" "$GID4_A" \
	--rounds "$ROUNDS" --seed "$SEED"
check "an unprivileged one too; requests of all kinds get as far as the wire" \
	grows "$DEV_A" "rx_write_requests=+ rx_read_requests=+ rx_atomic_requests=+" \
	a setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$BUILD/hostile_rings" "$DEV_A" "$GID4_A" --rounds "$ROUNDS" --seed $((SEED + 1))

# --- packets -----------------------------------------------------------------

# victims_start: a connection of somebody who has bad luck; QPN is its one on
# side A
victims_start()
{
	integrity_begin --ops mix --sizes 300 --flags bidir,events \
		--count 10000000 --seconds 300
	wait_for victim_has_qp
}

victim_has_qp()
{
	local line

	line=$(rdma resource show qp link "$DEV_A" | grep 'type RC' |
		grep -w "pid $INTEGRITY_A")
	[[ $line =~ lqpn\ ([0-9]+) ]] && QPN=${BASH_REMATCH[1]}
}

# The peer ends with it.
victims_end() { kill "$INTEGRITY_A" || true; }

# Sum of everything the device calls dropped, bad or refused.
drops()
{
	counters "$DEV_A" | awk '/drop|err|icrc|invalid|bad/ { n += $2 } END { print n + 0 }'
}

attack()
{
	local n before after sent

	victims_start
	before=$(drops)
	crafted "$1" --qpn "$QPN" --seed "$SEED" >"$TMP/sent"
	cat "$TMP/sent"
	after=$(drops)
	victims_end
	sent=$(awk '$1 == "total" { print $2 }' "$TMP/sent")
	n=$((after - before))
	figure "$sent" "crafted packets"
	echo "$n were counted as drops"
	# Some are in order by luck or answered; the mass is dropped.
	((n > sent / 2))
}
check "crafted packets over IPv4 are dropped and counted" beside attack 4
check "crafted packets over IPv6 are dropped and counted" beside attack 6

icrc_counted()
{
	# Only the packets of a QP that is there get as far as the ICRC.
	victims_start
	grows "$DEV_A" rx_icrc_encapsulated=20 crafted 4 --only bad_icrc --qpn "$QPN"
	victims_end
}
check "each packet with a bad ICRC is counted as that" icrc_counted
# --- by the million ----------------------------------------------------------

# flood ADDRESS GID_INDEX OPTION...: from side B to QPs of its own on side A
flood()
{
	local address=$1 gid=$2
	shift 2

	b "$BUILD/flood" "$DEV_A" "$gid" "$VETH_B" "$address" "$(mac "$NS_A" "$VETH_A")" \
		--seed "$SEED" "$@" >"$TMP/flood"
}

# fate NAME: so many packets had to end like that
fate() { value_of "fate $1" "$(<"$TMP/flood")"; }

# growth NAME...: of counters of side A
growth()
{
	local name sum=0

	for name; do
		sum=$((sum + $(growth_of "$name" "$before" "$after")))
	done
	echo "$sum"
}

# Documentation/counters.md: what counts a packet that reaches the device, unless
# it cannot be parsed. The ordinary connection's are among them.
UNPARSED=(rx_dropped_header rx_dropped_length rx_dropped_opcode)
ARRIVED=(rx_packets rx_icrc_encapsulated rx_dropped_no_qp rx_dropped_pkey
	rx_dropped_inbox_full rx_dropped_no_memory)

flooded()
{
	local before after ordinary arrived

	before=$(counters "$DEV_A")
	ordinary=$(counter "$DEV_B" tx_packets)
	beside flood "$@" || { cat "$TMP/flood"; return 1; }
	nap 0.5
	after=$(counters "$DEV_A")
	ordinary=$(($(counter "$DEV_B" tx_packets) - ordinary))
	cat "$TMP/flood"
	figure "$(fate packets)" "packets of floods"
	for name in "${ARRIVED[@]}" "${UNPARSED[@]}"; do
		echo "$name grew by $(growth "$name")"
	done
	arrived=$(($(fate packets) - $(fate nowhere) - $(fate refused) + ordinary))
	expect "packets with a bad ICRC" "$(fate icrc)" "$(growth rx_icrc_encapsulated)"
	expect "packets of another partition" "$(fate pkey)" "$(growth rx_dropped_pkey)"
	expect "parsed packets that are counted" "$arrived" "$(growth "${ARRIVED[@]}")"
	(($(growth rx_dropped_no_qp) >= $(fate no_qp)))
	(($(growth "${UNPARSED[@]}") >= $(fate refused)))
}
note "$FLOOD packets or trains each, seed $SEED"
# What is kept for later would be counted later.
set_patience 0
check "each packet of a flood over IPv4 is counted" flooded "$IP4_B" "$GID4_A" --packets "$FLOOD"
check "each packet of a flood over IPv6 is counted" flooded "$IP6_B" "$GID6_A" --packets "$FLOOD"

guessed()
{
	local before after

	before=$(counters "$DEV_A")
	flood "$IP4_B" "$GID4_A" --only guesses --packets "$GUESSES"
	nap 0.2
	after=$(counters "$DEV_A")
	expect "refused guesses" "$GUESSES" "$(growth resp_remote_access_errors)"
	expect "writes" 0 "$(growth rx_write_requests)"
}
set_patience 50000
check "$GUESSES guesses hit no R_Key" guessed
single_packets
a ethtool -K "$VETH_A" gro on
# The queue in front of GRO may lose some: who knows which.
check "a flood that GRO merges does no harm" beside flood "$IP4_B" "$GID4_A" --packets "$FLOOD"
check "and traffic goes on" integrity_pair --ops mix --sizes 5000 --count 28
finish
