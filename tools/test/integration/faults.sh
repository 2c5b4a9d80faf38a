#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Want of memory: allocations that the driver makes fail, up to one in ten. What is
# on its way arrives nevertheless; verbs and links fail with ENOMEM or work; and
# nothing is left over, of which kmemleak is the judge when the machine ends. ROUNDS
# says how often verbs and links are tried at each rate.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

FAILSLAB=/sys/kernel/debug/failslab
PAGES=/sys/kernel/debug/fail_page_alloc
ROUNDS=${ROUNDS:-$(long 10 10 2)}
MANY=1000000000

if [[ ! -d $FAILSLAB ]]; then
	skip "want of memory" "this kernel has no fault injection"
	finish
fi

build
ns_pair
link_pair

# faults PERCENT: of the allocations that have the driver in their call stack
faults()
{
	local start size folder

	start=$(</sys/module/roce/sections/.text)
	size=$(awk '$1 == "roce" { print $2 }' /proc/modules)
	for folder in "$FAILSLAB" "$PAGES"; do
		echo 0 >"$folder/probability"
		echo "$start" >"$folder/require-start"
		printf '%#x' $((start + size)) >"$folder/require-end"
		echo 32 >"$folder/stacktrace-depth"
		echo 0 >"$folder/verbose"
		echo "$MANY" >"$folder/times"
		echo N >"$folder/ignore-gfp-wait"
		echo "$1" >"$folder/probability"
	done
	echo 0 >"$PAGES/min-order"
}

# Ends it, and tells how many have failed.
no_faults()
{
	local folder

	for folder in "$FAILSLAB" "$PAGES"; do
		echo 0 >"$folder/probability"
		injected=$((injected + MANY - $(<"$folder/times")))
	done
}

# How often there was no memory for a train, on both sides
wants()
{
	echo $(($(counter "$DEV_A" tx_stalled_memory) + $(counter "$DEV_B" tx_stalled_memory)))
}

# traffic_goes_on ARGS...: none of what the arguments describe is lost for want of memory
traffic_goes_on()
{
	local before injected=0

	before=$(wants)
	background_traffic "$@"
	faults 10
	wait "$TRAFFIC" || {
		no_faults
		cat "$TMP/traffic"
		counters "$DEV_A" | grep -E '_dropped_|_stalled_' | grep -v ' 0$'
		counters "$DEV_B" | grep -E '_dropped_|_stalled_' | grep -v ' 0$'
		return 1
	}
	no_faults
	figure "$injected" "injected failures of allocations"
	echo "$(($(wants) - before)) times there was no memory for a train"
	(($(wants) > before))
}
check "RC: what is on its way arrives, though every tenth allocation fails" \
	traffic_goes_on --bytes 8m

# Nobody sends these again: what finds no memory waits for it.
check "UC: the same" traffic_goes_on --types uc --ops push --bytes 6m
check "UD: the same" traffic_goes_on --types ud --ops send --sizes 900 --bytes 3m

# either COMMAND...: it works, or says that memory is wanting
either()
{
	local said

	if said=$("$@" 2>&1); then
		worked=$((worked + 1))
	elif [[ $said =~ "Cannot allocate memory" ]]; then
		failed=$((failed + 1))
	else
		no_faults
		echo "$said"
		return 1
	fi
}

# at_each_rate COMMAND...: ROUNDS times each; some of it must fail, and the last one,
# when there is memory again, must not
at_each_rate()
{
	local worked=0 failed=0 injected=0 percent i

	for percent in 1 3 10; do
		for ((i = 0; i < ROUNDS; i++)); do
			faults "$percent"
			either "$@"
			no_faults
			${AFTERWARDS:-true}
		done
	done
	figure "$injected" "injected failures of allocations"
	echo "$worked times it worked, $failed times it failed"
	((failed > 0))
	"$@"
	${AFTERWARDS:-true}
}
check "verbs work, or fail with ENOMEM" at_each_rate \
	integrity_pair --ops mix --sizes 300 --count 7

no_spare_link() { link_gone spare_link || b rdma link delete spare_link; }
b ip link add spare type dummy
b ip link set spare up
AFTERWARDS=no_spare_link check "links are added, or fail with ENOMEM" at_each_rate \
	b rdma link add spare_link type roce netdev spare
check "and all is well when there is memory" integrity_pair --ops mix --sizes 5000 --count 28
finish
