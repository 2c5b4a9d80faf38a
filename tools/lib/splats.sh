# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What a kernel complains of in its log; to be sourced, for show_splats behind common.sh.

splat_patterns=$(dirname "${BASH_SOURCE[0]}")/../vm/splat.regex

# splats GREP-OPTION... [LOG]: grep for the lines that are complaints. What ends early, as -q
# and -m do, reads no pipe: under pipefail, who writes to that fails then.
splats() { LC_ALL=C grep -aE -f "$splat_patterns" "$@"; }

# show_splats WHO LOG: from the line above the first one, as far as a trace usually goes
show_splats() {
	local first

	first=$(splats -n -m 1 "$2" | cut -d: -f1)
	say "$1: kernel splat ($(splats -c "$2") lines match; the first, from line $first of its log):"
	sed -n "$((first > 1 ? first - 1 : 1)),$((first + 70))p" "$2" >&2
}
