#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A network that loses packets: two devices of ours that are told to send again
# what was lost, and nothing else.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

# set_recovery HOW: of both devices
set_recovery() { set_both loss_recovery "$1"; }

three_words()
{
	local how

	for how in go-back-n tolerate selective; do
		set_recovery "$how"
		expect "the value" "$how" "$(<"/sys/class/infiniband/$DEV_A/loss_recovery")"
	done
	guarded loss_recovery 0 sel 'selective repeat' ''
}

# ACK timeouts of a second: a machine that is late is no loss.
traffic()
{
	integrity_pair "$@" --timeout 18 --ops push --sizes 60000 --flags bidir \
		--count 112 --depth 8
}

# All that a device counts of it
repairs()
{
	grows "$DEV_A" "selective_acks_sent=+ selective_acks_received=+ selective_repeats=+" "$@"
}

build
ns_pair
link_pair
know_neighbours
single_packets

check "how to recover from losses is one of three words" three_words

bad_link loss 1%
for family in 4 6; do
	set_recovery selective
	check "what is lost is sent again alone (IPv$family)" \
		share "$TMP/selective" repairs under "loss=50" traffic "-$family"
	set_recovery tolerate
	check "the same when early packets are only kept (IPv$family)" \
		share "$TMP/tolerate" under "loss=50" traffic "-$family"
	set_recovery go-back-n
	check "the same when they are dropped (IPv$family)" \
		share "$TMP/go-back-n" under "loss=50" traffic "-$family"
	check "without selective repeat twice as many packets are sent again, or more (IPv$family)" \
		test "$(<"$TMP/tolerate")" -ge $(($(<"$TMP/selective") * 2)) -a \
		"$(<"$TMP/go-back-n")" -ge $(($(<"$TMP/selective") * 2))
done

# What is sent again is merged behind early packets, which wait for it.
merging_receivers
set_recovery selective
check "what is lost is sent again alone, and merged" \
	share "$TMP/merged" repairs under "loss=50 merged=100" traffic -4
check "twice as many as these are sent again without selective repeat, or more" \
	test "$(<"$TMP/tolerate")" -ge $(($(<"$TMP/merged") * 2))
finish
