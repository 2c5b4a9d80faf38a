#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Everything arrives whatever a netdev offloads: each pair of settings of five
# switches in six runs, or in a long run each combination.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Segmentation, merging (GRO), checksums, scatter-gather, jumbo frames: 1 for on.
# The columns of the last five rows are different choices of three out of five,
# so any two columns have all four pairs of settings.
RUNS=(00000 11111 11100 10011 01010 00101)
[[ -z $LONG ]] || RUNS=({0,1}{0,1}{0,1}{0,1}{0,1})

build
ns_pair
link_pair

# set_switches NS NETDEV: as SETTING says
set_switches()
{
	local mtu=1500

	[[ ${SETTING[4]} == off ]] || mtu=9000
	ip netns exec "$1" ethtool -K "$2" tx "${SETTING[2]}" sg "${SETTING[3]}" \
		gso "${SETTING[0]}" tso "${SETTING[0]}" \
		tx-udp-segmentation "${SETTING[0]}" gro "${SETTING[1]}" >/dev/null
	ip -n "$1" link set "$2" mtu "$mtu"
}

# feature NAME: what ethtool says of it, in the features read last
feature() { sed -n "s/^[[:space:]]*$1: \([a-z]*\).*/\1/p" "$TMP/features"; }

# switches_are_set NS NETDEV: as SETTING says. Without checksums, newer kernels switch
# segmentation off, older ones do not.
switches_are_set()
{
	local mtu=1500

	[[ ${SETTING[4]} == off ]] || mtu=9000
	in_ns "$1" ethtool -k "$2" >"$TMP/features"
	[[ ${SETTING[0]}${SETTING[2]} == onoff ]] ||
		expect "tx-udp-segmentation" "${SETTING[0]}" "$(feature tx-udp-segmentation)"
	expect "generic-receive-offload" "${SETTING[1]}" "$(feature generic-receive-offload)"
	expect "tx-checksumming" "${SETTING[2]}" "$(feature tx-checksumming)"
	expect "scatter-gather" "${SETTING[3]}" "$(feature scatter-gather)"
	expect "MTU" "$mtu" "$(in_ns "$1" cat "/sys/class/net/$2/mtu")"
}

for run in "${RUNS[@]}"; do
	read -ra SETTING < <(sed 's/0/off /g; s/1/on /g' <<<"$run")
	set_switches "$NS_A" "$VETH_A"
	set_switches "$NS_B" "$VETH_B"
	name="segmentation ${SETTING[0]}, GRO ${SETTING[1]}, checksums ${SETTING[2]}, scatter-gather ${SETTING[3]}, jumbo frames ${SETTING[4]}"
	check "$name: side A is set so" switches_are_set "$NS_A" "$VETH_A"
	check "$name: side B is set so" switches_are_set "$NS_B" "$VETH_B"
	check_services "$name: "
done
finish
