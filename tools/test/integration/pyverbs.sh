#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# rdma-core's own test suite, as Debian packages it with pyverbs: no test fails,
# and what is skipped is what nothing here could run. Documentation/
# compatibility.md explains the reasons.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

SUITE=/usr/share/doc/rdma-core/tests
AT_LEAST=107

# Some regions want huge pages.
[[ ! -w /proc/sys/vm/nr_hugepages ]] || echo 16 >/proc/sys/vm/nr_hugepages

ns_pair
link_pair

# Packaged documentation is compressed, Python files included.
[[ -d $SUITE ]] || die "no $SUITE: install python3-pyverbs"
cp -r "$SUITE" "$TMP/tests"
find "$TMP/tests" -name '*.gz' -exec gunzip {} +

cd "$TMP"
run_limited a /usr/bin/python3 tests/run_tests.py --dev "$DEV_A" \
	--gid "$GID4_A" -v >"$TMP/suite.out" 2>&1

while read -r failed; do
	not_ok "$failed"
done < <(sed -n 's/^\(ERROR\|FAIL\): //p' "$TMP/suite.out")
if ((FAILED)); then
	sed -n '/^=====/,$p' "$TMP/suite.out" | diag
fi
ran=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$TMP/suite.out")
skipped=$(sed -n 's/^\(OK\|FAILED\) .*skipped=\([0-9]*\).*/\2/p' "$TMP/suite.out")
if [[ -n $ran && -n $skipped ]]; then
	ok "the suite runs to its end"
else
	not_ok "the suite runs to its end" "exit status $RC" "$(tail -20 "$TMP/suite.out")"
fi
passed=$((ran - skipped - FAILED))
if ((passed >= AT_LEAST)); then
	ok "at least $AT_LEAST tests pass ($passed)"
else
	not_ok "at least $AT_LEAST tests pass ($passed)"
fi
note "skipped, by reason:"
sed -n "s/.*\.\.\. skipped ['\"]\(.*\)['\"]\$/\1/p" "$TMP/suite.out" | sort |
	uniq -c | sort -rn | diag
finish
