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

package_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
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
		export DEBIAN_FRONTEND=noninteractive
		apt-get -qq -o DPkg::Lock::Timeout=600 install -y \
			--no-install-recommends "${missing[@]}" >"$cache/apt.log" 2>&1 ||
			{ apt-get -qq update >"$cache/apt.log" 2>&1 &&
			  apt-get -qq -o DPkg::Lock::Timeout=600 install -y \
				--no-install-recommends "${missing[@]}" \
				>>"$cache/apt.log" 2>&1; } ||
			{ cat "$cache/apt.log" >&2; exit 1; }
	) 9>"$cache/apt.lock" </dev/null || die "cannot install ${missing[*]}"
}
