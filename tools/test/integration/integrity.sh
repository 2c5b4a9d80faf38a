#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Every byte, every completion: a sample of the matrix of operations, sizes,
# layouts in memory, address families and path MTUs. The whole matrix is in
# soak/integrity.sh.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

OPS=send,send_imm,write,write_imm,read
ATOMICS=fetch_add,compare_swap
EDGES=0,1,2,3,mtu-1,mtu,mtu+1,64k
LAYOUTS=one,odd,uneven,holes,many,tiny

build
ns_pair
link_pair
# Of the bytes, and of the sample of the matrix
note "seed $ROCE_SEED: ROCE_SEED=$ROCE_SEED repeats this run"

# finds_wrong_byte ARGS...: one byte of one message is not what it should be. The exit
# status says so, and not that the connection was lost.
finds_wrong_byte()
{
	local status=0

	integrity_pair --count 20 --spoil 7 "$@" >"$TMP/spoiled" 2>&1 || status=$?
	cat "$TMP/spoiled"
	expect "exit status" 1 "$status"
	grep -q 'message 6 .*byte 0 of 3000' "$TMP/spoiled"
}
for operation in send write; do
	check "a wrong byte of a $operation is found, and told from a lost connection" \
		finds_wrong_byte --ops $operation --sizes 3000
done

check "RC: every operation at every edge of size (IPv4)" \
	integrity_pair -4 --ops $OPS --sizes $EDGES --count 12 --bytes 256k
check "RC: every operation at every edge of size (IPv6)" \
	integrity_pair -6 --ops $OPS --sizes $EDGES --count 12 --sample 3 --bytes 256k
check "RC: every layout in memory" \
	integrity_pair -6 --ops send,write,read --sizes 33,mtu+1,10000 \
	--layouts $LAYOUTS --count 8
check "RC: every path MTU" \
	integrity_pair --ops mix --mtus 256,512,1024 --sizes 255,257,2048,20000 \
	--layouts odd,uneven --count 14 --sample 2
check "RC: messages of 8 MiB" \
	integrity_pair --ops write,read,send --sizes 8m --layouts odd --count 2
check "RC: all operations mixed, 4 QPs, both directions" \
	integrity_pair --ops mix --sizes 100,5000 --layouts uneven,many \
	--qps 4 --flags bidir --count 56
check "RC: inline data, which may be overwritten after the post" \
	integrity_pair --ops send,write,send_imm --sizes 0,1,64,400 \
	--layouts one,uneven --flags inline --count 40
check "RC: a completion only now and then" \
	integrity_pair --ops mix --sizes 1,3000 --flags unsignaled --count 70
check "RC: sleeping until completion events" \
	integrity_pair --ops mix,send --sizes 100,20000 --flags events,bidir \
	--count 28
check "RC: woken by solicited completions only" \
	integrity_pair --ops send,write_imm --sizes 100 \
	--flags events,solicited --count 40
check "RC: receives that come late: RNR NAKs are sent, and all arrives" \
	grows "$DEV_A" "out_of_buffer=+" integrity_pair --ops send,send_imm,write_imm --sizes 100,5000 \
	--flags rnr --count 20
check "RC: a queue of one" \
	integrity_pair --ops mix --sizes 2000 --depth 1 --count 14
for family in -4 -6; do
	check "RC: atomics are executed once and bring the old value (IPv${family#-})" \
		integrity_pair $family --ops $ATOMICS --layouts one,tiny --count 60
	check "UC: every operation at every edge of size (IPv${family#-})" \
		integrity_pair $family --types uc --ops send,send_imm,write,write_imm \
		--sizes $EDGES --layouts odd,uneven --count 12 --sample 2 --bytes 256k
done
check "RC: atomics among all other operations, 4 QPs, both directions" \
	integrity_pair --ops all --sizes 100,5000 --layouts uneven,odd \
	--qps 4 --flags bidir --count 45
check "UC: operations mixed, 4 QPs, both directions" \
	integrity_pair --types uc --ops push --sizes 100,5000 --qps 4 \
	--flags bidir --count 40
check "UC: inline data, events" \
	integrity_pair --types uc --ops send,send_imm --sizes 1,400 \
	--flags inline,events --count 40
for family in -4 -6; do
	check "UD: every edge of size (IPv${family#-})" \
		integrity_pair $family --types ud --ops send,send_imm \
		--sizes 0,1,2,3,mtu-1,mtu --layouts one,uneven --count 12
done
check "UD: 4 QPs, both directions, events" \
	integrity_pair --types ud --ops send --sizes 1000 --qps 4 \
	--flags bidir,events --count 40

single_packets
check "RC: the same without segmentation offload" \
	integrity_pair --ops $OPS,$ATOMICS --sizes mtu+1,64k --count 8 --bytes 256k
check "UC: the same without segmentation offload" \
	integrity_pair --types uc --ops send,write_imm --sizes mtu+1,64k \
	--count 8 --bytes 256k

# The queue of the CPU takes 16 packets: of each train of small messages some leave
# and some do not. Nobody may get those that left a second time.
#
# sent_once ARRIVED...: the command says how many have arrived so far
sent_once()
{
	local sent arrived

	sent=$(counter "$DEV_B" tx_packets)
	arrived=$("$@")
	grows "$DEV_B" "tx_stalled_queue=+" \
		perftest ib_write_bw -c UC -l 32 -s 64 -n 6400
	expect "packets that arrive" $(($(counter "$DEV_B" tx_packets) - sent)) \
		$(($("$@") - arrived))
}
BACKLOG=$(sysctl -n net.core.netdev_max_backlog)
backlog() { sysctl -qw "net.core.netdev_max_backlog=$1"; }
backlog 16
check "UC: what a queue refuses of a train is sent again, and nothing else" \
	sent_once counter "$DEV_A" rx_packets
backlog "$BACKLOG"

# esp SIDE FROM TO: what goes from here to there is encrypted, and what comes has to be
esp()
{
	local side=$1 from=$2 to=$3 keys template=(tmpl proto esp mode transport)

	keys=(auth "hmac(sha256)" "0x$(printf %064d 1)" enc "cbc(aes)" "0x$(printf %032d 2)")
	$side ip xfrm state add src "$from" dst "$to" spi 1 proto esp mode transport "${keys[@]}"
	$side ip xfrm state add src "$to" dst "$from" spi 1 proto esp mode transport "${keys[@]}"
	$side ip xfrm policy add dir out src "$from" dst "$to" proto udp dport 4791 "${template[@]}"
	$side ip xfrm policy add dir in src "$to" dst "$from" proto udp dport 4791 "${template[@]}"
}
# What is decrypted waits in a queue that is as short, and may still be lost.
decrypted()
{
	a ip -s xfrm state get src "$IP4_B" dst "$IP4_A" proto esp spi 1 |
		sed -n 's/.*(bytes), \([0-9]*\)(packets)/\1/p'
}
esp a "$IP4_A" "$IP4_B" && esp b "$IP4_B" "$IP4_A" || die "no IPsec"
check "RC: encrypted by IPsec" integrity_pair --ops mix --sizes 100,20000 --flags bidir --count 28
check "UC: encrypted by IPsec" integrity_pair --types uc --ops push --sizes 100,20000 --count 20
backlog 16
check "UC: encrypted by IPsec, what a queue refuses of a train is sent again, and nothing else" \
	sent_once decrypted
backlog "$BACKLOG"
for side in a b; do
	$side ip xfrm policy flush
	$side ip xfrm state flush
done

a ip link set "$VETH_A" mtu 9000
b ip link set "$VETH_B" mtu 9000
check "RC: path MTUs 2048 and 4096 on a link of MTU 9000" \
	integrity_pair --ops mix --mtus 2048,4096 --sizes 4097,65537 \
	--layouts odd --count 14
check "UD: datagrams of 4096 bytes" \
	integrity_pair --types ud --ops send --sizes 4095,4096 --count 12
finish
