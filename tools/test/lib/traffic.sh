# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Traffic: our programs and others, two sides of a connection, what is done to a device
# meanwhile. Part of lib.sh.

# A compiler is slow in an emulated machine, and so is make: only if need be.
built()
{
	local program source programs oldest

	[[ $(<"$TEST_DIR/Makefile") =~ PROGRAMS\ :=\ ([^$'\n']*) ]]
	read -ra programs <<<"${BASH_REMATCH[1]}"
	oldest=$BUILD/${programs[0]}
	for program in "${programs[@]/#/"$BUILD/"}"; do
		[[ -x $program ]] || return
		[[ ! $program -ot $oldest ]] || oldest=$program
	done
	for source in "$TEST_DIR"/{Makefile,*/*.[ch]}; do
		[[ ! $source -nt $oldest ]] || return
	done
}

# Our own programs: made on demand, usually the harness has done it before.
build()
{
	! built || return 0
	make -s -C "$TEST_DIR" >"$TMP/build.out" 2>&1 ||
		die "make -C tools/test failed" "$(<"$TMP/build.out")"
}

# ready_or_ended PID: there is no more to wait for from that server of a pair
ready_or_ended() { ${READY:-false} "$1" || ended "$1"; }

# one_ended PID PID
one_ended() { ended "$1" || ended "$2"; }

# pair SERVER... -- CLIENT...: the server on side A, the client on side B; both
# must succeed. READY is a function that tells whether the server (its process
# id is the last argument) listens. A client may wait for ever for a server that failed.
pair()
{
	local serve=() rc=0 served=0 pid client

	while [[ $1 != -- ]]; do
		serve+=("$1")
		shift
	done
	shift
	begin "$TMP/server.out" ip netns exec "$NS_A" "${serve[@]}"
	pid=$BEGUN
	wait_for ready_or_ended "$pid" || true
	ip netns exec "$NS_B" "$@" &
	client=$!
	wait_for one_ended "$pid" "$client" || true
	if ended "$pid"; then
		wait "$pid" || served=$?
		((served == 0)) || nap 1
		((served == 0)) || kill -KILL "$client" 2>/dev/null || true
	fi
	wait "$client" || rc=$?
	((rc != 0)) || wait_for ended "$pid" || { echo "the server does not end"; rc=1; }
	# The unshare of Ubuntu 26.04 takes no SIGTERM while it waits.
	((rc == 0)) || kill -KILL "$pid" 2>/dev/null || true
	((served != 0)) || wait "$pid" || served=$?
	((served == 0)) || { echo "server: exit status $served"; rc=1; }
	((rc == 0)) || { echo "--- server's output:"; cat "$TMP/server.out"; }
	return "$rc"
}

# ready_tcp PORT PID: somebody in that process's namespace listens on the port
ready_tcp()
{
	local hex

	printf -v hex ':%04X 0*:0000 0A' "$1"
	[[ $(<"/proc/$2/net/tcp") =~ $hex || $(<"/proc/$2/net/tcp6") =~ $hex ]]
} 2>/dev/null

# ready_cm: somebody listens on a connection manager id. It is shown a moment before
# it can be reached.
ready_cm()
{
	[[ $(rdma resource show cm_id) == *LISTEN* ]] && nap "0.$((2 * SLOWNESS))"
}

# rping_pair ADDRESS COUNT [OPTION...]: side B pings side A over a connection of librdmacm
rping_pair()
{
	local options=(-a "$1" "${@:3}")

	READY=ready_cm pair rping -s -C "$2" -V "${options[@]}" -- \
		"$TEST_DIR/../lib/rping_client" "$2" "${options[@]}"
}

# ready_mckey: the server is in the group
ready_mckey() { grep -q "receiving data" "$TMP/server.out"; }

# integrity_pair [-4|-6] ARGS...: our program that verifies every byte. Side B asks, side
# A serves; how they talk does not depend on the link under test.
integrity_pair()
{
	local ga=$GID4_A gb=$GID4_B places=()

	case ${1:-} in
	-4) shift ;;
	-6) shift; ga=$GID6_A gb=$GID6_B ;;
	esac
	places=(--dev "$DEV_B" --gid "$gb" --peer-dev "$DEV_A" --peer-gid "$ga")
	[[ -z $NS_B ]] || places+=(--netns "$NS_B")
	[[ -z $NS_A ]] || places+=(--peer-netns "$NS_A")
	# A veth leads to the backlog of a CPU: what two of them send may change places. To
	# UC that is a loss, and UD hands it over as it comes.
	[[ ! "$*" =~ --types\ [a-z,]*u ]] || places+=(--cpu 0)
	"$BUILD/integrity" "${places[@]}" --seed "$ROCE_SEED" "${PATIENT_QP[@]}" "$@"
}

# integrity_begin OPTION...: the same as two processes, INTEGRITY_A and INTEGRITY_B, in the
# background. Not in the namespaces: these would live as long as a process in them.
integrity_begin()
{
	rm -f "$TMP/integrity.sock"
	begin "$TMP/integrity.a" "$BUILD/integrity" --dev "$DEV_A" --gid "$GID4_A" \
		--listen "$TMP/integrity.sock"
	# shellcheck disable=SC2034 # INTEGRITY_A, INTEGRITY_B: for the caller
	INTEGRITY_A=$BEGUN
	wait_for test -S "$TMP/integrity.sock"
	begin "$TMP/integrity.b" "$BUILD/integrity" --dev "$DEV_B" --gid "$GID4_B" \
		--connect "$TMP/integrity.sock" "${PATIENT_QP[@]}" "$@"
	# shellcheck disable=SC2034
	INTEGRITY_B=$BEGUN
}

# connect rc|uc|ud [-4|-6]: a connection from side A to side B, which does what
# it is told until hang_up. QPN_A and QPN_B are its ends.
connect()
{
	local service=$1 ga=$GID4_A gb=$GID4_B

	[[ ${2:-} != -6 ]] || ga=$GID6_A gb=$GID6_B
	coproc CONNECTION {
		exec "$BUILD/connection" "$service" "$DEV_A" "$ga" "$DEV_B" "$gb"
	}
	CONNECTION_END=$CONNECTION_PID
	# Those of a coprocess are closed in every subshell.
	exec {CONNECTION_IN}<&"${CONNECTION[0]}" {CONNECTION_OUT}>&"${CONNECTION[1]}"
	eval "exec ${CONNECTION[1]}>&-"
	# shellcheck disable=SC2034 # QPN_A, QPN_B: for the caller
	read -rt "$PATIENCE" -u "$CONNECTION_IN" _ QPN_A QPN_B
}

# move send|write|read COUNT BYTES: over the connection
move()
{
	echo "$*" >&"$CONNECTION_OUT"
	moved
}

# What the connection was told to move has moved.
moved()
{
	local answer

	read -rt "$PATIENCE" -u "$CONNECTION_IN" answer
	expect "the answer of the connection" "done success" "$answer"
}

hang_up()
{
	exec {CONNECTION_OUT}>&- {CONNECTION_IN}<&-
	wait "$CONNECTION_END"
}

# check_services PREFIX: each service over each family; the prefix is that of the
# names of the checks
check_services()
{
	local family

	for family in -4 -6; do
		check "${1}RC: all operations mixed, both directions (IPv${family#-})" \
			integrity_pair $family --ops all --sizes 100,mtu+1,60000 \
			--layouts odd,uneven --qps 2 --flags bidir --count 36
		check "${1}UC: both directions (IPv${family#-})" \
			integrity_pair $family --types uc --ops push --sizes 100,5000 \
			--qps 2 --flags bidir --count 20
		check "${1}UD (IPv${family#-})" \
			integrity_pair $family --types ud --ops send,send_imm \
			--sizes 0,1,mtu-1,mtu --count 20
	done
}

# background_traffic [-4|-6] ARGS...: integrity_pair goes on, as process TRAFFIC, until
# the check ends or what the arguments say. Its QPs retry for more than a second: there
# are seven timeouts of 67 ms, and the later ones are longer.
background_traffic()
{
	local family=-4

	case ${1:-} in
	-4 | -6) family=$1; shift ;;
	esac
	integrity_pair "$family" --ops mix --sizes 5000 --qps 2 --flags bidir \
		--count 10000000 --bytes 4000m --seconds "$(seconds_left)" "$@" >"$TMP/traffic" 2>&1 &
	# shellcheck disable=SC2034 # for the caller
	TRAFFIC=$!
	wait_for traffic_flows
}

# traffic_failed: waits for its end, which has to be an error
traffic_failed()
{
	! wait "$TRAFFIC" || { echo "the traffic did not end with an error"; return 1; }
}

# control FILE [VALUE]: of A's device; reads, or writes. Like counters, the files
# are in the namespace that the device belongs to: the initial one.
control()
{
	local file=/sys/class/infiniband/$DEV_A/cc/$1

	if [[ $# == 1 ]]; then
		cat "$file"
	else
		echo "$2" >"$file"
	fi
}

# look FILE: at what can be seen of the devices, while there is $TMP/watched; a line in
# the file for each time
look()
{
	local kind

	# What it looks at goes.
	set +e
	while [[ -e $TMP/watched ]]; do
		for kind in pd cq qp mr srq cm_id; do
			rdma resource show "$kind" -dd
		done >/dev/null
		rdma statistic show >/dev/null
		grep -rs . "/sys/class/infiniband/$DEV_A/ports" "/sys/class/infiniband/$DEV_A/cc" >/dev/null
		echo "once" >>"$1"
	done 2>/dev/null
}

# watched COMMAND...: while two look
watched()
{
	local watcher watchers=()

	touch "$TMP/watched"
	for watcher in 1 2; do
		look "$TMP/watcher.$watcher" &
		watchers+=($!)
		wait_for test -s "$TMP/watcher.$watcher"
	done
	strictly "$@"
	rm "$TMP/watched"
	for watcher in "${watchers[@]}"; do
		wait "$watcher"
	done
}

# breaks_traffic [-4|-6] COMMAND...: the command, under traffic that cannot survive it.
# The work requests end with the error that says so.
breaks_traffic()
{
	local family=-4

	case $1 in
	-4 | -6) family=$1; shift ;;
	esac
	background_traffic "$family"
	"$@"
	traffic_failed
	found 'transport retry counter exceeded' <"$TMP/traffic" || { cat "$TMP/traffic"; return 1; }
}

# taken_away COMMAND...: the command takes side A's device from its programs. One of
# them, process REMOVED, is told so, cannot use it any more, and lets go of everything.
# It runs in the namespace OWNER_NS, if there is one.
taken_away()
{
	local in=()

	# Not in_ns, whose process would be a shell.
	[[ -z ${OWNER_NS:-} ]] || in=(ip netns exec "$OWNER_NS")
	begin "$TMP/removed" "${in[@]}" "$BUILD/removed" "$DEV_A" "$GID4_A"
	REMOVED=$BEGUN
	wait_for grep -q ready "$TMP/removed"
	"$@"
	wait_for ended "$REMOVED" || { cat "/proc/$REMOVED/stack"; return 1; }
	wait "$REMOVED" || { cat "$TMP/removed"; return 1; }
}

# perftest PROGRAM [-4|-6] ARGS...: the family is that of the GIDs; the two
# sides meet over IPv4.
perftest()
{
	local program=$1 ga=$GID4_A gb=$GID4_B on=()
	shift

	case ${1:-} in
	-4) shift ;;
	-6) shift; ga=$GID6_A gb=$GID6_B ;;
	esac
	set -- -F "${PATIENT_QP[@]/--timeout/-u}" "$@"
	# As in integrity_pair; only who receives waits for all of it.
	[[ "$program $*" != ib_send_bw*"-c UC"* ]] || on=(taskset -c 0)
	READY=${READY:-ready_tcp 18515} pair \
		"${on[@]}" "$program" -d "$DEV_A" -x "$ga" "$@" -- \
		"${on[@]}" "$program" -d "$DEV_B" -x "$gb" "$@" "$IP4_A"
}

# raced PATTERN COMMAND...: of programs whose client may be quicker than its server. One that
# fails and prints PATTERN has lost its race, and runs again, three times at most.
raced()
{
	local pattern=$1 try
	shift

	for try in 1 2 3; do
		attempt "$@" >"$TMP/raced.out" 2>&1
		[[ $RC != 0 && $(<"$TMP/raced.out") == *"$pattern"* ]] || break
		echo "run $try has lost its race"
	done
	cat "$TMP/raced.out"
	return "$RC"
}

# connected_by_cm COMMAND...: of two perftests that rdma_cm connects. They connect twice, and
# the server does not listen in between: a client that is quicker is rejected, and crashes.
connected_by_cm() { READY=ready_cm raced "EVENT_REJECTED; error: 8." may_crash "$@"; }

# same_file MB MOUNT EXPORT: what a client writes is on the server, and is read back by the
# client, which has forgotten its cache
same_file()
{
	dd if=/dev/urandom of="$TMP/data" bs=1M count="$1" status=none
	cp "$TMP/data" "$2/file"
	sync -f "$2/file"
	cmp "$TMP/data" "$3/file"
	echo 1 >/proc/sys/vm/drop_caches
	cmp "$TMP/data" "$2/file"
}
