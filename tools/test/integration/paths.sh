#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A QP with many paths spreads its requests over source ports. It leaves ports that lose
# much of what they carry, and comes back to them.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../bad_link.sh
. "$(dirname "$0")/../bad_link.sh"

set_paths() { set_both paths "$1"; }

# ACK timeouts of a second: a machine that is late is no loss.
traffic()
{
	integrity_pair "$@" --timeout 18 --ops push --sizes 60000 --flags bidir \
		--count 56 --depth 8
}

# at_b RULE: for what arrives at side B, with the set "ports"
at_b()
{
	ip netns exec "$NS_B" nft -f - <<-END
		table netdev paths {
			set ports {
				type inet_service; flags dynamic; size 1024;
			}
			chain arrived {
				type filter hook ingress device "$VETH_B" priority 0;
				udp dport 4791 $1
			}
		}
	END
}

nothing_at_b() { ip netns exec "$NS_B" nft delete table netdev paths; }

# ports FILE COMMAND...: writes from how many ports side A has sent to side B
ports()
{
	local file=$1 seen
	shift

	at_b "add @ports { udp sport }"
	strictly "$@"
	seen=$(ip netns exec "$NS_B" nft list set netdev paths ports)
	nothing_at_b
	grep -oE '\b[0-9]{5}\b' <<<"$seen" | sort -u | wc -l >"$file"
	echo "$(<"$file") ports"
}

# with_policed_ports COMMAND...: half of the paths carry 500 kB/s each, and drop the rest
with_policed_ports()
{
	at_b "udp sport & 0x0400 == 0x0400
	      add @ports { udp sport limit rate over 500 kbytes/second burst 100 kbytes } drop"
	strictly "$@"
	nothing_at_b
}

build
ns_pair
link_pair
know_neighbours

# Selective acknowledgments, probes and their answers: the last opcodes that there are
FILTER='udp port 4791 and (udp[8] >= 0xe1 or (ip6 and ip6[48] >= 0xe1))' \
	capture "$TMP/probes.pcap" "$NS_A" "$VETH_A"

check "the number of paths is 1 to 16" guarded paths 0 17 -1 many ''

for family in 4 6; do
	set_paths 1
	check "everything arrives by one path (IPv$family)" \
		ports "$TMP/one" traffic "-$family"
	set_paths 8
	check "everything arrives by many (IPv$family)" \
		ports "$TMP/many" traffic "-$family"
	check "these are 7 source ports more (IPv$family)" \
		test "$(<"$TMP/many")" -ge $(($(<"$TMP/one") + 7))
	check "paths that lose much are left, and come back (IPv$family)" \
		under "left=1 returned=1" with_policed_ports traffic "-$family"
	bad_link loss 2%
	check "what all paths lose is told by selective acknowledgments (IPv$family)" \
		under "sacks=5" traffic "-$family"
	good_link
done
capture_end
tap_run "wire/dissector.py" /usr/bin/python3 "$TEST_DIR/wire/dissector.py" "$TMP/probes.pcap"
finish
