#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh - from a fresh Debian machine to a running gq: one verb per step
set -u
top=$(cd "$(dirname "$0")" && pwd) || exit 1
cd "$top" || exit 1
# shellcheck source=tools/progress.sh
. "$top/tools/progress.sh"

build=$top/build
logs=$build/log
jobs=$(nproc)

build_packages="autoconf automake libtool pkg-config gcc libc6-dev make perl libevent-dev
	libconfig-dev libzstd-dev libsqlite3-dev libjansson-dev libcmocka-dev libncurses-dev"
run_packages="python3 curl jq sqlite3 xz-utils zstd util-linux procps"
check_packages="shellcheck cppcheck clang-format"

help() {
	cat <<'END'
usage: ./setup.sh VERB

  deps    install what gq needs: packages through apt, and a CRIU that works here
  build   build gq; the programs are then in build/bin
  demo    show gq at work on two simulated cards: lend, evict on time, resume
  check   run every test; the last line is "N passed, N failed[, N skipped]"
          (--only WORD: those with WORD in their path)
  bench   measure, and print the tables of tests/bench (or of the one that is named)

Each verb first does what it needs of the earlier ones. Details go to build/log.
END
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

# need PACKAGE...: install those that are not
need() {
	command -v dpkg-query >/dev/null 2>&1 || {
		complain "no dpkg here: gq is set up this way on Debian only; see README.md, Install"
		return 1
	}
	absent=$(missing "$@")
	[ -n "$absent" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		# shellcheck disable=SC2086 # a list of names
		complain "packages are missing; as root: apt-get install" $absent
		return 1
	fi
	if [ -z "${GQ_APT_UPDATED:-}" ]; then
		step "updating the package lists" "$logs/apt.log" apt-get update || return 1
		export GQ_APT_UPDATED=1 # known to tools/criu.sh, too
	fi
	# shellcheck disable=SC2086
	step "installing $(echo "$absent" | wc -l) packages" "$logs/apt.log" apt_install $absent
}

# do_deps: without a CRIU gq still works, only without snapshots; so that is no failure
do_deps() {
	# shellcheck disable=SC2086
	need $build_packages $run_packages || return 1
	criu=$("$top/tools/criu.sh" get) || {
		complain "no working CRIU (see build/log/criu.log): jobs cannot be snapshotted here"
		criu=criu
	}
}

# configure_in DIR OPTION...: unless DIR is configured with just these options
configure_in() {
	dir=$1
	shift
	set -- "--prefix=/usr/local" "--sysconfdir=/etc" "--localstatedir=/var" \
		"--with-criu=$criu" "$@"
	if [ ! -x "$top/configure" ] || [ ! -f "$top/Makefile.in" ]; then
		step "making configure" "$logs/build.log" ./autogen.sh || return 1
	fi
	if [ -f "$dir/Makefile" ] && [ "$(cat "$dir/.configured" 2>/dev/null)" = "$*" ]; then
		return 0
	fi
	mkdir -p "$dir"
	(cd "$dir" && step "configuring ${dir#"$top"/}" "$logs/build.log" "$top/configure" -q "$@") ||
		return 1
	echo "$*" >"$dir/.configured"
}

# make_each DIR TARGET...: one after the other; side by side they would build the same files
make_each() {
	in=$1
	shift
	for target in "$@"; do
		make -s --no-print-directory -C "$in" -j"$jobs" "$target" || return 1
	done
}

# make_in DIR [TARGET...]: all, and these; says nothing when there is nothing to do
make_in() {
	dir=$1
	shift
	# automake's rule for config.h never looks up to date, so it is asked about by hand
	if make -s -C "$dir" -q -o config.h all-am "$@" >/dev/null 2>&1 &&
		[ -z "$(find "$dir/config.h" -newer "$dir/bin/.made")" ]; then
		return 0
	fi
	step "building ${dir#"$top"/}" "$logs/build.log" make_each "$dir" all "$@"
}

do_build() {
	do_deps && configure_in "$build" && make_in "$build"
}

# do_check: tests run on a build of its own, with fault points and self checks in it
do_check() {
	do_deps || return 1
	# shellcheck disable=SC2086
	need $check_packages || complain "going on; the tests that need them will be skipped"
	configure_in "$build/debug" --enable-debug --enable-werror &&
		make_in "$build/debug" check-programs || return 1
	tests=$(make -s --no-print-directory -C "$build/debug" list-tests) || return 1
	# shellcheck disable=SC2086
	exec "$top/tests/lib/run-tests" --build "$build/debug" "$@" $tests
}

do_bench() {
	do_build || return 1
	if [ $# -gt 0 ] && [ ! -x "$top/tests/bench/$1" ]; then
		complain "no benchmark '$1'; there are:" "$(list_benches | sed 's|.*/||' | tr '\n' ' ')"
		return 2
	fi
	for bench in $(if [ $# -gt 0 ]; then echo "$top/tests/bench/$1"; else list_benches; fi); do
		say "${bench##*/}"
		[ $# -eq 0 ] || shift
		GQ_BUILD=$build "$bench" "$@" || return 1
	done
}

list_benches() { find "$top/tests/bench" -maxdepth 1 -type f -perm -100 | sort; }

do_demo() {
	do_build || return 1
	PATH=$build/bin:$PATH GQ_BUILD=$build exec "$top/examples/demo/demo.sh" "$@"
}

verb=${1:-help}
[ $# -eq 0 ] || shift
case $verb in
deps) do_deps ;;
build) do_build ;;
demo) do_demo "$@" ;;
check) do_check "$@" ;;
bench) do_bench "$@" ;;
help | -h | --help) help ;;
*)
	complain "unknown verb '$verb' (deps, build, demo, check or bench)"
	exit 2
	;;
esac
