# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A bad link between side A and side B, and proof that it was bad: what a check is
# about has to happen often enough while it runs. After lib.sh, ns_pair and link_pair:
#
#	bad_link loss 2%
#	check "nothing is lost under loss" under "loss=20" integrity_pair --ops mix
#	good_link

# bad_link NETEM-ARGS...: in both directions
# shellcheck disable=SC2120 # without arguments: see good_link
bad_link()
{
	netem "$NS_A" "$VETH_A" "$@"
	netem "$NS_B" "$VETH_B" "$@"
}

good_link() { bad_link; }

# dropped SIDE: packets that netem has dropped there
dropped()
{
	local ns=NS_$1 veth=VETH_$1

	in_ns "${!ns}" tc -s qdisc show dev "${!veth}" | sed -n 's/.*dropped \([0-9]*\).*/\1/p'
}

# set_both FILE VALUE: of both devices
set_both()
{
	local device

	for device in "$DEV_A" "$DEV_B"; do
		echo "$2" >"/sys/class/infiniband/$device/$1"
	done
}

# set_patience US: how long both devices wait for packets that others have overtaken
set_patience() { set_both reordering_us "$1"; }

# guarded FILE WRONG...: what a user may get wrong is refused; the value stays
guarded()
{
	local file=/sys/class/infiniband/$DEV_A/$1 before wrong
	shift

	before=$(<"$file")
	for wrong; do
		! bash -c "echo '$wrong' >$file" 2>/dev/null || { echo "'$wrong' is taken"; return 1; }
	done
	expect "the value" "$before" "$(<"$file")"
}

# counted NAME...: the sum of these counters of both devices
counted()
{
	local name device n sum=0

	for name; do
		for device in "$DEV_A" "$DEV_B"; do
			read -r n <"/sys/class/infiniband/$device/ports/1/hw_counters/$name"
			sum=$((sum + n))
		done
	done
	echo "$sum"
}

# happened KIND: how often until now, to the packets of both sides. netem counts what it
# drops; of the rest the devices know. Retransmission makes duplicates, too, and loss
# makes gaps: those two say what netem did only on a link that loses nothing.
happened()
{
	case $1 in
	loss) echo $(($(dropped A) + $(dropped B))) ;;
	duplicates) counted duplicate_request ;;
	gaps) counted out_of_sequence ;;
	kept) counted reorder_kept ;;
	late) counted reorder_late ;;
	merged) echo $(($(counted rx_packets) - $(counted rx_trains))) ;;
	sacks) counted selective_acks_sent ;;
	left) counted paths_left ;;
	returned) counted paths_returned ;;
	damage) counted rx_icrc_encapsulated ;;
	esac
}

# share FILE COMMAND...: writes how many of ten thousand packets were sent again
share()
{
	local file=$1 sent again lost
	shift

	sent=$(counted tx_packets) again=$(counted retransmitted_packets)
	lost=$(happened loss)
	strictly "$@"
	sent=$(($(counted tx_packets) - sent))
	again=$(($(counted retransmitted_packets) - again))
	lost=$(($(happened loss) - lost))
	echo $((10000 * again / sent)) >"$file"
	echo "$again of $sent packets were sent again, $lost were lost"
}

# under "KIND=TIMES..." COMMAND...: the command, again and again until each of these has
# happened so many times
under()
{
	local word wanted=$1 attempt seen missing
	local -A before=()
	shift

	for word in $wanted; do
		before[$word]=$(happened "${word%=*}")
	done
	for attempt in {1..20}; do
		"$@"
		missing=
		for word in $wanted; do
			seen=$(($(happened "${word%=*}") - before[$word]))
			echo "attempt $attempt: ${word%=*}: $seen times"
			((seen >= ${word#*=})) || missing+=" $word"
		done
		[[ -n $missing ]] || return 0
	done
	echo "it did not happen often enough:$missing"
	return 1
}
