# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
#
# What both machines do at first; after lib.sh.

TCP_PORT=5001
RDS_PORT=4000
# The client connects to this port of the server when it has ended.
END_PORT=7000

# at_wire: prints the netdev that the wire is plugged into
at_wire()
{
	local file

	file=$(grep -l 52:54:00:77 /sys/class/net/*/address) || return
	basename "${file%/address}"
}

# join IPV4 IPV6 DRIVER: the NIC at the wire gets addresses and a link
join()
{
	local netdev

	modprobe virtio_net
	wait_for at_wire
	netdev=$(at_wire)
	address "" "$netdev" "$1/24" "$2/64"
	modprobe -a smc rds_rdma
	link_add "$3" "$3" "$netdev" "" || die "no link of $3"
	"$TEST_DIR/machines/eid.py" ROCE
}

# over_smc COMMAND...: its sockets of TCP are of SMC
over_smc() { LD_PRELOAD=$BUILD/smc.so "$@"; }
