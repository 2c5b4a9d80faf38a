# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
#
# What both machines do at first; after lib.sh.

SERVER=10.99.0.1
TCP_PORT=5001
RDS_PORT=4000
# The client sends a byte to this port of the server, who is done then.
END_PORT=7000

# join NUMBER DRIVER: the NIC at the wire gets an address and a link
join()
{
	local netdev

	modprobe virtio_net
	wait_for grep -l 52:54:00:77 /sys/class/net/*/address
	netdev=$(grep -l 52:54:00:77 /sys/class/net/*/address)
	netdev=$(basename "${netdev%/address}")
	ip -batch - <<-END
		link set lo up
		addr add 10.99.0.$1/24 dev $netdev
		addr add fd00:99::$1/64 dev $netdev nodad
		link set $netdev up
	END
	modprobe -a smc rds_rdma
	link_add "$2" "$2" "$netdev" "" || die "no link of $2"
	python3 "$TEST_DIR/machines/eid.py" ROCE
}

# over_smc COMMAND...: its sockets of TCP are of SMC
over_smc() { LD_PRELOAD=$BUILD/smc.so "$@"; }
