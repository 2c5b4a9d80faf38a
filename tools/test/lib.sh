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
# stdout is TAP without a plan: "ok - name", "not ok - name", "ok - name # SKIP
# reason"; everything else is a "# " line. The exit status is 0 only when no
# assertion failed.
#
# Variables a caller may set:
#	LINK_TYPE_A, LINK_TYPE_B	link types of the two sides (roce)
#	MTU				MTU of the veth pair (1500)
#	CHECK_TIMEOUT			seconds that one check may take (180; three times that with lockdep)
#	PATIENCE			seconds until what is waited for counts as missing (60)
#	TEARDOWNS			how often each end of a device comes (5; once with lockdep)

set -euo pipefail

TEST_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$TEST_DIR/build
LINK_TYPE_A=${LINK_TYPE_A:-roce}
LINK_TYPE_B=${LINK_TYPE_B:-roce}
MTU=${MTU:-1500}
# What does not hang ends before, on a machine that is busy with other things, too.
: "${CHECK_TIMEOUT:=180}" "${PATIENCE:=60}"
# An emulated kernel that checks everything is that much slower, and may pause
# for longer than the retries of a QP with the usual timeout last.
SLOWNESS=1 SLOW_QP=()
if [[ -e /proc/lockdep ]]; then
	SLOWNESS=3 SLOW_QP=(--timeout 17)
fi
CHECK_TIMEOUT=$((CHECK_TIMEOUT * SLOWNESS))
: "${TEARDOWNS:=$((SLOWNESS > 1 ? 1 : 5))}"

# The network every script talks about: side A and side B.
NS_A=roce-test-a NS_B=roce-test-b
VETH_A=va VETH_B=vb
IP4_A=10.99.0.1 IP4_B=10.99.0.2
IP6_A=fd00:99::1 IP6_B=fd00:99::2
DEV_A=${LINK_TYPE_A}_a DEV_B=${LINK_TYPE_B}_b

TMP=$(mktemp -d /tmp/roce-test.XXXXXX)
FAILED=0

# A process costs up to a second where the CPU is emulated and the kernel checks
# everything: what runs often here does without.
exec {NAP}<> <(:)
nap() { read -rt "$1" -u "$NAP" || true; }
declare -a NAMESPACES=()
declare -A LINKS=()	# name of a link -> its namespace

# --- assertions ----------------------------------------------------------

diag() { sed 's/^/# /'; }

note() { echo "# $*"; }

ok() { echo "ok - $1"; }

# not_ok NAME [DIAGNOSTIC...]
not_ok()
{
	echo "not ok - $1"
	FAILED=$((FAILED + 1))
	shift
	[[ $# == 0 ]] || printf '%s\n' "$@" | diag
}

# A skip is an answer to "can this be tested here", never to "did it work".
skip() { echo "ok - $1 # SKIP $2"; }

# die MESSAGE: the surroundings are broken, nothing can be said about the driver
die()
{
	not_ok "set-up" "$@"
	exit 1
}

# is NAME EXPECTED SEEN: an assertion on two strings
is()
{
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1" "expected: $2" "    seen: $3"
	fi
}

# expect WHAT EXPECTED SEEN: the same inside of a function run by check
expect()
{
	[[ $2 == "$3" ]] && return
	echo "$1: expected '$2', seen '$3'"
	return 1
}

# show_group PGID: the processes of a group and what they wait for
show_group()
{
	ps -eo pgid,pid,stat,wchan:30,args | awk -v g="$1" '$1 == g'
}

# Everything a check started dies with it, so that one failure is one failure.
reap_group()
{
	local pid=$1 i

	kill -TERM -- "-$pid" 2>/dev/null || return 0
	for i in 1 2 3 4 5 6 7 8 9 10; do
		kill -0 -- "-$pid" 2>/dev/null || return 0
		((i != 3)) || kill -KILL -- "-$pid" 2>/dev/null || return 0
		nap 0.3
	done
	# Only the kernel can hold a process that got SIGKILL: say where.
	echo "processes survive SIGKILL:"
	show_group "$pid"
	local p
	for p in $(pgrep -g "$pid"); do
		cat "/proc/$p/stack" 2>/dev/null || true
	done
	return 1
}

# run_limited SECONDS COMMAND...: runs a command or function in a process group
# of its own, with errexit, for a limited time. Its status comes in RC, for bash
# forgets errexit in everything that is called in a condition.
run_limited()
{
	local limit=$1 pid status
	shift

	exec {status}<> <(:)
	set -m
	{ set +me; (set -e; "$@"); echo "$?" >&"$status"; } </dev/null &
	pid=$!
	set +m
	if read -rt "$limit" -u "$status" RC; then
		wait "$pid" || true
	else
		echo "timed out after $limit s: $*"
		show_group "$pid"
		[[ ! -s $TMP/server.out ]] || { echo "--- server's output:"; tail -20 "$TMP/server.out"; }
		RC=124
	fi
	exec {status}>&-
	reap_group "$pid" || RC=1
}

# figure NUMBER WHAT: what a check has done to the driver; tools/check adds up the
# numbers of a kind.
figure() { echo "figure: $*"; }

show_figures()
{
	local line

	while read -r line; do
		[[ $line != "figure: "* ]] || note "$line"
	done <"$TMP/check.out"
}

# check NAME COMMAND...: the command succeeds within CHECK_TIMEOUT
check()
{
	local name=$1 begin=$SECONDS
	shift

	run_limited "$CHECK_TIMEOUT" "$@" >"$TMP/check.out" 2>&1
	if [[ $RC == 0 ]]; then
		ok "$name"
		show_figures
	else
		not_ok "$name"
		echo "# exit status $RC after $((SECONDS - begin)) s: $*"
		tail -n "${CHECK_LINES:-40}" "$TMP/check.out" | diag
	fi
	return 0
}

# refuse NAME ERROR COMMAND...: the command fails and its output has ERROR in it
refuse()
{
	local name=$1 error=$2
	shift 2

	run_limited "$CHECK_TIMEOUT" "$@" >"$TMP/check.out" 2>&1
	if [[ $RC != 0 && $RC != 124 ]] && grep -qiE -- "$error" "$TMP/check.out"; then
		ok "$name"
	else
		not_ok "$name" "expected: failure with '$error'" "    seen: exit status $RC"
		diag <"$TMP/check.out"
	fi
	return 0
}

# The last line of a script.
finish()
{
	((FAILED == 0)) || exit 1
	exit 0
}

# found PATTERN: the input has it. Reads all of it, unlike grep -q, which makes a
# pipe fail when the writer is not done yet.
found()
{
	local input

	input=$(cat)
	grep -qi -- "$1" <<<"$input"
}

# tap_run NAME COMMAND...: a program that prints TAP itself
tap_run()
{
	local name=$1 bad
	shift

	run_limited "$CHECK_TIMEOUT" "$@" >"$TMP/tap.out" 2>"$TMP/tap.err"
	grep -E '^(ok|not ok|#)' "$TMP/tap.out" || true
	grep -vE '^(ok|not ok|#)' "$TMP/tap.out" | diag || true
	diag <"$TMP/tap.err"
	bad=$(grep -c '^not ok' "$TMP/tap.out" || true)
	FAILED=$((FAILED + bad))
	if ! grep -q '^ok' "$TMP/tap.out" || { [[ $RC != 0 ]] && ((bad == 0)); }; then
		not_ok "$name ends by itself" "exit status $RC: $*"
	fi
	return 0
}

# ended PID: the process does not run any more
ended() { ! kill -0 "$1"; }

# wait_for COMMAND...: until the command succeeds
wait_for()
{
	local end=$((SECONDS + PATIENCE))

	until "$@" >/dev/null 2>&1; do
		if ((SECONDS >= end)); then
			echo "waited in vain for: $*"
			return 1
		fi
		nap 0.1
	done
}

# --- namespaces and links ------------------------------------------------

a() { ip netns exec "$NS_A" "$@"; }
b() { ip netns exec "$NS_B" "$@"; }

ns_add()
{
	ip netns add "$1"
	NAMESPACES+=("$1")
	ip -n "$1" link set lo up
}

ns_del()
{
	local ns left=()

	ip netns del "$1"
	for ns in "${NAMESPACES[@]}"; do
		[[ $ns == "$1" ]] || left+=("$ns")
	done
	NAMESPACES=("${left[@]}")
}

# address NS NETDEV IPV4/LEN IPV6/LEN: nodad, for they have to serve at once
address()
{
	ip -n "$1" -batch - <<-END
		link set lo up
		addr add $3 dev $2
		addr add $4 dev $2 nodad
		link set $2 up
	END
}

# ns_pair [QUEUES]: two namespaces with a veth pair, IPv4 and IPv6 addresses. GSO packets
# stay whole on it; single_packets cuts them.
ns_pair()
{
	local queues=${1:+numtxqueues $1 numrxqueues $1}

	NAMESPACES+=("$NS_A" "$NS_B")
	ip -batch - <<-END
		netns add $NS_A
		netns add $NS_B
		link add $VETH_A mtu $MTU $queues netns $NS_A type veth peer name $VETH_B mtu $MTU $queues netns $NS_B
	END
	address "$NS_A" "$VETH_A" "$IP4_A/24" "$IP6_A/64"
	address "$NS_B" "$VETH_B" "$IP4_B/24" "$IP6_B/64"
}

# nic_pair: two namespaces with one NIC of the machine each, instead of the veths
nic_pair()
{
	modprobe virtio_net || true
	wait_for test -e /sys/class/net/eth0 -a -e /sys/class/net/eth1 ||
		die "the machine has no eth0 and eth1"
	VETH_A=eth0 VETH_B=eth1
	NAMESPACES+=("$NS_A" "$NS_B")
	ip -batch - <<-END
		netns add $NS_A
		netns add $NS_B
		link set $VETH_A mtu $MTU netns $NS_A
		link set $VETH_B mtu $MTU netns $NS_B
	END
	address "$NS_A" "$VETH_A" "$IP4_A/24" "$IP6_A/64"
	address "$NS_B" "$VETH_B" "$IP4_B/24" "$IP6_B/64"
}

# vlan_pair ID: a VLAN device on each side, with addresses 10.99.ID.x
vlan_pair()
{
	local id=$1

	ip -n "$NS_A" link add link "$VETH_A" name "$VETH_A.$id" type vlan id "$id"
	ip -n "$NS_B" link add link "$VETH_B" name "$VETH_B.$id" type vlan id "$id"
	address "$NS_A" "$VETH_A.$id" "10.99.$id.1/24" "fd00:$id::1/64"
	address "$NS_B" "$VETH_B.$id" "10.99.$id.2/24" "fd00:$id::2/64"
}

# Single packets from here on: netem, tcpdump and a bad link see each one.
single_packets()
{
	a ethtool -K "$VETH_A" tx-udp-segmentation off gso off tso off >/dev/null
	b ethtool -K "$VETH_B" tx-udp-segmentation off gso off tso off >/dev/null
}

mac() { in_ns "$1" cat "/sys/class/net/$2/address"; }

# know_neighbours: for a link that loses packets. The core waits for a neighbour for
# one second, and asks a second time after one.
know_neighbours()
{
	local mac_a mac_b

	mac_a=$(mac "$NS_A" "$VETH_A") mac_b=$(mac "$NS_B" "$VETH_B")
	ip -n "$NS_A" neigh replace "$IP4_B" lladdr "$mac_b" dev "$VETH_A"
	ip -n "$NS_A" neigh replace "$IP6_B" lladdr "$mac_b" dev "$VETH_A"
	ip -n "$NS_B" neigh replace "$IP4_A" lladdr "$mac_a" dev "$VETH_B"
	ip -n "$NS_B" neigh replace "$IP6_A" lladdr "$mac_a" dev "$VETH_B"
}

# netem NS NETDEV ARGS...: a bad link; without ARGS a good one again
netem()
{
	local ns=$1 dev=$2
	shift 2

	if [[ $# == 0 ]]; then
		ip netns exec "$ns" tc qdisc del dev "$dev" root
	else
		ip netns exec "$ns" tc qdisc replace dev "$dev" root netem limit 10000 "$@"
	fi
}

# class_packets SIDE CLASS...: that each class of the qdisc 1: has sent
class_packets()
{
	local ns=NS_$1 veth=VETH_$1 class
	shift

	ip netns exec "${!ns}" tc -s class show dev "${!veth}" >"$TMP/classes"
	for class in "$@"; do
		awk -v class="1:$class" '$1 == "class" && $3 == class { getline; print $4 }' "$TMP/classes"
	done
}

# class_growth SIDE "CLASS..." COMMAND...: packets that the command makes each class send
class_growth()
{
	local side=$1 classes before after i
	read -ra classes <<<"$2"
	shift 2

	mapfile -t before < <(class_packets "$side" "${classes[@]}")
	"$@" >"$TMP/command.out" || { cat "$TMP/command.out"; return 1; }
	mapfile -t after < <(class_packets "$side" "${classes[@]}")
	((${#before[@]} == ${#classes[@]})) || return
	for i in "${!classes[@]}"; do
		echo $((after[i] - before[i]))
	done
}

# lose NS NETDEV RULE: drop received packets by their opcode, as operators/account.py
# describes it; an empty RULE drops none
lose()
{
	local ns=$1 netdev=$2 opcode modulus remainder

	ip netns exec "$ns" nft flush ruleset
	[[ -n $3 ]] || return 0
	IFS=: read -r opcode modulus remainder <<<"$3"
	# 64 bits behind the UDP header begins the BTH, with its opcode.
	[[ $opcode != '*' ]] || opcode='!= 0x0d-0x12'
	ip netns exec "$ns" nft -f - <<-END
		table netdev loss {
			chain arrived {
				type filter hook ingress device "$netdev" priority 0;
				udp dport 4791 @th,64,8 $opcode numgen inc mod $modulus == $remainder drop
			}
		}
	END
}

# mark NS [NFT-LIMIT]: data that leaves NS over IPv4 is marked as by a congested switch
mark()
{
	ip netns exec "$1" nft -f - <<-END
		table ip congested {
			chain out {
				type filter hook postrouting priority 0;
				udp dport 4791 ip ecn ect0 ${2:-} ip ecn set ce
			}
		}
	END
}
mark_none() { ip netns exec "$1" nft delete table ip congested; }

# capture FILE NS NETDEV [OPTION...]: tcpdump of RoCE packets, in the background,
# until capture_end
declare -a CAPTURES=()
capture()
{
	local file=$1 ns=$2 netdev=$3
	shift 3

	: >"$file.err"
	ip netns exec "$ns" tcpdump -q -n -U -B 16384 -i "$netdev" -w "$file" "$@" \
		'udp port 4791' 2>"$file.err" &
	CAPTURES+=($!)
	wait_for grep -q 'listening on' "$file.err"
}

# The captures are complete: what the kernel has kept is in the files.
capture_end()
{
	nap 1
	kill "${CAPTURES[@]}"
	wait "${CAPTURES[@]}" || true
	CAPTURES=()
}

# in_ns NS COMMAND...: NS may be empty for the initial namespace
in_ns()
{
	local ns=$1
	shift

	if [[ -n $ns ]]; then
		ip netns exec "$ns" "$@"
	else
		"$@"
	fi
}

# link_add NAME TYPE NETDEV NS: adds the link, waits for the GIDs of the netdev's
# addresses, and leaves their indices in GID4 and GID6
link_add()
{
	local name=$1 type=$2 netdev=$3 ns=$4 gids

	LINKS[$name]=$ns
	gids=$(in_ns "$ns" bash -c "$LINK_ADD" link_add "$name" "$type" "$netdev") || {
		echo "# no link $name, or no GIDs: $gids"
		return 1
	}
	# shellcheck disable=SC2034 # GID6: for the caller
	read -r GID4 GID6 <<<"$gids"
}

link_del()
{
	in_ns "${LINKS[$1]}" rdma link delete "$1" || return
	unset "LINKS[$1]"
}

# link_there NAME: the device exists
link_there() { [[ -n $(rdma link show "$1/1" 2>/dev/null) ]]; }
link_gone() { ! link_there "$1"; }

# link_pair: a link on each side
link_pair()
{
	link_add "$DEV_A" "$LINK_TYPE_A" "$VETH_A" "$NS_A" || die "no link on side A"
	GID4_A=$GID4 GID6_A=$GID6
	link_add "$DEV_B" "$LINK_TYPE_B" "$VETH_B" "$NS_B" || die "no link on side B"
	GID4_B=$GID4 GID6_B=$GID6
}

# For a bash in the namespace: find_gid DEVICE 4|6|link [NETDEV] prints the index
# of the first RoCE v2 GID of a family, on a certain netdev if one is given.
# shellcheck disable=SC2016 # expanded by the inner shell
FIND_GID='
find_gid()
{
	local n type gid ndev

	for n in {0..31}; do
		read -r type <"gid_attrs/types/$n" || continue
		read -r gid <"gids/$n" || continue
		[[ $type == "RoCE v2" ]] || continue
		if [[ -n $3 ]]; then
			read -r ndev <"gid_attrs/ndevs/$n" || continue
			[[ $ndev == "$3" ]] || continue
		fi
		case $2:$gid in
		4:0000:0000:0000:0000:0000:ffff:*) ;;
		6:fd*) ;;
		link:fe80:*) ;;
		*) continue ;;
		esac
		echo "$n"
		return
	done 2>/dev/null
	return 1
}
cd "/sys/class/infiniband/$1/ports/1" 2>/dev/null'

# shellcheck disable=SC2016 # expanded by the inner shell
GID_INDEX=$FIND_GID' && find_gid "$@"'

# shellcheck disable=SC2016 # expanded by the inner shell
LINK_ADD='
rdma link add "$1" type "$2" netdev "$3" 2>&1 || exit
exec {nap}<> <(:)
for ((i = 0; i < 60; i++)); do'$FIND_GID' &&
	g4=$(find_gid "$1" 4) && g6=$(find_gid "$1" 6) && break
	read -rt 0.1 -u $nap
done
echo "$g4 $g6"
[[ -n $g4 && -n $g6 ]]'

# gid_index DEVICE NS 4|6|link [NETDEV]
gid_index()
{
	in_ns "$2" bash -c "$GID_INDEX" gid_index "$1" "$3" "${4:-}"
}

# gid DEVICE NS INDEX
gid() { in_ns "$2" cat "/sys/class/infiniband/$1/ports/1/gids/$3"; }

# port_attr DEVICE NS FILE: "state", "rate", ...
port_attr() { in_ns "$2" cat "/sys/class/infiniband/$1/ports/1/$3"; }

# counter DEVICE NAME: a counter lives in the namespace its device belongs to
counter()
{
	local ns

	for ns in "" "${NAMESPACES[@]}"; do
		in_ns "$ns" cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2" 2>/dev/null &&
			return
	done
	echo "no counter $2 on $1"
	return 1
}

# grows DEVICE "NAME=GROWTH..." COMMAND...: the command makes each counter grow by
# so much; + is by any amount
grows()
{
	local device=$1 growth=$2 before now word seen
	shift 2

	before=$(counters "$device")
	"$@" || return
	nap 0.2
	now=$(counters "$device")
	for word in $growth; do
		seen=$(($(value_of "${word%=*}" "$now") - $(value_of "${word%=*}" "$before")))
		[[ $word == *=+ && $seen -gt 0 ]] ||
			expect "growth of $device's ${word%=*}" "${word#*=}" "$seen" || return
	done
}

# value_of NAME LINES: of lines "name value"
value_of() { [[ $'\n'$2 =~ $'\n'$1\ ([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }

# rdma_has_moved: what served a block device or a file system was RDMA: side B,
# the initiator, was written to and read from.
rdma_has_moved()
{
	local written read

	written=$(counter "$DEV_B" rx_write_requests)
	read=$(counter "$DEV_B" rx_read_requests)
	echo "side B received $written writes, $read reads"
	((written > 0 && read > 0))
}

# counters DEVICE: all of them, "name value" a line
counters()
{
	local ns

	for ns in "" "${NAMESPACES[@]}"; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		in_ns "$ns" bash -c '
			cd "/sys/class/infiniband/$1/ports/1/hw_counters" 2>/dev/null || exit 1
			for f in *; do [[ $f == lifespan ]] || echo "$f $(<"$f")"; done' \
			counters "$1" && return
	done
	echo "no counters on $1"
	return 1
}

# --- programs ------------------------------------------------------------

# A compiler is slow in an emulated machine, and so is make: only if need be.
built()
{
	local program

	for program in $(sed -n 's/^PROGRAMS := //p' "$TEST_DIR/Makefile"); do
		[[ -x $BUILD/$program ]] || return
		[[ -z $(find "$TEST_DIR" \( -name Makefile -o -name '*.[ch]' \) \
			-newer "$BUILD/$program" -print -quit) ]] || return
	done
}

# Our own programs: made on demand, usually the harness has done it before.
build()
{
	! built || return 0
	make -s -C "$TEST_DIR" >"$TMP/build.out" 2>&1 ||
		die "make -C tools/test failed" "$(<"$TMP/build.out")"
}

# begin FILE COMMAND...: in the background, as process BEGUN, with its output in the
# file, which nobody can take for that of the last one
begin()
{
	local file=$1
	shift

	: >"$file"
	"$@" >"$file" 2>&1 &
	BEGUN=$!
}

# ready_or_ended PID: there is no more to wait for from that server of a pair
ready_or_ended() { ${READY:-false} "$1" || ended "$1"; }

# pair SERVER... -- CLIENT...: the server on side A, the client on side B; both
# must succeed. READY is a function that tells whether the server (its process
# id is the last argument) listens.
pair()
{
	local server=() rc=0 pid

	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	begin "$TMP/server.out" ip netns exec "$NS_A" "${server[@]}"
	pid=$BEGUN
	wait_for ready_or_ended "$pid" || true
	b "$@" || rc=$?
	((rc != 0)) || wait_for ended "$pid" || { echo "the server does not end"; rc=1; }
	((rc == 0)) || kill "$pid" 2>/dev/null || true
	wait "$pid" || { echo "server: exit status $?"; rc=1; }
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

# ready_mckey: the server is in the group
ready_mckey() { grep -q "receiving data" "$TMP/server.out"; }

# ready_socket: integrity's server has made its socket
ready_socket() { [[ -S $SOCKET ]]; }

# integrity_pair [-4|-6] ARGS...: our program that verifies every byte. The two
# sides talk over a UNIX socket: they do not depend on the link under test.
integrity_pair()
{
	local ga=$GID4_A gb=$GID4_B SOCKET=$TMP/$BASHPID.$RANDOM.sock integrity=("$BUILD/integrity")

	case ${1:-} in
	-4) shift ;;
	-6) shift; ga=$GID6_A gb=$GID6_B ;;
	esac
	# A veth leads to the backlog of a CPU: what two of them send may change places. To
	# UC that is a loss, and UD hands it over as it comes.
	[[ ! "$*" =~ --types\ [a-z,]*u ]] || integrity=(taskset -c 0 "${integrity[@]}")
	READY=ready_socket pair \
		"${integrity[@]}" --dev "$DEV_A" --gid "$ga" --listen "$SOCKET" -- \
		"${integrity[@]}" --dev "$DEV_B" --gid "$gb" --connect "$SOCKET" \
		"${SLOW_QP[@]}" "$@"
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
	read -rt 30 -u "$CONNECTION_IN" _ QPN_A QPN_B
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

	read -rt 60 -u "$CONNECTION_IN" answer
	expect "the answer of the connection" "done success" "$answer"
}

hang_up()
{
	exec {CONNECTION_OUT}>&- {CONNECTION_IN}<&-
	wait "$CONNECTION_END"
}

# crafted 4|6 ARGS...: hostile/packets.py from side B to side A
crafted()
{
	local from=$IP4_B to=$IP4_A
	[[ $1 == 4 ]] || from=$IP6_B to=$IP6_A
	shift
	b /usr/bin/python3 "$TEST_DIR/hostile/packets.py" "$VETH_B" "$from" \
		"$(mac "$NS_B" "$VETH_B")" "$to" "$(mac "$NS_A" "$VETH_A")" "$@"
}

# traffic_flows: packets leave side A just now. The netdev's own statistics say so:
# they do not depend on the driver's counters.
traffic_flows()
{
	local n

	n=$(a cat "/sys/class/net/$VETH_A/statistics/tx_packets")
	nap 0.2
	(($(a cat "/sys/class/net/$VETH_A/statistics/tx_packets") > n + 10))
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

# background_traffic [-4|-6] ARGS...: integrity_pair goes on, as process TRAFFIC, for
# five minutes or what the arguments say. Its QPs retry for more than a second: there
# are seven timeouts of 67 ms, and the later ones are longer.
background_traffic()
{
	local family=-4

	case ${1:-} in
	-4 | -6) family=$1; shift ;;
	esac
	integrity_pair "$family" --ops mix --sizes 5000 --qps 2 --flags bidir \
		--count 10000000 --bytes 4000m --seconds 300 "$@" >"$TMP/traffic" 2>&1 &
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

# look: at what can be seen of the devices, while there is $TMP/watched
look()
{
	local kind

	# What it looks at goes.
	set +e
	while [[ -e $TMP/watched ]]; do
		for kind in pd cq qp mr srq cm_id; do
			rdma resource show "$kind" -dd
		done
		rdma statistic show
		grep -rs . "/sys/class/infiniband/$DEV_A/ports" "/sys/class/infiniband/$DEV_A/cc"
	done >/dev/null 2>&1
}

# watched COMMAND...: while two look
watched()
{
	local watchers=()

	touch "$TMP/watched"
	look &
	watchers+=($!)
	look &
	watchers+=($!)
	nap 0.5
	"$@"
	rm "$TMP/watched"
	wait "${watchers[@]}" || true
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
	local program=$1 ga=$GID4_A gb=$GID4_B
	shift

	case ${1:-} in
	-4) shift ;;
	-6) shift; ga=$GID6_A gb=$GID6_B ;;
	esac
	set -- -F "${SLOW_QP[@]/--timeout/-u}" "$@"
	READY=${READY:-ready_tcp 18515} pair \
		"$program" -d "$DEV_A" -x "$ga" "$@" -- \
		"$program" -d "$DEV_B" -x "$gb" "$@" "$IP4_A"
}

# --- the end -------------------------------------------------------------

module_loaded() { [[ -d /sys/module/$1 ]]; }

# A script that has changed more of the system than links and namespaces, which are
# gone then, defines this again.
put_back() { :; }

# Whatever a test did, the module must let go of everything and unload.
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
	put_back
	if module_loaded roce; then
		if ! timeout 30 modprobe -r roce >"$TMP/rmmod.out" 2>&1; then
			not_ok "roce unloads after the test" "$(<"$TMP/rmmod.out")" \
				"$(rdma resource show 2>&1)" "$(lsmod | grep roce)"
			status=1
		fi
	fi
	! module_loaded rdma_rxe || timeout 30 modprobe -r rdma_rxe 2>/dev/null
	rm -rf "$TMP"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
