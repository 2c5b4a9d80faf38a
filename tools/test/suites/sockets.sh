#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# sockets.sh [DRIVER...]: programs for TCP over rsockets, by the library that librdmacm has
# for that; and cmtime, ten times 1,000 connections.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../switch.sh
. "$TEST_DIR/switch.sh"
# shellcheck source=../beside.sh
. "$TEST_DIR/beside.sh"

NS_A=$(host_name 1) NS_B=$(host_name 2)
IP4_A=$(host_address 1) IP4_B=$(host_address 2)
PRELOADED=(env LD_PRELOAD="$(echo /usr/lib/*/rsocket/librspreload.so)")

# by_tcp: connections that this host has asked for
by_tcp() { b awk '/^Tcp: [0-9]/ { print $6 }' /proc/net/snmp; }

# over_rsockets SERVER... -- CLIENT...
over_rsockets()
{
	local word words=("${PRELOADED[@]}") before

	for word; do
		words+=("$word")
		[[ $word != -- ]] || words+=("${PRELOADED[@]}")
	done
	before=$(by_tcp)
	READY=ready_cm attempt pair "${words[@]}" >"$TMP/pair.out" 2>&1
	[[ $RC == 0 ]] || { cat "$TMP/pair.out"; return 1; }
	expect "connections of TCP" "$before" "$(by_tcp)"
}

netpipe()
{
	over_rsockets NPtcp -i -n 10 -u 1100000 -o /dev/null -- \
		NPtcp -h "$IP4_A" -i -n 10 -u 1100000 -o /dev/null
	expect "sizes with the right bytes" 37 "$(grep -c 'Integrity check passed' "$TMP/pair.out")"
}

iperf2()
{
	over_rsockets iperf -s -P 1 -- iperf -c "$IP4_A" -n 10M
	grep '10.0 MBytes' "$TMP/pair.out"
}

socat_sends()
{
	attempt may_crash b "${PRELOADED[@]}" socat -u /dev/null "TCP:$IP4_A:7000"
	echo "exit status $RC"
	return "$RC"
}

# Its server goes on for ever.
ten_cmtimes()
{
	local i

	begin "$TMP/server.out" ip netns exec "$NS_A" cmtime -b "$IP4_A" -c 1000
	wait_for ready_cm
	for i in {1..10}; do
		echo "round $i"
		b cmtime -b "$IP4_B" -s "$IP4_A" -c 1000
	done
	kill "$BEGUN"
}

over_driver()
{
	suite "NPtcp over rsockets" netpipe
	suite "iperf 2 over rsockets" iperf2
	suite "socat over rsockets" socat_sends
	suite "cmtime, 10 times 1,000 connections" ten_cmtimes
}

for driver in roce rxe; do
	known "$driver: socat over rsockets" "exit status 139" \
		"it crashes in \`librspreload\`"
done
hosts_new 2
beside "$@"
finish
