# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The tests of the packages on an installed host; to be sourced. They print TAP with the
# library of tools/test. A script says its plan first and ends by finish.
set -uo pipefail

library=$(dirname "${BASH_SOURCE[0]}")/../../test/lib
TMP=$(mktemp -d)
# shellcheck source=../../test/lib/processes.sh
. "$library/processes.sh"
# shellcheck source=../../test/lib/tap.sh
. "$library/tap.sh"

# has NAME REGEX TEXT: an assertion that a line of the text matches
has() {
	if grep -qE -- "$2" <<<"$3"; then ok "$1"; else not_ok "$1" "nothing matches $2 in:" "$3"; fi
}

end_test() {
	local status=$?

	rm -rf "$TMP"
	[ -n "$FINISHED" ] || exit $((status ? status : 1))
	exit $((FAILED > 0))
}
trap end_test EXIT
