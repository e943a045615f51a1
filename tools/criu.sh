#!/bin/sh
# SPDX-License-Identifier: MIT
# criu.sh - find a CRIU that works on this kernel, or build one; prints its path
#
# The distribution's CRIU is taken when it is new enough and `criu check` is content. Where
# it is not (Debian 12 has 3.17, which cannot dump on kernels from 6.16 on), version 4.2.1 is
# built from Debian's own source tarball, fetched from the archives apt is configured with,
# into a prefix of its own, so that the distribution's files stay untouched.
#
#   criu.sh [find|get]    find: only look; get (default): look, else install or build
#   GQ_CRIU=PATH          take this one and look no further
#   GQ_CRIU_PREFIX=DIR    where to build to (/opt/gq-criu; build/criu if that is not writable)
#   GQ_CRIU_TARBALL=FILE  build from this copy of the tarball instead of fetching one
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tools/progress.sh
. "$top/tools/progress.sh"

oldest=4.1.1
version=4.2.1
tarball=criu_$version.orig.tar.xz
sha256=29ec0ee09e296479fe7048c80980e8ef1d0684d0b0204c2b101dfea19f6725b9
packages="gcc make pkg-config xz-utils python3 libc6-dev protobuf-compiler
	protobuf-c-compiler libprotobuf-dev libprotobuf-c-dev libnl-3-dev libcap-dev
	libnet1-dev uuid-dev libnftables-dev"
log=$top/build/log/criu.log

is_root() { [ "$(id -u)" -eq 0 ]; }
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# Linux 6.16 took SO_PASSCRED away from internet sockets; before 4.2 CRIU asks every socket for
# it and gives up, though its check is content.
if at_least "$(uname -r)" 6.16; then
	oldest=4.2
fi

# new_enough PROGRAM: it runs, and its version is one that gq can use
new_enough() {
	[ -x "$1" ] || return 1
	found=$("$1" --version 2>/dev/null | sed -n 's/^Version: //p')
	[ -n "$found" ] && at_least "$found" "$oldest"
}

# works PROGRAM: criu check needs root; without root the version has to do
works() {
	new_enough "$1" || return 1
	! is_root || "$1" check >/dev/null 2>&1
}

prefix() {
	if [ -n "${GQ_CRIU_PREFIX:-}" ]; then
		echo "$GQ_CRIU_PREFIX"
	elif mkdir -p /opt/gq-criu 2>/dev/null && [ -w /opt/gq-criu ]; then
		echo /opt/gq-criu
	else
		echo "$top/build/criu"
	fi
}

find_criu() {
	for c in "${GQ_CRIU:-}" "$(command -v criu || :)" /usr/sbin/criu \
		"${GQ_CRIU_PREFIX:-/opt/gq-criu}/sbin/criu" "$top/build/criu/sbin/criu"; do
		if [ -n "$c" ] && works "$c"; then
			echo "$c"
			return 0
		fi
	done
	return 1
}

missing() {
	for p in "$@"; do
		dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^ii' || echo "$p"
	done
}

apt_install() {
	DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
		install -y --no-install-recommends "$@"
}

# update_lists: unless whoever called has just done it
update_lists() {
	[ -z "${GQ_APT_UPDATED:-}" ] || return 0
	step "updating the package lists" "$log" apt-get update && GQ_APT_UPDATED=1
}

install_packages() {
	# shellcheck disable=SC2086 # a list of names
	need=$(missing $packages)
	[ -n "$need" ] || return 0
	if ! is_root; then
		# shellcheck disable=SC2086
		complain "building CRIU needs packages; as root: apt-get install" $need
		return 1
	fi
	update_lists || return 1
	# shellcheck disable=SC2086
	step "installing $(echo "$need" | wc -l) packages to build CRIU" "$log" apt_install $need
}

# install_from_apt: the distribution's, where it is new enough
install_from_apt() {
	is_root || return 1
	offered=$(apt-cache policy criu 2>/dev/null | sed -n 's/^  Candidate: //p' | sed 's/^[0-9]*://')
	case $offered in
	[0-9]*) at_least "${offered%%-*}" "$oldest" || return 1 ;;
	*) return 1 ;;
	esac
	step "installing CRIU $offered" "$log" apt_install criu && works /usr/sbin/criu
}

good_tarball() { echo "$sha256  $1" | sha256sum --check --status 2>/dev/null; }

# archives: every place apt is configured to fetch packages from, one URI a line
archives() {
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null | sort -u
}

# fetch FILE: through apt's own downloader, so that proxies and exotic transports just work
fetch() {
	sites=$(archives)
	if [ -z "$sites" ] && is_root; then
		update_lists
		sites=$(archives)
	fi
	for site in $sites; do
		say "fetching the source of CRIU $version"
		rm -f "$1.part"
		/usr/lib/apt/apt-helper download-file "$site/pool/main/c/criu/$tarball" "$1.part" \
			"SHA256:$sha256" >>"$log" 2>&1
		if good_tarball "$1.part"; then
			mv "$1.part" "$1"
			return 0
		fi
	done
	rm -f "$1.part"
	complain "no archive that apt knows of has $tarball; fetch it by other means and set"
	complain "GQ_CRIU_TARBALL=FILE (sha256 $sha256)"
	return 1
}

compile() {
	tar -C "$2" --strip-components=1 -xf "$1" &&
		make -C "$2" -j"$(nproc)" PREFIX="$3" NO_GNUTLS=1 criu &&
		mkdir -p "$3/sbin" &&
		strip -o "$3/sbin/criu.new" "$2/criu/criu" &&
		mv -f "$3/sbin/criu.new" "$3/sbin/criu"
}

build() {
	to=$(prefix)
	mkdir -p "$top/build/log"
	install_packages || return 1
	from=${GQ_CRIU_TARBALL:-$top/build/$tarball}
	if ! good_tarball "$from"; then
		[ -z "${GQ_CRIU_TARBALL:-}" ] || {
			complain "$from: not the tarball of CRIU $version (sha256 differs)"
			return 1
		}
		fetch "$from" || return 1
	fi
	src=$(mktemp -d "$top/build/criu-src.XXXXXX") || return 1
	step "building CRIU $version into $to" "$log" compile "$from" "$src" "$to"
	rc=$?
	rm -rf "$src"
	return "$rc"
}

get_criu() {
	if find_criu; then
		return 0
	fi
	mine=$(prefix)/sbin/criu
	if ! new_enough "$mine"; then
		if install_from_apt; then
			echo /usr/sbin/criu
			return 0
		fi
		build || return 1
	fi
	works "$mine" || complain "$mine check is not content; snapshots may not work here:" \
		"$("$mine" check 2>&1 | grep -m 1 -i error)"
	echo "$mine"
}

case ${1:-get} in
find) find_criu ;;
get) get_criu ;;
*)
	complain "unknown verb '$1' (find or get)"
	exit 2
	;;
esac
