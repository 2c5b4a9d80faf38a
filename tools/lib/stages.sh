# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The stages of tools/check: what each does, and which belong together. A stage prints TAP
# lines, with their plan behind them; run_scripts does so for scripts of tools/test.
# shellcheck disable=SC2034,SC2154 # what tools/check reads, and what it sets

# make test
gate=(heart lint build kunit dcqcn)

# make check, with "counters" behind them
all=("${gate[@]}" kernels controls matrix simulator lab stock debug-verbs debug-hostile
	debug-teardown interop networks transport operation packages ubuntu-24.04)

# make soak, which takes a day
soak=("${all[@]}" mutants long-debug long-next suites ucx fabtests releases rest-debug
	next-debug rest-stock race-control races kunit-s390x ubuntu ubuntu-ga ubuntu-5.15 hosts)

# Their results are told apart from those about the driver's behaviour.
counted_apart=" lint build kernels controls matrix simulator packages mutants race-control counters "

# FLAVOUR [VARIABLE=VALUE]: the compiler and sparse have nothing to say.
build_row() {
	local name=$1${2:+ $2} kernel log status=0

	log=$logs/build-${name// /-}.log
	kernel=$("$top/tools/vm/kernel" "$1") || { result "build for $name" 1; return; }
	env "${@:2}" "$top/tools/vm/module" --check "$1" "$kernel" >"$log" 2>&1 || status=1
	result "build for $name ($(cut -d. -f1,2 "$kernel/release")), W=1 and sparse" $status "$log"
}

# NAME...: of the folder integration
integration() { printf 'integration/%s.sh\n' "$@"; }

# NAME...: the scripts of the folder integration other than these
integration_but() {
	local script name

	for script in "$top"/tools/test/integration/*.sh; do
		name=$(basename "$script" .sh)
		[[ " $* " == *" $name "* ]] || integration "$name"
	done
}

# FOLDER: all of its scripts
all_of() { (cd "$top/tools/test" && printf '%s\n' "$1"/*.sh); }

# --- The gate --------------------------------------------------------------------

run_lint() { "$top/tools/lint"; }

run_build() {
	echo 1..2
	build_row stock
	build_row kunit KUNIT=1
}

# kunit_on NAME [KERNEL]: the suites' lines would count beside their cases: only the cases,
# with that name and the suite's.
kunit_on() {
	local name=$1 ktap=$logs/$1.ktap status=0

	"$top/tools/kunit" "${@:2}" >"$ktap" 2>&1 || status=$?
	if machine_was_lost "$ktap" "$status"; then
		sed 's/^/# /' "$ktap"
		echo "# once more, for the machine was lost"
		status=0
		"$top/tools/kunit" "${@:2}" >"$ktap" 2>&1 || status=$?
		[ $status -ne 0 ] || echo "the machine of $name" >>"$logs/flaky"
	fi
	sed 's/^/# /' "$ktap"
	awk -v name="$name" '
	     /^    # Subtest: /  { suite = $3 }
	     /^    1\.\.[0-9]+$/ { planned += substr($1, 4) }
	     /^    (not )?ok [0-9]+ / {
		result = $1 == "not" ? "not ok" : "ok"
		sub(/^    (not )?ok [0-9]+ (- )?/, "")
		print result " - " name " " suite " " $0
	     }
	     END { print "1.." planned + 0 }' "$ktap"
	if kernel_complained "$ktap"; then
		printf '%s\n' "not ok - $name: kernel splat" 1..1
	fi
	return $status
}
run_kunit() { kunit_on kunit; }

# The arithmetic of congestion control
run_dcqcn() {
	install_packages build-essential
	make -s -C "$top/tools/sim" BUILD="$logs/dcqcn" model
}

# The heart of the integration, on the packaged kernel
heart=(smoke/smoke.sh integration/{traffic,vlan,loss,marks,counters,wire,hostile,verbs,teardown}.sh)
run_heart() { ROCE_SEED=1 run_scripts stock "${heart[@]}"; }

# --- make check ------------------------------------------------------------------

run_kernels() {
	local flavour flavours=(stock kunit debug next)

	for flavour in "${flavours[@]}"; do
		"$top/tools/vm/kernel" "$flavour" >/dev/null
		result "kernel $flavour" $?
	done
	echo "1..${#flavours[@]}"
}

# Do the machine and the harness see what they are there for?
run_controls() {
	local status=0

	"$top/tools/vm/selftest" || status=1
	"$top/tools/test/controls/run" debug || status=1
	"$top/tools/test/controls/run" kunit || status=1
	return $status
}

run_matrix() {
	echo 1..2
	build_row debug
	build_row next
}

run_simulator() {
	install_packages build-essential
	echo 1..1
	make -s -C "$top/tools/sim" BUILD="$logs/sim" check >"$logs/simulator.make" 2>&1
	result "DCQCN is fair in the simulator, and its equilibrium is that of its cycles" $? "$logs/simulator.make"
	make -s -C "$top/tools/sim" BUILD="$logs/sim" check-fabric
}

# Behaviour in time, where time is exact
run_lab() { "$top/tools/lab/check"; }

# Where the scripts of the folder integration run: with KASAN and lockdep what touches
# most of the driver or attacks it, and nearly everything on next.
on_stock=(pyverbs loss counters memory)
on_debug=(verbs nvmeof odp hostile teardown faults)
networks=(base_devices containers exclusive identity ipv4_only link link_local local_users mtu netdevs network router
	stacks vlan vrf vxlan)
transport=(crowd distance gro integrity marks multicast odp queues reorder steering switches traffic train_receive wire)
only_in_soak=(selective storm)

# shellcheck disable=SC2046 # names without blanks, here and below
run_stock() {
	local status=0

	run_scripts stock $(integration pyverbs odp) || status=1
	run_scripts stock+ipv6.disable=1 $(integration ipv4_only) || status=1
	run_scripts stock+possible_cpus=128 integration/memory.sh:128 || status=1
	return $status
}
# shellcheck disable=SC2046
run_debug_verbs() {
	"$top/tools/test/exporter/build" debug || return
	run_scripts debug $(integration verbs nvmeof odp) exporter/exporter.sh
}
# shellcheck disable=SC2046
run_debug_hostile() { run_scripts debug $(integration hostile); }
# shellcheck disable=SC2046
run_debug_teardown() { run_scripts debug $(integration teardown faults); }
run_interop() { run_scripts next interop/rxe.sh:{asks,serves}; }
# shellcheck disable=SC2046
run_networks() { run_scripts next $(integration "${networks[@]}"); }
# shellcheck disable=SC2046
run_transport() { run_scripts next $(integration "${transport[@]}"); }
# shellcheck disable=SC2046
run_operation() {
	run_scripts next $(integration_but "${networks[@]}" "${transport[@]}" \
		"${on_debug[@]}" "${on_stock[@]}" "${only_in_soak[@]}")
}

# What they are made of, whatever host they are for
run_packages() { "$top/tools/package/test/build"; }

# ... and on an installed host. The rows of the table of hosts are kept beside the full
# output: a stage does not change the tree that others run on.
run_ubuntu_24.04() { "$top/tools/package/check" --rows "$logs/rows" ubuntu-24.04; }

# What all stages together have said: has an assertion seen each counter grow?
run_counters() {
	echo 1..1
	"$top/tools/test/unmoved" "$@"
}

# --- make soak: hours each -------------------------------------------------------

run_mutants() { "$top/tools/test/mutants/run"; }

# Emulated, an hour of a real CPU is a day with KASAN and lockdep: there, what
# attacks the driver.
run_long_debug() {
	run_scripts debug integration/{hostile,faults,storm}.sh:long soak/{load,teardown}.sh
}

# shellcheck disable=SC2046
run_long_next() {
	run_scripts next $(all_of soak) integration/{faults,hostile,storm,switches}.sh:long \
		$(integration "${only_in_soak[@]}")
}

# Suites of others, over roce and over rdma_rxe: MPI, rsockets, Ceph, storage, SMC-R and RDS
suite_packages=(openmpi-bin mpich netpipe-openmpi netpipe-mpich2 netpipe-tcp scalapack-mpi-test
	scalapack-test-common iperf socat open-iscsi ksmbd-tools cifs-utils ceph-mon ceph-osd)

run_suites() {
	local status=0

	install_packages "${suite_packages[@]}"
	run_scripts next suites/{mpi,sockets,ceph}.sh || status=1
	run_scripts ubuntu suites/storage.sh || status=1
	"$top/tools/test/machines/run" || status=1
	LAB=smb "$top/tools/lab/run" --native -- "$top/tools/test/suites/smb.sh" || status=1
	return $status
}

# Those that are built from their source take hours. Each page of a program in the
# laboratory may be a mapping of this host's.
run_ucx() {
	local script status=0

	"$top/tools/test/suites/build-ucx" || return 1
	sysctl -q vm.max_map_count=1000000
	for script in ucx ucp; do
		LAB_APPEND=mem=6G ROCE_CEILING=7200 "$top/tools/lab/run" --native --time 14400 -- \
			"$top/tools/test/suites/$script.sh" || status=1
	done
	return $status
}

run_fabtests() {
	local root

	root=$("$top/tools/test/suites/build-fabtests") || return 1
	ROCE_CEILING=7200 "$top/tools/vm/run" --kernel next --mem 8G --time 7200 -- \
		"$top/tools/test/in_root" "$root" "$top/tools/test/suites/fabtests.sh" roce
}

# The programs of other releases, and the newest of rdma-core's own tests
run_releases() {
	local status=0 root

	"$top/tools/test/releases" || status=1
	root=$("$top/tools/vm/root" debian-sid python3-pyverbs) || return 1
	"$top/tools/vm/run" --kernel next -- "$top/tools/test/in_root" "$root" \
		"$top/tools/test/suites/pyverbs.sh" || status=1
	return $status
}

# What make check does not run on a kernel
# shellcheck disable=SC2046
run_rest_debug() { run_scripts debug $(integration_but "${on_debug[@]}"); }

# shellcheck disable=SC2046
run_next_debug() { run_scripts next-debug $(all_of integration); }

# shellcheck disable=SC2046
run_rest_stock() { run_scripts stock $(all_of integration); }

# KCSAN's watchpoints delay everything: those that use most of the driver, or let its
# objects come and go meanwhile.
on_kcsan=(link verbs odp traffic loss teardown hostile operators contention storm exclusive)

# shellcheck disable=SC2046
run_races() { run_scripts kcsan $(integration "${on_kcsan[@]}"); }

run_race_control() {
	"$top/tools/test/race/run" >"$logs/race-control.log" 2>&1
	result "KCSAN reports a race that is there" $? "$logs/race-control.log"
	echo 1..1
}

# On a big-endian machine
run_kunit_s390x() { kunit_on kunit-s390x s390x; }

run_ubuntu() { run_scripts ubuntu smoke/smoke.sh; }
run_ubuntu_ga() { run_scripts ubuntu-ga smoke/smoke.sh; }
run_ubuntu_5.15() { run_scripts ubuntu-5.15 smoke/smoke.sh; }

# Other hosts, and kernels that the packages are only built for
run_hosts() {
	local status=0 arguments

	while read -ra arguments; do
		"$top/tools/package/check" --rows "$logs/rows" "${arguments[@]}" </dev/null || status=1
	done <<-END
		ubuntu-24.04 hwe
		ubuntu-22.04 ga
		ubuntu-22.04 hwe
		ubuntu-26.04 ga
		debian-12 ga
		debian-13 ga
		--build ubuntu-22.04 5.17.0-1035-oem
		--build ubuntu-22.04 5.19.0-50-generic
		--build ubuntu-22.04 6.0.0-1021-oem
		--ci ubuntu-24.04 azure
		--build ubuntu-24.04 aws
		--build ubuntu-24.04 generic-6.11
		--build ubuntu-24.04 generic-6.14
		--build ubuntu-24.04 generic-6.17
	END
	return $status
}
