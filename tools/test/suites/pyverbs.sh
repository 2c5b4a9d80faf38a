#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# pyverbs.sh: rdma-core's own tests; what passes over rdma_rxe passes over roce.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../switch.sh
. "$TEST_DIR/switch.sh"
# shellcheck source=../beside.sh
. "$TEST_DIR/beside.sh"

HOST=$(host_name 1)
VERSION=$(dpkg-query -W -f '${Version}' python3-pyverbs)
# Some regions want huge pages.
echo 16 >/proc/sys/vm/nr_hugepages

# pyverbs: it runs to its end, and over roce nothing fails
pyverbs()
{
	local result=$TMP/$DRIVER failed

	ip netns exec "$HOST" /usr/bin/python3 "$TEST_DIR/../package/test/run_pyverbs" \
		--dev "$HOST" --gid "$GID4" -v >"$result" 2>"$TMP/suite.err" || true
	grep '^1\.\.' "$result" || { tail -n 20 "$result" "$TMP/suite.err"; return 1; }
	failed=$(grep -c '^not ok' "$result") || true
	echo "$(grep -c '^ok' "$result") passed, $failed failed, $(sed -n 's/^# skipped: //p' "$result") skipped" |
		tee "$TMP/outcome"
	[[ $failed == 0 || $DRIVER != roce ]] || { grep -A 20 '^not ok' "$result"; return 1; }
}

over_driver() { suite "rdma-core ${VERSION%%-*}: pyverbs" pyverbs; }

# only_over DRIVER OTHER: what passes with one and not with the other
only_over() { comm -23 <(grep '^ok' "$TMP/$1" | sort) <(grep '^ok' "$TMP/$2" | sort); }

hosts_new 1
beside roce rxe
check "no test passes over rdma_rxe alone" expect "tests" "" "$(only_over rxe roce)"
finish
