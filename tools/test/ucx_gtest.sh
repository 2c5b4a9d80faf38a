# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# UCX's own tests, those that use a device, over roce and beside it over rdma_rxe; after
# lib.sh. suites/build-ucx builds them. A script defines over_driver, as for beside.sh:
#
#	suite "UCX, transport rc_verbs" ucx 160 'rc_verbs/*'
#	ucx_beside "$@"

MTU=4200
# shellcheck source=switch.sh
. "$TEST_DIR/switch.sh"
# shellcheck source=beside.sh
. "$TEST_DIR/beside.sh"

HOST=$(host_name 1)
EXCEPT=(
	# They measure speed.
	'*/test_uct_loopback.envelope*' '*/test_uct_perf.*'
	# They need more memory than the laboratory has.
	'*_multiple_sends*' '*/test_uct_peer_failure_multiple.*'
	# It asks for a PCI device.
	'ib/test_md.sys_device*'
	# Ten minutes for each kind of endpoint over ud
	'*/test_ucp_wireup*.stress_connect*'
	# They race with their own callbacks.
	'rdmacm/test_uct_sockaddr_legacy.*'
)

# ucx AT_LEAST FILTER: so many tests pass, and none fails
ucx()
{
	local filter passed skipped

	filter=$2-$(IFS=: && echo "${EXCEPT[*]}")
	ip netns exec "$HOST" env UCX_NET_DEVICES="$HOST:1" UCX_IB_GID_INDEX="$GID4" \
		UCX_UD_VERBS_ETH_DGID_CHECK=n UCX_HANDLE_ERRORS=bt \
		"$BUILD/ucx-gtest" --gtest_filter="$filter" >"$TMP/ucx.out" 2>&1 ||
		{ tail -n 40 "$TMP/ucx.out"; return 1; }
	# Those that skip are "OK", too.
	read -r passed skipped < <(awk '
		/^\[ *OK/ { ok++ } /^\[ *SKIP/ { skipped++ } END { print ok - skipped, skipped + 0 }' "$TMP/ucx.out")
	echo "$passed passed, $skipped skipped" | tee "$TMP/outcome"
	((passed >= $1))
}

# ucx_beside [DRIVER...]
ucx_beside()
{
	hosts_new 1
	# Addresses that nobody has are asked for, too.
	ip -n "$HOST" route add default dev port
	ip -n "$HOST" -6 route add default dev port
	beside "$@"
}
