# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Suites of others, over roce and beside it over rdma_rxe; after lib.sh and switch.sh. The
# arguments of a script are the drivers, both if there are none. It defines over_driver,
# which calls suite for each program:
#
#	known "rxe: libfabric, NetPIPE" "what it prints" "why, for the table"
#	hosts_new 4			# or ENDS=(...)
#	beside "$@"
#
# The lines that begin with "# row" are a table of Documentation/compatibility.md.

declare -A ERRORS=() REASONS=() OUTCOMES=() LEFT_OUT=()
declare -a PROGRAMS=()
declare -a ENDS=()	# "NAME NETDEV [NAMESPACE]" of each link

# known "DRIVER: PROGRAM" ERROR REASON: this fails, and ERROR is in its output
known()
{
	ERRORS[$1]=$2
	REASONS[$1]=$3
}

# left_out "DRIVER: PROGRAM" REASON: not even to be tried
left_out()
{
	LEFT_OUT[$1]=yes
	REASONS[$1]=$2
}

host_name() { echo "roce-test-$1"; }
host_address() { echo "10.99.0.$1"; }

# hosts_new COUNT: at one switch; the netdev of each is "port"
hosts_new()
{
	local i

	switch_new
	for ((i = 1; i <= $1; i++)); do
		host "$(host_name "$i")" port "p$i" "$(host_address "$i")"
		# A link has the name of its host.
		ENDS+=("$(host_name "$i") port $(host_name "$i")")
	done
}

# links_new: all of them, with their GIDs in the same places
links_new()
{
	local end name netdev ns gids=''

	for end in "${ENDS[@]}"; do
		read -r name netdev ns <<<"$end"
		link_add "$name" "$DRIVER" "$netdev" "$ns" || die "no link of $DRIVER"
		[[ ${gids:-$GID4} == "$GID4" ]] || die "the hosts have GIDs in different places"
		gids=$GID4
	done
}

links_del()
{
	local link

	for link in "${!LINKS[@]}"; do
		link_del "$link"
	done
}

# was_rdma: rdma_has_moved, where the driver counts WRITEs and READs
was_rdma() { [[ $DRIVER != roce ]] || rdma_has_moved; }

# suite PROGRAM COMMAND...: it succeeds, or fails as is known. If "yes" is not all that can
# be said of its success, it says so in $TMP/outcome.
suite()
{
	local program=$1 error=${ERRORS["$DRIVER: $1"]:-} before=$FAILED outcome
	shift

	[[ -n ${OUTCOMES["$program"]:-} ]] || PROGRAMS+=("$program")
	echo yes >"$TMP/outcome"
	if [[ -n ${LEFT_OUT["$DRIVER: $program"]:-} ]]; then
		outcome="not run"
	elif [[ -z $error ]]; then
		check "$DRIVER: $program" "$@"
		outcome=$(<"$TMP/outcome")
	else
		outcome=no
		refuse "$DRIVER: $program fails as is known" "$error" "$@"
	fi
	((FAILED == before)) || outcome="not as expected"
	OUTCOMES[$program]+=" $outcome |"
}

# table_row PROGRAM DRIVER...
table_row()
{
	local program=$1 reason=
	shift

	for DRIVER; do
		reason=${REASONS["$DRIVER: $program"]:-$reason}
	done
	note "row | $program |${OUTCOMES[$program]}${reason:+ $reason} |"
}

# beside [DRIVER...]
beside()
{
	local program

	[[ $# -gt 0 ]] || set -- roce rxe
	for DRIVER; do
		links_new
		over_driver
		links_del
	done
	for program in "${PROGRAMS[@]}"; do
		table_row "$program" "$@"
	done
}
