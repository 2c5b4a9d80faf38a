# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The script of Documentation/ci.md, but for what apt-get installs; to be sourced.

sudo() { [ "$1" = apt-get ] || "$@"; }
ci_script() { eval "$(sed -n 's/^    //p' Documentation/ci.md)"; }

# Two assertions; the link stays.
check_ci_script() {
	check "the script for CI has at most ten lines" \
		test "$(grep -c '^    ' Documentation/ci.md)" -le 10
	has "the script for CI prints a GID of RoCE v2" \
		'GID\[ *[0-9]+\]:.*::ffff:192\.0\.2\.1, RoCE v2' "$(ci_script 2>&1)"
}
