# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Processes: how long to wait, what a status is worth, what is left over. Part of
# lib.sh.

# Nothing here depends on the speed of the machine: what must happen is waited for. One
# ceiling ends a script that hangs, ROCE_CEILING seconds after its begin (of the runner;
# one hour by hand). Who waits gives up a moment before it, and says for what he waited.
: "${ROCE_CEILING:=3600}"
PATIENCE=$((ROCE_CEILING - ROCE_CEILING / 20 - 10))

# seconds_left: until then
seconds_left() { echo $((SECONDS < PATIENCE ? PATIENCE - SECONDS : 1)); }

# A process costs up to a second where the CPU is emulated and the kernel checks
# everything: what runs often here does without.
exec {NAP}<> <(:)
nap() { read -rt "$1" -u "$NAP" || true; }
# Before bash 5.2, the alarm that ends a read may ring before the read begins.
((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 502)) || nap() { sleep "$1"; }

# ended PID: the process does not run any more. Debian 13's bash may not bury children that
# end while it reads with a timeout, as nap does.
ended()
{
	local stat

	read -r stat <"/proc/$1/stat" || return 0
	[[ $stat == *") Z "* ]]
} 2>/dev/null

# wait_for COMMAND...: until the command succeeds, however long that takes. Of a
# function, the last command says so: errexit is ignored in it.
wait_for()
{
	until "$@" >/dev/null 2>&1; do
		if ((SECONDS >= PATIENCE)); then
			echo "waited in vain for: $*"
			return 1
		fi
		nap 0.1
	done
}

# begin FILE COMMAND...: in the background, as process BEGUN, with its output in the
# file. The file is empty at once, so nobody reads the output of an earlier process.
begin()
{
	local file=$1
	shift

	: >"$file"
	"$@" >"$file" 2>&1 &
	# shellcheck disable=SC2034 # for the caller
	BEGUN=$!
}

# strictly COMMAND...: runs a command or function so that every command in it that
# fails ends it, and the check that it is part of. Bash ignores errexit in all that is
# called in a condition ("f || ...", "if f", "! f", "until f"), and nothing brings it
# back, but an ERR trap tells: a script that calls this there is wrong.
strictly()
{
	local errexit=ignored

	trap 'errexit=obeyed' ERR
	set +e
	false
	set -e
	trap - ERR
	if [[ $errexit == ignored ]]; then
		echo "called in a condition, where errexit is ignored: $*" | tee -a "$TMP/mistakes"
		exit 1
	fi
	"$@"
}

# attempt COMMAND...: runs a function strictly, in a subshell, and leaves its status in
# RC. Inside of a check, a function that may fail is not called in a condition:
#
#	attempt function
#	[[ $RC == 0 ]] || { cat "$TMP/log"; return 1; }
#
# One that has to succeed is just called. A program needs none of this.
attempt()
{
	set +e
	(set -e; strictly "$@")
	RC=$?
	set -e
}

# may_crash COMMAND...: a crash is no news for the kernel's log
may_crash()
{
	local file=/proc/sys/debug/exception-trace traced

	[[ -e $file ]] || { "$@"; return; }
	traced=$(<"$file")
	echo 0 >"$file"
	attempt "$@"
	echo "$traced" >"$file"
	return "$RC"
}

# fails COMMAND...: the command ends with a status that is not 0
fails()
{
	attempt "$@"
	[[ $RC != 0 ]] && return
	echo "succeeds: $*"
	return 1
}

# show_group PGID: the processes of a group and what they wait for
show_group()
{
	ps -eo pgid,pid,stat,wchan:30,args | awk -v g="$1" '$1 == g'
}

group_ended() { ! kill -0 -- "-$1"; }

# Everything a check started dies with it, so that one failure is one failure.
reap_group()
{
	local pid=$1 p

	kill -TERM -- "-$pid" 2>/dev/null || return 0
	nap 0.3
	! kill -KILL -- "-$pid" 2>/dev/null || nap 0.3
	! wait_for group_ended "$pid" || return 0
	# Only the kernel can hold a process that got SIGKILL: say where.
	echo "processes survive SIGKILL:"
	show_group "$pid"
	for p in $(pgrep -g "$pid"); do
		cat "/proc/$p/stack" 2>/dev/null || true
	done
	return 1
}

# run_limited COMMAND...: runs a command or function strictly, in a process group of its
# own, for the time that the script has left. Its status comes in RC.
run_limited()
{
	local limit pid status

	limit=$(($(seconds_left) + 5))
	exec {status}<> <(:)
	set -m
	{ set +me; (set -e; strictly "$@"); echo "$?" >&"$status"; } </dev/null &
	pid=$!
	set +m
	if read -rt "$limit" -u "$status" RC; then
		# It has said its status: this one is that of the echo.
		wait "$pid" || RC=1
	else
		echo "timed out after $limit s: $*"
		show_group "$pid"
		[[ ! -s $TMP/server.out ]] || { echo "--- server's output:"; tail -20 "$TMP/server.out"; }
		RC=124
	fi
	exec {status}>&-
	reap_group "$pid" || RC=1
}
