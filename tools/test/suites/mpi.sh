#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# mpi.sh [DRIVER...]: Open MPI and MPICH: the BLACS tester with 8 ranks on 4 hosts; NetPIPE
# with 2, which hangs with 8, even in the memory of one host.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
MTU=4200
# shellcheck source=../switch.sh
. "$TEST_DIR/switch.sh"
# shellcheck source=../beside.sh
. "$TEST_DIR/beside.sh"

SCALAPACK=/usr/lib/x86_64-linux-gnu/scalapack
# Where so many ranks are
declare -A PLACES=(
	[2]="10.99.0.1:1,10.99.0.2:1"
	[8]="10.99.0.1:2,10.99.0.2:2,10.99.0.3:2,10.99.0.4:2")

# Like ssh; the last number of an address is that of the host. Each host has its own files.
cat >"$TMP/ssh" <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
number=\${1##*.}
shift
export TMPDIR=$TMP/host-\$number
mkdir -p "\$TMPDIR"
exec ip netns exec "roce-test-\$number" sh -c "\$*"
END

# rank GID [VARIABLE=VALUE...] PROGRAM...: uses the device of its host
cat >"$TMP/rank" <<'END'
#!/bin/sh
export UCX_IB_GID_INDEX="$1" UCX_NET_DEVICES="$(ip netns identify $$):1"
shift
exec env "$@"
END
chmod +x "$TMP/ssh" "$TMP/rank"

# on_first COMMAND...: in the folder for the output of programs
on_first() { (cd "$TMP/work" && "$TMP/ssh" 10.99.0.1 "$(printf '%q ' "$@")"); }

# openmpi RANKS [VARIABLE=VALUE...] PROGRAM...
openmpi()
{
	on_first env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		mpirun.openmpi --mca plm_rsh_agent "$TMP/ssh" --mca mpi_yield_when_idle 1 \
		--bind-to none --host "${PLACES[$1]}" -np "$1" "${MPI_OPTIONS[@]}" \
		"$TMP/rank" "$GID4" "${@:2}"
}

# mpich RANKS [VARIABLE=VALUE...] PROGRAM...
mpich()
{
	on_first mpirun.mpich -launcher ssh -launcher-exec "$TMP/ssh" -iface port \
		-hosts "${PLACES[$1]}" -np "$1" "$TMP/rank" "$GID4" "${@:2}"
}

# mpi openmpi|mpich RANKS PROGRAM...: over the transport of $TRANSPORT
mpi()
{
	rm -rf "$TMP/work"
	cp -r "$TMP/inputs" "$TMP/work"
	attempt "$1" "$2" "${TRANSPORT[@]}" "${@:3}" >"$TMP/mpi.out" 2>&1
	[[ $RC == 0 ]] && return
	# Not what addresses a rank that crashed was at
	grep -v '^#[0-9]' "$TMP/mpi.out" | tail -30
	echo "exit status $RC"
	return 1
}

# netpipe MPI PROGRAM: it verifies the bytes of messages of up to 1 MiB
netpipe()
{
	mpi "$1" 2 "$2" -i -n 10 -u 1100000 -o netpipe.out
	expect "sizes with the right bytes" 37 "$(grep -c 'Integrity check passed' "$TMP/mpi.out")"
}

# blacs MPI: as many tests pass as in the memory of one host, and none fails
blacs()
{
	mpi "$1" 8 "$SCALAPACK/$1-tests/xFbtest"
	expect "passed and failed" "1364 0" \
		"$(awk '/ FAILED/ { passed += $(NF - 5); failed += $(NF - 1) } END { print passed, failed }' "$TMP/mpi.out")"
}

# openmpi_over NAME [VARIABLE=VALUE...]
openmpi_over()
{
	local name="Open MPI, $1"
	TRANSPORT=("${@:2}")

	suite "$name: NetPIPE" netpipe openmpi NPopenmpi
	suite "$name: BLACS tester" blacs openmpi
}

# mpich_over NAME [VARIABLE=VALUE...]
mpich_over()
{
	local name="MPICH, $1"
	TRANSPORT=("${@:2}")

	suite "$name: NetPIPE" netpipe mpich NPmpich2
	suite "$name: BLACS tester" blacs mpich
}

over_driver()
{
	local service ucx

	MPI_OPTIONS=(--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "verbs;ofi_rxm")
	openmpi_over "libfabric" FI_VERBS_IFACE=port FI_LOG_LEVEL=warn
	MPI_OPTIONS=(--mca pml ucx)
	for service in rc ud; do
		ucx=("UCX_TLS=$service,self" UCX_UD_VERBS_ETH_DGID_CHECK=n)
		openmpi_over "UCX $service" "${ucx[@]}"
		mpich_over "UCX $service" "${ucx[@]}"
	done
}

# Grids of all ranks, little of each kind, and not the test that ends with an abortion of
# all: ranks of MPICH wait without sleep.
mkdir "$TMP/inputs"
for tests in bt sdrv bsbr comb; do
	sed -e "/Run AUX/s/'T'/'F'/" -e '/NPROW$/s/.*/2 8/' -e '/NPCOL$/s/.*/4 1/' \
		-e '/Number of \(grids\|shapes\|matrices\|topologies\)/s/.*/2/' \
		-e '/Repeatability flag\|Coherence flag/s/.*/0/' \
		"/usr/share/scalapack/BLACS/$tests.dat" >"$TMP/inputs/$tests.dat"
done
for program in NetPIPE "BLACS tester"; do
	known "rxe: Open MPI, libfabric: $program" "Unable to create verbs CQ" \
		"its completion queue is too small"
done
hosts_new 4
beside "$@"
finish
