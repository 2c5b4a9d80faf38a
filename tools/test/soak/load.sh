#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Load: a thousand connected QPs for DURATION seconds, with mixed traffic of which
# every byte is verified, and beside them those who misbehave: a receiver that
# never posts, one that stops polling, a CQ that overflows, again and again.

DURATION=${DURATION:-600}
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

QPS=${QPS:-1000}

build
MTU=9000
ns_pair
link_pair

# until_told END COMMAND...: until then, and at least once; each must succeed
until_told()
{
	local end=$1 times=0
	shift

	while ((times == 0 || SECONDS < end)); do
		"$@" || return
		times=$((times + 1))
	done
	echo "$times times"
}

misbehave()
{
	"$BUILD/verbs" "$DEV_A" "$GID4_A" "$DEV_B" "$GID4_B" neglect completions
}

thousand()
{
	integrity_pair --ops mix --sizes 64,5000 --qps "$QPS" --flags bidir --depth 4 \
		--count 28 --timeout 18 --seconds $((200 * SLOWNESS))
}

load()
{
	local end=$((SECONDS + DURATION)) rc=0 pid

	until_told "$end" misbehave >"$TMP/misbehaved" 2>&1 &
	pid=$!
	until_told "$end" thousand || rc=1
	wait "$pid" || { echo "those who misbehave:"; rc=1; }
	tail "$TMP/misbehaved"
	figure "$(counter "$DEV_A" rx_packets)" "packets under load"
	figure "$(counter "$DEV_B" out_of_buffer)" "packets that found no receive"
	return "$rc"
}
check "$QPS connected QPs for $DURATION seconds, beside some that misbehave" load
check "and all is well afterwards" integrity_pair --ops mix --sizes 300 --count 20
finish
