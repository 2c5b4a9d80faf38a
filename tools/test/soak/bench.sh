#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# tools/bench measures roce beside TCP on the running kernel and between two hosts
# behind ssh, loses single packets of both, and leaves nothing behind. Not how fast.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

BENCH=$TEST_DIR/../bench
export ROCE_CACHE=$TMP/cache

# Like ssh, with a namespace for a host
cat >"$TMP/ssh" <<'END'
#!/bin/sh
namespace=$1
shift
exec ip netns exec "$namespace" sh -c "$*"
END
chmod +x "$TMP/ssh"

# bench OPTION...: status 1 only says that a goal is missed.
bench()
{
	local status=0

	"$BENCH" --json "$TMP/result" --repeat 1 --stacks roce,tcp "$@" >"$TMP/report" 2>"$TMP/log" ||
		status=$?
	[[ $status -le 1 ]] && ! grep FAILED "$TMP/report" && return
	echo "status $status"
	tail -20 "$TMP/log"
	return 1
}

# measured PART STACK: there are values
measured()
{
	python3 - "$TMP/result" "$1" "$2" <<-'END'
		import json, sys
		with open(sys.argv[1], encoding="utf-8") as file:
		    results = json.load(file)["results"]
		values = [value for result in results for value in result["values"]
		          if [result["part"], result["stack"]] == sys.argv[2:]]
		sys.exit(None if values and min(values) > 0 else f"{sys.argv[2:]}: {values}")
	END
}

# measured_all PART...: of roce and of TCP
measured_all()
{
	local part

	for part; do
		measured "$part" roce || return
		measured "$part" tcp || return
	done
}

# What the benchmark adds, by name
left_behind()
{
	ip netns list | grep '^bench-'
	rdma link show | grep -E 'roce_(left|right)/'
	true
}

modprobe roce
check "the running kernel: it measures" \
	bench --here --only bandwidth,ipv6,both,unsteered,loss --ops write,read --sizes 65536 --mtu 9000
check "the running kernel: all parts of both stacks" \
	measured_all bandwidth ipv6 both unsteered loss
check "single packets of both stacks were lost" measured_all lost
is "the running kernel: nothing is left behind" "" "$(left_behind)"

# Of a busy CPU perftest may not know the clock, and without it no latency.
check "latency: of roce, or perftest knows no clock" eval '
	bench --here --only latency --stacks roce --iterations 20 --mtu 1500 || true
	measured latency roce || grep "frequency of the CPU" "$TMP/report"'

ns_pair
export ROCE_BENCH_SSH=$TMP/ssh
check "two hosts: it measures" bench --hosts "$NS_A" "$NS_B" --addresses "$IP4_A,$IP4_B" \
	--only bandwidth --ops write --sizes 65536
check "two hosts: both stacks" measured_all bandwidth
check "the report names the netdevs' driver" grep -c 'driver veth' "$TMP/report"
is "two hosts: nothing is left behind" "" "$(left_behind)"

# Somebody else's link has the netdev.
link_pair
refuse "a link that is there already is named" "there already.* $DEV_A/1" \
	bench --hosts "$NS_A" "$NS_B" --addresses "$IP4_A,$IP4_B" --only bandwidth
check "and remains" link_there "$DEV_A"
finish
