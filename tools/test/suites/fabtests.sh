#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# fabtests.sh [DRIVER...]: libfabric's own tests, the quick ones, in the root that
# build-fabtests prints. They need 8 GiB: some allocate a window of 8 MiB messages. The
# kernel complains when rdma_rxe shall register so much, so run that one with
# ROCE_VM_LAST_WORDS=7200.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../switch.sh
. "$TEST_DIR/switch.sh"
# shellcheck source=../beside.sh
. "$TEST_DIR/beside.sh"

HOST=$(host_name 1)
ADDRESS=$(host_address 1)
# They connect from a passive endpoint. Then libfabric resolves the address twice, which
# librdmacm refuses.
EXCEPT=(msg_sockets)

total() { sed -n "s/^# Total $1 *//p" "$TMP/fabtests.out"; }

# Now and then ofi_rxm closes a connection before it has taken the last receives of it, and
# posts them again, through a pointer that is NULL by then.
crashes() { dmesg | grep -c 'fi_[a-z_]*\[[0-9]*\]: segfault at .* in libfabric' || true; }

# fabtests AT_LEAST PROVIDER: so many tests pass, and none fails, but for those that crash
fabtests()
{
	local configs=/usr/local/share/fabtests/test_configs name=${2#*;}

	dmesg -C
	cat "$configs/$name/$name.exclude" >"$TMP/exclude"
	printf '%s\n' "${EXCEPT[@]}" >>"$TMP/exclude"
	# Its exit status says nothing. rdma_rxe has small completion queues.
	ip netns exec "$HOST" env FI_VERBS_IFACE=port FI_UNIVERSE_SIZE=8 \
		runfabtests.sh -vv -T 600 -f "$TMP/exclude" -s "$ADDRESS" -c "$ADDRESS" "$2" \
		>"$TMP/fabtests.out" 2>&1 || true
	grep -B 2 -A 20 'result: Fail' "$TMP/fabtests.out" || true
	echo "$(total Pass) passed, $(total Fail) failed" | tee "$TMP/outcome"
	(($(total Pass) >= $1 && $(total Fail) <= $(crashes)))
}

over_driver()
{
	suite "fabtests, verbs" fabtests 31 verbs
	suite "fabtests, verbs;ofi_rxm" fabtests 50 'verbs;ofi_rxm'
	suite "fabtests, verbs;ofi_rxd" fabtests 49 'verbs;ofi_rxd'
}

for provider in verbs "verbs;ofi_rxm"; do
	known "rxe: fabtests, $provider" "result: Fail" "it does not register 1.6 GB"
done
known "rxe: fabtests, verbs;ofi_rxd" "result: Fail" "a second client finds no endpoint"
hosts_new 1
# libfabric cuts the name of a device at its last hyphen.
ENDS=("fabtests port $HOST")
beside "$@"
finish
