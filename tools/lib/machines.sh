# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Machines that run scripts of tools/test for a stage of tools/check, and scripts that
# run once more. $logs is the folder of the run, $stage the stage. $logs/STAGE.again gets
# a line "KERNEL SCRIPT..." for each machine that is to run again.
# shellcheck disable=SC2154 # top, cache, logs, stage, only: of tools/check

test_packages=(build-essential libibverbs-dev librdmacm-dev libibumad-dev perftest
	rdmacm-utils ibverbs-utils ibverbs-providers rdma-core iproute2 iperf3
	ethtool nftables tcpdump tshark python3 python3-scapy python3-pyverbs
	procps psmisc infiniband-diags prometheus-node-exporter nvme-cli fio qperf
	ucx-utils libfabric-bin)

install_test_programs() {
	install_packages "${test_packages[@]}"
	flock "$cache/test-programs.lock" make -s -C "$top/tools/test" >&2 || die "tools/test does not build"
}

# in_machine OUTPUT KERNEL[+OPTION] SCRIPT...: the option is for the kernel's command line,
# or possible_cpus=N: from Linux 6.9 on, these are no more than an emulated machine has.
in_machine() {
	local output=$1 kernel=${2%%+*} option cpus machine='' ceiling memory=()

	option=$(cut -s -d+ -f2- <<<"$2")
	if [[ $option == possible_cpus=* ]]; then
		cpus=${option#*=}
		machine="-smp cpus=$cpus,sockets=$cpus,maxcpus=$cpus"
		option=maxcpus=2
	fi
	shift 2
	ceiling=$("$top/tools/test/runner" --ceiling "$@")
	# It has 65,536 QPs.
	[[ " $* " != *" soak/crowd.sh "* ]] || memory=(--mem 6G)
	ROCE_VM_QEMU="${ROCE_VM_QEMU:-} $machine" ROCE_VM_APPEND="${ROCE_VM_APPEND:-} $option" \
		"$top/tools/vm/run" --kernel "$kernel" "${memory[@]}" --time "$ceiling" -- \
		"$top/tools/test/runner" "${@/#/$top/tools/test/}" 2>&1 | tee "$output"
	return "${PIPESTATUS[0]}"
}

# What the kernel says is final: nothing of such a machine runs again.
kernel_complained() { grep -qE '^vm: kernel splat|^# [^ ]*: complaint in ' "$1"; }

# machine_was_lost OUTPUT STATUS: it did not boot, or stopped answering.
machine_was_lost() { [ "$2" -eq 125 ] && ! kernel_complained "$1"; }

ended() { grep -qE "^# $2: (passed|failed|complaint) in " "$1"; } # OUTPUT SCRIPT
failed() { grep -q "^# $2: failed in " "$1"; }

# deserves_repetition OUTPUT KERNEL SCRIPT...: those that failed, a machine each, and those
# that the machine did not come to, in one
deserves_repetition() {
	local output=$1 kernel=$2 script lost=()
	shift 2

	! kernel_complained "$output" || return 0
	for script; do
		if failed "$output" "$script"; then
			echo "$kernel $script"
		elif ! ended "$output" "$script"; then
			lost+=("$script")
		fi
	done
	[ ${#lost[@]} -eq 0 ] || echo "$kernel ${lost[*]}"
}

# counts <OUTPUT: the output without the scripts that were run again
counts() {
	local again

	again=" $(cut -s -d' ' -f2- "$logs/$stage.again" 2>/dev/null | tr '\n' ' ') "
	awk -v again="$again" '
		/^# once more/ { again = "" }
		/^# script / { skip = index(again, " " $3 " ") }
		!skip
		/^# [^ ]*: [a-z]+ in [0-9]+ s$/ { skip = 0 }'
}

# conclude OUTPUT STATUS RESULTS SCRIPT...: what these scripts have not said themselves, and
# the plan, with so many results of theirs; fails if something was missing
conclude() {
	local output=$1 status=$2 results=$3 script rows=()
	shift 3

	for script; do
		ended "$output" "$script" || rows+=("not ok - $script: did not come to its end")
	done
	if grep -q '^vm: kernel splat' "$output" ||
		{ [ "$status" -ne 0 ] && [ ${#rows[@]} -eq 0 ] && ! grep -q '^not ok ' "$output"; }; then
		rows+=("not ok - the machine of $stage: exit status $status")
	fi
	[ ${#rows[@]} -eq 0 ] || printf '%s\n' "${rows[@]}"
	echo "1..$((results + ${#rows[@]}))"
	[ ${#rows[@]} -eq 0 ]
}

count_results() { grep -cE '^(not )?ok '; }

# run_scripts KERNEL SCRIPT...: in one machine; if $only names one of them, that one alone
run_scripts() {
	local kernel=$1 output=$logs/$stage.$1 status=0 script finals=()
	shift

	[[ -z $only || " $* " != *" $only "* ]] || set -- "$only"
	install_test_programs
	in_machine "$output" "$kernel" "$@" || status=$?
	deserves_repetition "$output" "$kernel" "$@" >>"$logs/$stage.again"
	for script; do
		grep -qE " $script( |$)" "$logs/$stage.again" || finals+=("$script")
	done
	[ ! -s "$logs/$stage.again" ] || status=0
	conclude "$output" "$status" "$(counts <"$output" | count_results)" "${finals[@]}"
}

# run_again KERNEL SCRIPT...: alone, in a fresh machine. What counts is this time.
run_again() {
	local kernel=$1 output status=0
	shift

	output=$(mktemp "$logs/$stage.again-XXXX")
	echo "# once more, alone: $* on $kernel"
	in_machine "$output" "$kernel" "$@" || status=$?
	conclude "$output" "$status" "$(count_results <"$output")" "$@" || status=1
	[ $status -ne 0 ] || echo "$* on $kernel" >>"$logs/flaky"
}
