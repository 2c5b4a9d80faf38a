#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Hostile programs and hostile packets. The victims may lose their connections;
# an ordinary connection beside them loses nothing, and the kernel stays whole.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ROUNDS=${ROUNDS:-2000}
SEED=${SEED:-1}

build
ns_pair
link_pair

# beside COMMAND...: the command, and an ordinary connection at the same time
beside()
{
	local rc=0 pid

	(integrity_pair --ops mix --sizes 100,5000 --qps 2 --flags bidir \
		--count 140 --seconds 60) >"$TMP/beside" 2>&1 &
	pid=$!
	"$@" || rc=$?
	wait "$pid" || { echo "the ordinary connection:"; cat "$TMP/beside"; rc=1; }
	return "$rc"
}

check "a program that scribbles over its rings (seed $SEED)" \
	beside a "$BUILD/hostile_rings" "$DEV_A" "$GID4_A" \
	--rounds "$ROUNDS" --seed "$SEED"
check "an unprivileged one too" \
	a setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$BUILD/hostile_rings" "$DEV_A" "$GID4_A" --rounds 300 --seed $((SEED + 1))

# --- packets -----------------------------------------------------------------

# victims_start: a connection of somebody who has bad luck; QPN is its one on
# side A
victims_start()
{
	rm -f "$TMP/victim.sock"
	ip netns exec "$NS_A" "$BUILD/integrity" --dev "$DEV_A" --gid "$GID4_A" \
		--listen "$TMP/victim.sock" >/dev/null 2>&1 &
	VICTIM=$!
	wait_for 30 test -S "$TMP/victim.sock"
	ip netns exec "$NS_B" "$BUILD/integrity" --dev "$DEV_B" --gid "$GID4_B" \
		--connect "$TMP/victim.sock" --ops mix --sizes 300 --flags bidir,events \
		--count 10000000 --seconds 300 >/dev/null 2>&1 &
	wait_for 30 victim_has_qp
}

victim_has_qp()
{
	local line

	line=$(rdma resource show qp link "$DEV_A" | grep 'type RC' |
		grep -w "pid $VICTIM")
	[[ $line =~ lqpn\ ([0-9]+) ]] && QPN=${BASH_REMATCH[1]}
}

# The peer ends with it.
victims_end() { kill "$VICTIM" || true; }

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
	echo "$sent packets were sent, $n were counted as drops"
	# Some are in order by luck or answered; the mass is dropped.
	((n > sent / 2))
}
check "crafted packets over IPv4 are dropped and counted" beside attack 4
check "crafted packets over IPv6 are dropped and counted" beside attack 6

icrc_counted()
{
	local before after

	# Only the packets of a QP that is there get as far as the ICRC.
	victims_start
	before=$(counter "$DEV_A" rx_icrc_encapsulated)
	crafted 4 --only bad_icrc --qpn "$QPN"
	after=$(counter "$DEV_A" rx_icrc_encapsulated)
	victims_end
	expect "packets with a bad ICRC" 20 $((after - before))
}
check "each packet with a bad ICRC is counted as that" icrc_counted
check "and traffic goes on" integrity_pair --ops mix --sizes 5000 --count 28
finish
