# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Shared by the harness's scripts; to be sourced. Sets $top (the checkout) and
# $cache (everything we build outside of it).

# A make above us must not hand its jobserver and variables to the builds here.
unset MAKEFLAGS MFLAGS MAKELEVEL GNUMAKEFLAGS
export LC_ALL=C.UTF-8
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cache=${ROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/roce}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)

say() { printf '%s\n' "$*" >&2; }

die() {
	say "${0##*/}: $*"
	exit 1
}

# with_progress WHAT LOG COMMAND...: the command's output goes to the log; every 15 s a
# line says how long it has run, and what it said last.
with_progress() {
	local what=$1 log=$2 start=$SECONDS status=0 pid
	shift 2

	: >"$log"
	(
		# Waits without a child: that would outlive this shell, with its locks.
		exec {never}<> <(:)
		until read -rt 15 -u "$never" || ! kill -0 $$; do
			printf '  %s: %d:%02d min, %d lines of log, now: %s\n' "$what" \
				$(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)) \
				"$(wc -l <"$log")" "$(tail -n 1 "$log" | sed 's/.*\(.\{60\}\)$/...\1/')" >&2
		done
	) </dev/null &
	pid=$!
	"$@" >>"$log" 2>&1 </dev/null || status=$?
	kill $pid
	wait $pid 2>/dev/null
	return $status
}

package_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_install() {
	apt-get -qq -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$@"
}

# The machine's lists of packages may be missing, or too old.
apt_install_or_update() {
	export DEBIAN_FRONTEND=noninteractive
	apt_install "$@" || { apt-get -qq update && apt_install "$@"; }
}

# One apt at a time, whoever of us asks; and none at all when nothing is missing.
install_packages() {
	local package missing=()

	for package; do
		package_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing: ${missing[*]}"
	(
		flock 9
		with_progress "packages" "$cache/apt.log" apt_install_or_update "${missing[@]}" ||
			{ cat "$cache/apt.log" >&2; exit 1; }
	) 9>"$cache/apt.lock" </dev/null || die "cannot install ${missing[*]}"
}

# This machine is Debian or Ubuntu.
is_ubuntu() { grep -qx 'ID=ubuntu' /etc/os-release; }

# The package with the source that kernels of ours are built from: of Debian 12 the newer
# one of its two, of other releases their own. The lists may be missing.
kernel_source() {
	local name=linux-source-6.12

	[ -n "$(apt-cache madison linux-source 2>/dev/null)" ] || apt-get -qq update >&2
	[ -n "$(apt-cache madison $name)" ] ||
		name=$(apt-cache depends linux-source | awk '/Depends:/ { print $2; exit }')
	[ -n "$name" ] || die "the archive has no linux-source"
	echo "$name"
}

# PACKAGE [FOLDER]: its archive, below that folder
kernel_tarball() {
	local file

	for file in "${2:-}/usr/src/$1".tar.* "${2:-}/usr/src/$1/$1".tar.*; do
		[ ! -e "$file" ] || { echo "$file"; return; }
	done
	die "$1 has no archive in /usr/src"
}
