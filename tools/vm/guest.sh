# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What runs the command inside of the VM, and how the host hears of it; to be sourced.
# $run is the run's folder on the host.

# The device of the virtio port of that name.
port() {
	local entry

	for entry in /sys/class/virtio-ports/*; do
		[ "$(cat "$entry/name")" != "$1" ] || echo "/dev/${entry##*/}"
	done
}

# The host asks through this port when the time is up.
obey() {
	local key

	while read -r key; do
		echo "$key" >/proc/sysrq-trigger
	done
}

# A port can be opened but once, and programs open /dev/stdout: pipes between. The cat of
# Ubuntu 26.04 cannot write to a port.
run_piped() {
	local status out err

	mkfifo /run/.out /run/.err
	dd bs=64k status=none </run/.out >"$(port out)" & out=$!
	dd bs=64k status=none </run/.err >"$(port err)" & err=$!
	setsid -w bash "$run/command" </dev/null >/run/.out 2>/run/.err
	status=$?
	# Daemons that the command left behind hold the pipes: not for ever.
	(sleep 3; kill $out $err) 2>/dev/null &
	wait $out $err 2>/dev/null
	return $status
}

run_on_terminal() {
	stty -F /dev/hvc0 sane rows "${LINES:-24}" cols "${COLUMNS:-80}"
	setsid -wc bash "$run/command" </dev/hvc0 >/dev/hvc0 2>&1
}
