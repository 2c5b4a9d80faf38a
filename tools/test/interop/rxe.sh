#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Interop with mainline rdma_rxe, of a kernel where it works in namespaces.
# With "asks" it is rxe that asks, and roce that serves; with "serves", the
# other way round.

case ${1:-} in
asks) export LINK_TYPE_A=roce LINK_TYPE_B=rxe ;;
serves) export LINK_TYPE_A=rxe LINK_TYPE_B=roce ;;
*) echo "${0##*/} asks|serves" >&2; exit 2 ;;
esac
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

build
ns_pair
link_pair

for family in -4 -6; do
	over="$LINK_TYPE_B to $LINK_TYPE_A over IPv${family#-}"
	check "$over: every RC operation" \
		integrity_pair $family --ops send,send_imm,write,write_imm,read \
		--sizes 0,1,mtu-1,mtu,mtu+1,64k --layouts odd,uneven --count 14 \
		--sample 2
	check "$over: operations mixed, both directions, 2 QPs" \
		integrity_pair $family --ops mix --sizes 100,5000 --qps 2 \
		--flags bidir --count 56
	check "$over: atomics" \
		integrity_pair $family --ops fetch_add,compare_swap --count 60
	check "$over: UC" \
		integrity_pair $family --types uc \
		--ops send,send_imm,write,write_imm --sizes 0,1,mtu+1,20000 \
		--layouts odd,uneven --count 14 --sample 2
	check "$over: UD" \
		integrity_pair $family --types ud --ops send,send_imm \
		--sizes 0,1,mtu-1,mtu --count 20
done
over="$LINK_TYPE_B to $LINK_TYPE_A"
# No FLUSH: rxe's ICRC of it covers the headers twice, and nobody else's does.
tap_run "$over: ATOMIC WRITE" \
	"$BUILD/verbs" "$DEV_B" "$GID4_B" "$DEV_A" "$GID4_A" atomic_write
check "$over: path MTUs 256, 512 and 1024" \
	integrity_pair --ops mix --mtus 256,512,1024 --sizes 3000 --count 28
check "$over: receives that come late (RNR)" \
	integrity_pair --ops send --sizes 3000 --flags rnr --count 20
for op in write read send; do
	check "$over: ib_${op}_bw" perftest "ib_${op}_bw" -n 200 -s 65536
	check "$over: ib_${op}_lat" perftest "ib_${op}_lat" -n 200 -s 64
done
check "$over: ib_atomic_bw" perftest ib_atomic_bw -n 200
check "$over: ib_write_bw over UC" perftest ib_write_bw -c UC -n 100 -s 4096
for ip in "$IP4_A" "$IP6_A"; do
	check "$over: rping to $ip" rping_pair "$ip" 10
done

no_rates_of()
{
	! "$TEST_DIR/../roce-stat" "$1" --count 1 2>"$TMP/err" &&
		found "no counters of $1" <"$TMP/err"
}
[[ $LINK_TYPE_A == rxe ]] && other=$DEV_A || other=$DEV_B
check "roce-stat has no rates of rxe" no_rates_of "$other"

# A congested switch marks what is ECN-capable: what roce sends by itself, and what
# rxe sends if the traffic class says so. rxe takes no notice of marks and CNPs.
marked_traffic()
{
	# ACK timeouts of a second: a machine that is late is no loss.
	local PATIENT_QP=(--timeout 18)

	integrity_pair --ops mix --sizes 100,20000 --qps 2 --flags bidir --count 56
	perftest ib_write_bw --tclass=2 -n 100 -s 65536
	perftest ib_read_bw --tclass=2 -n 100 -s 65536
}
ROCE=$DEV_A
[[ $LINK_TYPE_A == roce ]] || ROCE=$DEV_B
for ns in "$NS_A" "$NS_B"; do mark "$ns" 'numgen random mod 4 == 0'; done
check "$over: a switch that marks, and a peer that takes no CNP and sends none" \
	grows "$ROCE" "np_ecn_marked_roce_packets=+ np_cnp_sent=+ rp_cnp_handled=0 local_ack_timeout_err=0" \
	marked_traffic
for ns in "$NS_A" "$NS_B"; do mark_none "$ns"; done

single_packets
bad_link loss 1%
for family in -4 -6; do
	# rxe completes a read although responses of it were lost, and leaves a
	# hole: reads under loss only where roce reads.
	check "$over over IPv${family#-}: RC under 1% loss" \
		under "loss=5" integrity_pair $family --ops push --sizes 100,20000 --qps 2 \
		--flags bidir --count 30 --depth 8
	[[ $LINK_TYPE_B != roce ]] ||
		check "$over over IPv${family#-}: reads under 1% loss, what is lost is asked for alone" \
			grows "$ROCE" "responses_asked_again=+" under "loss=5" \
			integrity_pair $family --ops read,mix --sizes 100,20000 \
			--qps 2 --count 28 --depth 8
done
# rxe does not answer a question for memory before that of a later one for the same read.
bad_link loss 5%
[[ $LINK_TYPE_B != roce ]] ||
	check "$over: long reads under 5% loss, of which responses are lost again" \
		under "loss=20" integrity_pair --ops read --sizes 200000 --qps 2 --count 60 \
		--depth 8
bad_link loss 1%
# Nothing slows an unreliable sender down, and rxe has no room for all that it sends.
check "$over: UD under 1% loss: what arrives is right" \
	under "loss=2" integrity_pair --types ud --ops send --sizes 900 --count 300 --lost 100
check "$over: UC under 1% loss: what arrives is right" \
	under "loss=5" integrity_pair --types uc --ops send,send_imm --sizes 900,5000 \
	--count 300 --lost 100
bad_link delay 5ms reorder 90%
check "$over: RC, and packets overtake each other" \
	grows "$ROCE" "reorder_kept=+" integrity_pair --timeout 18 --ops push --sizes 20000 \
	--flags bidir --count 60 --depth 8
good_link

a ip link set "$VETH_A" mtu 9000
b ip link set "$VETH_B" mtu 9000
check "$over: path MTUs 2048 and 4096" \
	integrity_pair --ops mix --mtus 2048,4096 --sizes 3000,70000 --flags bidir \
	--count 28
check "$over: path MTU 4096, UC and UD" \
	integrity_pair --types uc,ud --ops send --mtus 4096 --sizes 3000 --count 28
finish
