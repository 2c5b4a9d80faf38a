# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Faults: links that lose, damage, delay and mark, and packets that nobody should
# send. Part of lib.sh.

# Single packets from here on: netem, tcpdump and a bad link see each one.
single_packets()
{
	a ethtool -K "$VETH_A" tx-udp-segmentation off gso off tso off >/dev/null
	b ethtool -K "$VETH_B" tx-udp-segmentation off gso off tso off >/dev/null
}

# The receivers merge packets that come together, whatever their PSNs are.
merging_receivers()
{
	a ethtool -K "$VETH_A" gro on
	b ethtool -K "$VETH_B" gro on
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

# crafted 4|6 ARGS...: hostile/packets.py from side B to side A
crafted()
{
	local from=$IP4_B to=$IP4_A
	[[ $1 == 4 ]] || from=$IP6_B to=$IP6_A
	shift
	b /usr/bin/python3 "$TEST_DIR/hostile/packets.py" "$VETH_B" "$from" \
		"$(mac "$NS_B" "$VETH_B")" "$to" "$(mac "$NS_A" "$VETH_A")" "$@"
}

