#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The whole matrix of integration/integrity.sh, trains on and off.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

OPS=send,send_imm,write,write_imm,read,mix
SIZES=0,1,2,3,4,63,255,mtu-1,mtu,mtu+1,4095,4097,64k,1m
LAYOUTS=one,odd,uneven,holes,many,tiny

build
MTU=9000
ns_pair
link_pair

matrix()
{
	for family in -4 -6; do
		check "$1: RC (IPv${family#-})" \
			integrity_pair $family --ops $OPS --sizes $SIZES \
			--layouts $LAYOUTS --mtus 256,512,1024,2048,4096 \
			--count 21 --bytes 2m
		check "$1: UD (IPv${family#-})" \
			integrity_pair $family --types ud --ops send,send_imm \
			--sizes 0,1,2,3,4,63,255,mtu-1,mtu --layouts $LAYOUTS \
			--mtus 256,1024,4096 --count 30
		check "$1: RC, several QPs, both directions (IPv${family#-})" \
			integrity_pair $family --ops mix --sizes $SIZES \
			--layouts odd,many --qps 1,4,16 --flags bidir --count 70 \
			--bytes 4m
	done
	for flags in inline unsignaled events events,solicited rnr bidir,events,unsignaled; do
		check "$1: $flags" integrity_pair --ops $OPS --sizes 1,64,400,5000 \
			--layouts one,uneven --flags $flags --count 70
	done
	check "$1: 8 MiB" integrity_pair --ops write,read,send --sizes 8m \
		--layouts one,odd,many --count 4
}
matrix "trains"
single_packets
matrix "single packets"
finish
