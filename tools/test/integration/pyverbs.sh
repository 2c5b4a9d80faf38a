#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# rdma-core's own test suite, as Debian packages it with pyverbs: no test fails,
# and what is skipped is what nothing here could run. Documentation/
# compatibility.md explains the reasons.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

AT_LEAST=107
RUN_PYVERBS=$TEST_DIR/../package/test/run_pyverbs

# Some regions want huge pages.
[[ ! -w /proc/sys/vm/nr_hugepages ]] || echo 16 >/proc/sys/vm/nr_hugepages

ns_pair
link_pair

run_limited a /usr/bin/python3 "$RUN_PYVERBS" --dev "$DEV_A" --gid "$GID4_A" -v \
	>"$TMP/suite.out" 2>"$TMP/suite.err"

while read -r failed; do
	not_ok "$failed"
done < <(sed -n 's/^not ok - //p' "$TMP/suite.out")
sed -n '/^#/p' "$TMP/suite.out"
if grep -q '^1\.\.' "$TMP/suite.out"; then
	ok "the suite runs to its end"
else
	not_ok "the suite runs to its end" "exit status $RC" "$(tail -20 "$TMP/suite.err")"
fi
passed=$(grep -c "^ok " "$TMP/suite.out" || true)
if ((passed >= AT_LEAST)); then
	ok "at least $AT_LEAST tests pass ($passed)"
else
	not_ok "at least $AT_LEAST tests pass ($passed)"
fi
finish
