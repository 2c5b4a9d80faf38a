# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# TAP: assertions, checks and the plan. Part of lib.sh.

FAILED=0	# assertions that failed
ASSERTIONS=0	# all of them
FINISHED=	# the script has come to its end

diag() { sed 's/^/# /'; }

note() { echo "# $*"; }

ok()
{
	ASSERTIONS=$((ASSERTIONS + 1))
	echo "ok - $1"
}

# not_ok NAME [DIAGNOSTIC...]
not_ok()
{
	ASSERTIONS=$((ASSERTIONS + 1)) FAILED=$((FAILED + 1))
	echo "not ok - $1"
	shift
	[[ $# == 0 ]] || printf '%s\n' "$@" | diag
}

# skip NAME REASON: "this cannot be tested here", never "this did not work". The runner
# compares it with the list of expected skips, so the reason is always the same.
skip()
{
	ASSERTIONS=$((ASSERTIONS + 1))
	echo "ok - $1 # SKIP $2"
}

# die MESSAGE: the surroundings are broken, nothing can be said about the driver
die()
{
	not_ok "set-up" "$@"
	exit 1
}

# is NAME EXPECTED SEEN: an assertion on two strings
is()
{
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1" "expected: $2" "    seen: $3"
	fi
}

# expect WHAT EXPECTED SEEN: the same inside of a function run by check
expect()
{
	[[ $2 == "$3" ]] && return
	echo "$1: expected '$2', seen '$3'"
	return 1
}

# found PATTERN: the input has it. Reads all of it, unlike grep -q, which makes a
# pipe fail when the writer is not done yet.
found()
{
	local input

	input=$(cat)
	grep -qi -- "$1" <<<"$input"
}

# figure NUMBER WHAT: what a check has done to the driver. tools/check adds up the
# numbers of a kind.
figure() { echo "figure: $*"; }

# has_moved COUNTER...: an assertion has seen these counters of the driver grow.
# tools/test/unmoved collects the names from the output of all scripts.
has_moved() { echo "moved: $*"; }

show_figures()
{
	local line

	while read -r line; do
		case $line in
		"figure: "* | "moved: "*) note "$line" ;;
		esac
	done <"$TMP/check.out"
}

# check NAME COMMAND...: the command succeeds
check()
{
	local name=$1 begin=$SECONDS
	shift

	run_limited "$@" >"$TMP/check.out" 2>&1
	if [[ $RC == 0 ]]; then
		ok "$name"
		show_figures
	else
		not_ok "$name"
		echo "# exit status $RC after $((SECONDS - begin)) s: $*"
		tail -n "${CHECK_LINES:-40}" "$TMP/check.out" | diag
	fi
	return 0
}

# refuse NAME ERROR COMMAND...: the command fails and its output has ERROR in it
refuse()
{
	local name=$1 error=$2
	shift 2

	run_limited "$@" >"$TMP/check.out" 2>&1
	if [[ $RC != 0 && $RC != 124 ]] && grep -qiE -- "$error" "$TMP/check.out"; then
		ok "$name"
	else
		not_ok "$name" "expected: failure with '$error'" "    seen: exit status $RC"
		diag <"$TMP/check.out"
	fi
	return 0
}

# tap_run NAME COMMAND...: a program that prints TAP itself, with its plan (1..N) at
# the end. Its assertions become the script's.
tap_run()
{
	local name=$1 line plan=none count=0 bad=0
	shift

	run_limited "$@" >"$TMP/tap.out" 2>"$TMP/tap.err"
	while IFS= read -r line; do
		case $line in
		"ok"*) count=$((count + 1)) ;;
		"not ok"*) count=$((count + 1)) bad=$((bad + 1)) ;;
		1..*) plan=${line#1..}; continue ;;
		"#"*) ;;
		*) line="# $line" ;;
		esac
		echo "$line"
	done <"$TMP/tap.out"
	diag <"$TMP/tap.err"
	ASSERTIONS=$((ASSERTIONS + count)) FAILED=$((FAILED + bad))
	if [[ $plan != "$count" || $RC -ne $((bad > 0)) ]]; then
		not_ok "$name comes to its end" "exit status $RC: $*" \
			"planned: $plan, seen: $count, of these failed: $bad"
	fi
	return 0
}

# The last line of a script. Then comes the plan, after cleanup().
finish()
{
	[[ ! -s $TMP/mistakes ]] || not_ok "the script is right" "$(<"$TMP/mistakes")"
	FINISHED=yes
	exit 0
}

# print_plan: only of a script that has come to its end. The runner wants to see it
# after as many assertions.
print_plan() { [[ -z $FINISHED ]] || echo "1..$ASSERTIONS"; }
