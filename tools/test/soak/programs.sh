#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Every program that Documentation/compatibility.md speaks of, with the options
# that change what is asked of the driver: all of them, or those of the groups
# that are named (perftest_bw, perftest_lat, perftest_more, pingpongs, librdmacm,
# qperf, ucx, libfabric). The lines that begin with "# row" are that page's tables:
#
#	tools/vm/run --kernel next -- tools/test/soak/programs.sh [GROUP...] |
#		sed -n 's/^# row //p'

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ns_pair
link_pair

# quoted WORD...: as a shell takes them
quoted()
{
	local word line=''

	for word; do
		[[ $word =~ ^[A-Za-z0-9_./:,=-]*$ ]] || word=\'$word\'
		line+=" $word"
	done
	echo "${line# }"
}

# shown LINE: as a table shows it, which is for any device, and has no environment
shown()
{
	local command=$1

	command=${command/#env * ucx_perftest/ucx_perftest}
	command=${command//"$DEV_A"/DEVICE}
	echo "${command//"$DEV_B"/DEVICE}"
}

# row NAME SERVER... -- CLIENT...: both succeed, called by AROUND, if that is set. NAME is
# "LIBRARY: [PROGRAM, ]VARIANT". The client has lines of the table unless it is the server
# and an address.
row()
{
	local name=$1 before=$FAILED runs=yes command server client
	shift

	command=$(quoted "$@")
	check "$name" ${AROUND:+"$AROUND"} pair "$@"
	((FAILED == before)) || runs=no
	server=$(shown "${command%% -- *}") client=$(shown "${command##* -- }")
	name=${name#*: }
	note "row | ${name#"${server%% *}, "} | \`$server\` | $runs |"
	[[ $client != "$server $IP4_A" ]] || return 0
	fold -s -w 80 <<<"$client" | sed 's/ *$//; s/.*/# row | | `&` | |/'
}

# perf NAME PROGRAM [-6] ARGS...: perftest on either side
perf()
{
	local name=$1 program=$2 ga=$GID4_A gb=$GID4_B
	shift 2

	[[ ${1:-} != -6 ]] || { shift; ga=$GID6_A gb=$GID6_B; }
	READY=${READY:-ready_tcp 18515} row "perftest: $program, $name" \
		"$program" -F -d "$DEV_A" -x "$ga" "$@" -- \
		"$program" -F -d "$DEV_B" -x "$gb" "$@" "$IP4_A"
}

# perftest TEST: bw or lat
perftest_of()
{
	local test=$1 op service

	for op in write read send atomic; do
		perf "RC" "ib_${op}_$test" -n 100
		perf "RC, IPv6" "ib_${op}_$test" -6 -n 100
		AROUND=connected_by_cm perf "RC, connected by rdma_cm" "ib_${op}_$test" -R -n 100
	done
	for op in write send; do
		perf "UC" "ib_${op}_$test" -c UC -n 100
		perf "RC, inline" "ib_${op}_$test" -I 64 -s 64 -n 100
	done
	perf "UD" "ib_send_$test" -c UD -s 1024 -n 100
	perf "UD, IPv6" "ib_send_$test" -6 -c UD -s 1024 -n 100
	for service in RC UC UD; do
		perf "$service, events" "ib_send_$test" -c "$service" -e -s 1024 -n 100
	done
	for service in RC UD; do
		perf "$service, shared receive queue" "ib_send_$test" \
			-c "$service" --use-srq -s 1024 -n 100
	done
}

group_perftest_bw() { perftest_of bw; }
group_perftest_lat() { perftest_of lat; }

group_perftest_more()
{
	local op

	for op in write read send; do
		perf "RC, 64 KiB" "ib_${op}_bw" -s 65536 -n 50
		perf "RC, all sizes" "ib_${op}_bw" -a -n 10
		perf "RC, both directions" "ib_${op}_bw" -b -s 65536 -n 50
		perf "RC, 16 QPs" "ib_${op}_bw" -q 16 -s 4096 -n 50
		perf "RC, lists of 16" "ib_${op}_bw" -l 16 -s 64 -n 160
	done
	perf "RC, both directions, 4 QPs" ib_atomic_bw -b -q 4 -n 50
	perf "compare and swap" ib_atomic_bw -A CMP_AND_SWAP -n 100
	perf "UC, 16 QPs" ib_write_bw -c UC -q 16 -s 4096 -n 50
}

pingpong()
{
	local name=$1 program=$2 ga=$GID4_A gb=$GID4_B
	shift 2

	[[ ${1:-} != -6 ]] || { shift; ga=$GID6_A gb=$GID6_B; }
	READY="ready_tcp 18515" row "libibverbs: $program, $name" \
		"$program" -d "$DEV_A" -g "$ga" "$@" -- \
		"$program" -d "$DEV_B" -g "$gb" "$@" "$IP4_A"
}

group_pingpongs()
{
	local service

	for service in rc uc srq; do
		pingpong "IPv4" "ibv_${service}_pingpong" -n 100
		pingpong "IPv6" "ibv_${service}_pingpong" -6 -n 100
		pingpong "events" "ibv_${service}_pingpong" -e -n 100
	done
	pingpong "IPv4" ibv_ud_pingpong -s 1024 -n 100
	pingpong "IPv6" ibv_ud_pingpong -6 -s 1024 -n 100
	pingpong "events" ibv_ud_pingpong -e -s 1024 -n 100
	pingpong "validated bytes" ibv_rc_pingpong -c -n 20
}

# one_of_three COMMAND...: it succeeds, if not at once
one_of_three() { raced "" "$@"; }

# cm NAME SERVER... -- CLIENT...
cm() { READY=ready_cm row "librdmacm: $1" "${@:2}"; }

# In rdma-core 61, one of the two controls both. In 44, the server goes on for ever: it must be
# there still when it is ended.
cmtimes()
{
	local control=(-C "$IP4_A" -p 18000 -c 20)

	if [[ "$(cmtime -h 2>&1)" == *"-C controller"* ]]; then
		READY="ready_tcp 18000" row "librdmacm: cmtime" \
			cmtime -L -b "$IP4_A" "${control[@]}" -- cmtime -b "$IP4_B" "${control[@]}"
		return
	fi
	cm "cmtime" \
		sh -c "timeout 15 cmtime -b $IP4_A -c 20; [ \$((\$? % 124)) = 0 ]" -- \
		cmtime -b "$IP4_B" -s "$IP4_A" -c 20
}

group_librdmacm()
{
	local ip option

	for ip in "$IP4_A" "$IP6_A"; do
		cm "rping, to $ip" rping -s -a "$ip" -C 10 -V -- rping -c -a "$ip" -C 10 -V
		cm "ucmatose, to $ip" ucmatose -b "$ip" -- ucmatose -s "$ip"
		cm "udaddy, to $ip" udaddy -b "$ip" -- udaddy -s "$ip"
		cm "rdma_server, to $ip" rdma_server -s "$ip" -- rdma_client -s "$ip"
	done
	cm "rping, 60000 bytes" rping -s -a "$IP4_A" -C 10 -S 60000 -V -- \
		rping -c -a "$IP4_A" -C 10 -S 60000 -V
	cm "ucmatose, 10 connections" ucmatose -b "$IP4_A" -c 10 -- \
		ucmatose -s "$IP4_A" -c 10
	cmtimes
	# It may fail at its last byte, when its peer has closed the connection.
	AROUND=one_of_three cm "rstream -T a" rstream -b "$IP4_A" -T a -I 10 -C 10 -S 4096 -- \
		rstream -s "$IP4_A" -T a -I 10 -C 10 -S 4096
	for option in b n v; do
		cm "rstream -T $option" rstream -b "$IP4_A" -T $option -I 10 -C 10 -S 4096 -- \
			rstream -s "$IP4_A" -T $option -I 10 -C 10 -S 4096
	done
	cm "rstream, IPv6" rstream -b "$IP6_A" -f ipv6 -I 10 -C 10 -S 4096 -- \
		rstream -s "$IP6_A" -f ipv6 -I 10 -C 10 -S 4096
	cm "riostream" riostream -b "$IP4_A" -I 10 -C 10 -S 4096 -- \
		riostream -s "$IP4_A" -I 10 -C 10 -S 4096

	READY=ready_mckey row "librdmacm: mckey, multicast" \
		stdbuf -oL mckey -m 239.1.2.3 -b "$IP4_A" -- mckey -m 239.1.2.3 -b "$IP4_B" -s
}

# The server ends when the client's list does: "quit" is the last of its tests. A client that
# is quicker than the server, which listens anew for each test, is rejected.
qperf_tests()
{
	AROUND=one_of_three READY="ready_tcp 19765" row "qperf: $1" qperf -- \
		qperf "$IP4_A" -cm 1 -t 1 "${@:2}" quit
}

group_qperf()
{
	qperf_tests "RC" rc_bw rc_bi_bw rc_lat rc_rdma_read_bw rc_rdma_read_lat \
		rc_rdma_write_bw rc_rdma_write_lat rc_rdma_write_poll_lat
	qperf_tests "RC atomics" rc_compare_swap_mr rc_fetch_add_mr
	qperf_tests "verified bytes" ver_rc_compare_swap ver_rc_fetch_add
}

# Where it is built with MPI, it uses that unless it is told not to.
UCX_PERFTEST=(ucx_perftest)
[[ "$(ucx_perftest -h 2>&1 </dev/null)" != *"-P <0|1>"* ]] || UCX_PERFTEST+=(-P 0)

# ucx SERVICE TEST [-6] [ARGS...]: rc or ud. UCX 1.13 drops IPv4 datagrams that
# a ConnectX does not mark as such in the service level of the completion, and
# connects by datagrams for rc, too.
ucx()
{
	local service=$1 test=$2 ip=IPv4 ga=$GID4_A gb=$GID4_B
	local options=("UCX_TLS=$service,self" UCX_UD_VERBS_ETH_DGID_CHECK=n)
	shift 2

	if [[ ${1:-} == -6 ]]; then
		shift
		ip=IPv6 ga=$GID6_A gb=$GID6_B
		unset "options[1]"
	fi
	READY="ready_tcp 13337" row "UCX: $test over $service, $ip, ${*: -1} bytes" \
		env "${options[@]}" UCX_NET_DEVICES="$DEV_A:1" UCX_IB_GID_INDEX="$ga" \
		"${UCX_PERFTEST[@]}" -t "$test" -n 200 -w 20 "$@" -- \
		env "${options[@]}" UCX_NET_DEVICES="$DEV_B:1" UCX_IB_GID_INDEX="$gb" \
		"${UCX_PERFTEST[@]}" -t "$test" -n 200 -w 20 "$@" "$IP4_A"
}

group_ucx()
{
	local service test

	if ! compgen -G "/usr/lib/*/ucx/libuct_ib.so*" >/dev/null; then
		skip "UCX" "the package has none of its modules for RDMA"
		return
	fi

	for service in rc ud; do
		for test in tag_lat tag_bw stream_bw ucp_put_lat ucp_get ucp_am_lat; do
			ucx "$service" "$test" -s 4096
		done
		ucx "$service" tag_lat -6 -s 4096
	done
	ucx rc ucp_fadd -s 8
	ucx rc tag_bw -s 1048576
}

# fi NAME ARGS...
fi_pair()
{
	local name=$1
	shift

	READY="ready_tcp 47592" row "libfabric: fi_pingpong, $name" \
		fi_pingpong -c -I 20 -S 4096 "$@" -- \
		fi_pingpong -c -I 20 -S 4096 "$@" "$IP4_A"
}

group_libfabric()
{
	fi_pair "messages" -p verbs -e msg
	fi_pair "reliable datagrams" -p "verbs;ofi_rxm" -e rdm
	fi_pair "reliable datagrams over UD" -p "verbs;ofi_rxd" -e rdm
}

declare -A titles=([perftest_bw]="perftest: bandwidth" [perftest_lat]="perftest: latency"
	[perftest_more]="perftest: more options" [pingpongs]=libibverbs
	[librdmacm]=librdmacm [qperf]=qperf [ucx]=UCX [libfabric]=libfabric)

[[ $# -gt 0 ]] || set -- perftest_bw perftest_lat perftest_more pingpongs \
	librdmacm qperf ucx libfabric
for group; do
	note "row "
	note "row ### ${titles[$group]}"
	note "row "
	note "row | what | command | runs |"
	note "row | --- | --- | --- |"
	"group_$group"
done
finish
