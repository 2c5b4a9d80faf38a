#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Who of a host may send to UDP port 4791 from an ordinary socket.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

NOBODY=65534 NS_C=roce-test-c
PARAMETERS=/sys/module/roce/parameters
WAYS=15		# that datagrams.py knows

refused() { cat "$PARAMETERS/unprivileged_udp_refused"; }

# datagrams OPENER SENDER sent|refused: from side B to side A
datagrams()
{
	b /usr/bin/python3 "$TEST_DIR/local_users/datagrams.py" "$@" "$IP4_A" "$IP6_A"
}

# What the ordinary sockets of side B sent, as side A's firewall has seen it
arrived()
{
	a nft -j list counter inet arrivals seen | grep -o '"packets": [0-9]*' | tr -dc 0-9
}

# one IPV4 [AS...]: a datagram, by a program of which the output tells the fate
one()
{
	local to=$1
	shift

	"$@" /usr/bin/python3 -c "
import socket
try:
	socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('$to', 4791))
	print('sent')
except PermissionError:
	print('refused')"
}

as_nobody() { setpriv --reuid "$NOBODY" --regid "$NOBODY" --clear-groups "$@"; }
as_nobody_in() { local ns=$1; shift; ip netns exec "$ns" setpriv --reuid "$NOBODY" --regid "$NOBODY" --clear-groups "$@"; }

build
ns_pair
link_pair
a nft -f - <<-END
	table inet arrivals {
		counter seen { }
		chain in {
			type filter hook input priority 0;
			udp dport 4791 counter name seen
		}
	}
END

tap_run "datagrams of nobody" datagrams "$NOBODY" "$NOBODY" refused
is "nothing of it arrives" 0 "$(arrived)"
is "each is counted" "$WAYS" "$(refused)"
tap_run "datagrams of root by a socket of nobody's" datagrams "$NOBODY" 0 refused
is "nothing of it arrives" 0 "$(arrived)"
is "each is counted" $((2 * WAYS)) "$(refused)"

tap_run "datagrams of root" datagrams 0 0 sent
is "they arrive" "$WAYS" "$(arrived)"
tap_run "datagrams of nobody by a socket of root's" datagrams 0 "$NOBODY" sent
is "they arrive" $((2 * WAYS)) "$(arrived)"
is "and are not counted as refused" $((2 * WAYS)) "$(refused)"

is "nobody with CAP_NET_RAW may send" sent \
	"$(one "$IP4_A" as_nobody_in "$NS_B" --inh-caps +net_raw --ambient-caps +net_raw)"
is "with another capability he may not" refused \
	"$(one "$IP4_A" as_nobody_in "$NS_B" --inh-caps +net_bind_service --ambient-caps +net_bind_service)"
is "nor to his own host" refused "$(one "$IP4_B" as_nobody_in "$NS_B")"
ns_add "$NS_C"
is "nor in a namespace without a device" refused "$(one 127.0.0.1 as_nobody_in "$NS_C")"
is "in a network namespace of his own he may" sent \
	"$(one 127.0.0.1 as_nobody unshare -Urn sh -c 'ip link set lo up; exec "$@"' sh)"

for family in -4 -6; do
	check "RoCE is not kept from sending (IPv${family#-})" \
		integrity_pair $family --ops mix --sizes 100,5000 --count 14
done

echo 1 >"$PARAMETERS/unprivileged_udp"
before=$(refused)
tap_run "datagrams of nobody, who is allowed" datagrams "$NOBODY" "$NOBODY" sent
is "nothing is counted" "$before" "$(refused)"
echo 0 >"$PARAMETERS/unprivileged_udp"
is "and may not any more" refused "$(one "$IP4_A" as_nobody_in "$NS_B")"

link_del "$DEV_A"
link_del "$DEV_B"
is "without a device he may not, either" refused "$(one "$IP4_A" as_nobody_in "$NS_B")"
check "the module is unloaded" modprobe -r roce
is "and without it nobody is kept from it" sent "$(one "$IP4_A" as_nobody_in "$NS_B")"
finish
