# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What every test script of this directory is made of. A script sources it,
# builds a little network, adds links and makes assertions:
#
#	. "$(dirname "$0")/../lib.sh"
#	ns_pair
#	link_pair
#	check "a write arrives" integrity_pair --ops write
#	finish
#
# stdout is TAP: "ok - name", "not ok - name", "ok - name # SKIP reason", "1..N" at
# the end; everything else is a "# " line. The exit status is 0 only when no
# assertion failed. A script defines no function that has the name of one in lib/. With
# the argument "long" it does more of what repeats: "SCRIPT:long" for tools/test/runner.
#
# Variables a caller may set:
#	LINK_TYPE_A, LINK_TYPE_B	link types of the two sides (roce)
#	MTU				MTU of the veth pair (1500)
#	TEARDOWNS			how often each end of a device comes (1; long 50, 5 with lockdep)
#	ROCE_SEED			of what is random (of the clock; it is printed)

set -euo pipefail
# A command that fails inside of $(...) ends it, as it ends any other subshell.
shopt -s inherit_errexit

TEST_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$TEST_DIR/build
LINK_TYPE_A=${LINK_TYPE_A:-roce}
LINK_TYPE_B=${LINK_TYPE_B:-roce}
MTU=${MTU:-1500}
# An emulated kernel that checks everything is that much slower.
SLOWNESS=1
[[ ! -e /proc/lockdep ]] || SLOWNESS=3
# A busy host may stop an emulated CPU for longer than the retries of a QP with the usual
# timeout of 67 ms last.
PATIENT_QP=(--timeout 17)
LONG=''
[[ ${1:-} != long ]] || LONG=yes

# long NUMBER NUMBER-WITH-LOCKDEP ELSE: how much of something
long()
{
	if [[ -z $LONG ]]; then
		echo "$3"
	elif ((SLOWNESS > 1)); then
		echo "$2"
	else
		echo "$1"
	fi
}

: "${TEARDOWNS:=$(long 50 5 1)}"
: "${ROCE_SEED:=$EPOCHSECONDS}"

TMP=$(mktemp -d /tmp/roce-test.XXXXXX)

# shellcheck source=lib/processes.sh
. "$TEST_DIR/lib/processes.sh"
# shellcheck source=lib/tap.sh
. "$TEST_DIR/lib/tap.sh"
# shellcheck source=lib/hosts.sh
. "$TEST_DIR/lib/hosts.sh"
# shellcheck source=lib/counts.sh
. "$TEST_DIR/lib/counts.sh"
# shellcheck source=lib/tracing.sh
. "$TEST_DIR/lib/tracing.sh"
# shellcheck source=lib/faults.sh
. "$TEST_DIR/lib/faults.sh"
# shellcheck source=lib/traffic.sh
. "$TEST_DIR/lib/traffic.sh"

unload_module()
{
	module_loaded "$1" || return 0
	timeout "$PATIENCE" modprobe -r "$1" >"$TMP/rmmod.out" 2>&1 ||
		not_ok "$1 unloads after the test" "$(<"$TMP/rmmod.out")" \
			"$(rdma resource show 2>&1)" "$(lsmod | grep "$1")"
}

# Whatever a test did, the module must let go of everything and unload. A script that
# changes more of the system than links and namespaces defines put_back, too.
cleanup()
{
	local status=$? link ns

	# A child that is killed before it has dropped our traps comes here, too.
	[[ $BASHPID == "$$" ]] || exit "$status"
	trap - EXIT
	set +e
	# shellcheck disable=SC2046 # one process a word
	kill $(jobs -p) 2>/dev/null
	for link in "${!LINKS[@]}"; do
		in_ns "${LINKS[$link]}" rdma link delete "$link" 2>/dev/null
	done
	for ns in "${NAMESPACES[@]}"; do
		ip netns del "$ns" 2>/dev/null
	done
	! declare -F put_back >/dev/null || put_back
	unload_module roce
	unload_module rdma_rxe
	print_plan
	rm -rf "$TMP"
	((status != 0 || FAILED == 0)) || status=1
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
