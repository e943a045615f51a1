# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# gq.sh - a gqd of one's own for a test: simulated cards, a folder of its own, no trace left (sourced)
#
#   . "$(dirname "$0")/../lib/gq.sh"
#   sim_cards 2 80G             # the default; call it before gqd_start for others
#   gqd_start 'pool: { idle_hold = "1s"; };'    # each argument is a line of gq.conf
#   id=$(gq_submit --vram 1G --wrap 'sleep 1')
#   ok 'it ends' 'gqctl wait "$id" --state CD --timeout 30'
#   done_testing
#
# gq_dir is the test's folder: gq.conf, gqd.log, state/, run/, work/ (the current directory).
# gqd_start without lines keeps gq.conf: that is a restart. gqd_env holds NAME=value words for
# gqd alone (gqd_env='GQ_FAULT=store.commit:kill'), gqd_args more of its arguments. With
# GQ_KEEP=1 in the environment the folder stays for a look.
# Every process whose arguments or environment name gq_dir is ended when the test ends.
GQ_TOP=${GQ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$GQ_TOP/tests/lib/tap.sh"
if [ -z "${GQ_BUILD:-}" ]; then
	GQ_BUILD=$GQ_TOP/build
	[ ! -x "$GQ_BUILD/debug/bin/gqd" ] || GQ_BUILD=$GQ_BUILD/debug
fi
PATH=$GQ_BUILD/bin:$PATH
export GQ_TOP GQ_BUILD PATH
unset GQ_SOCKET GQ_FAULT GQ_SIMGPU

gq_dir=
gqd_pid=
gqd_env=
gqd_args=

need_root() { [ "$(id -u)" -eq 0 ] || skip_all "needs root"; }

need_criu() {
	need_root
	gq_criu=$("$GQ_TOP/tools/criu.sh" find) || skip_all "no CRIU that works on this kernel"
	"$gq_criu" check >/dev/null 2>&1 || skip_all "criu check is not content here"
}

need_programs() {
	for gq_p in "$@"; do
		command -v "$gq_p" >/dev/null || skip_all "$gq_p not found"
	done
}

need_debug() {
	gqd --list-faults >/dev/null 2>&1 || skip_all "gqd was built without fault points"
}

# gq_tmp: the folder of this test, once
gq_tmp() {
	[ -z "$gq_dir" ] || return 0
	gq_dir=$(mktemp -d "${TMPDIR:-/tmp}/gq-test.XXXXXX") || bail "mktemp failed"
	trap gq_cleanup EXIT
	trap 'exit 143' INT TERM HUP PIPE
	chmod 755 "$gq_dir"
	mkdir "$gq_dir/state" "$gq_dir/run" "$gq_dir/work"
	chmod 1777 "$gq_dir/work"
	GQ_SOCKET=$gq_dir/run/gqd.sock
	export GQ_SOCKET
	: >"$gq_dir/gq.conf"
	cd "$gq_dir/work" || bail "cannot enter $gq_dir/work"
}

# gq_ours: the processes that name gq_dir; children inherit it through their environment
gq_ours() {
	for gq_p in /proc/[0-9]*; do
		[ "${gq_p#/proc/}" != "$$" ] || continue
		grep -Fqs -e "$gq_dir" "$gq_p/cmdline" "$gq_p/environ" && echo "${gq_p#/proc/}"
	done
}

gq_cleanup() {
	gq_rc=$?
	trap - EXIT
	cd /
	for _ in 1 2 3 4 5; do
		gq_left=$(gq_ours)
		[ -n "$gq_left" ] || break
		# shellcheck disable=SC2086 # a list of numbers
		kill -9 $gq_left 2>/dev/null
		sleep 0.1
	done
	if [ -n "${GQ_KEEP:-}" ]; then
		diag "kept: $gq_dir"
	else
		rm -rf "$gq_dir"
	fi
	exit "$gq_rc"
}

# sim_cards N [MEMORY] [OPTION...]: the simulated driver with N cards, used from here on
sim_cards() {
	gq_tmp
	gq_cards=$1
	gq_memory=${2:-80G}
	shift
	[ $# -eq 0 ] || shift
	for gq_libs in "$GQ_BUILD/lib/simgpu" "$GQ_BUILD/lib/simgpu/.libs"; do
		[ ! -e "$gq_libs/libnvidia-ml.so.1" ] || break
	done
	[ -e "$gq_libs/libnvidia-ml.so.1" ] || bail "no simulated driver in $GQ_BUILD/lib/simgpu"
	GQ_SIMGPU=$gq_dir/simgpu
	LD_LIBRARY_PATH=$gq_libs
	export GQ_SIMGPU LD_LIBRARY_PATH
	gq-simgpu -f "$GQ_SIMGPU" create --cards "$gq_cards" --memory "$gq_memory" "$@" ||
		bail "gq-simgpu create failed"
}

# gqd_start [LINE...]: returns when it answers
gqd_start() {
	gq_tmp
	[ -n "${GQ_SIMGPU:-}" ] || sim_cards 2 80G
	[ $# -eq 0 ] || printf '%s\n' "$@" >"$gq_dir/gq.conf"
	# shellcheck disable=SC2086 # lists of words
	env $gqd_env gqd -c "$gq_dir/gq.conf" --state-dir "$gq_dir/state" --run-dir "$gq_dir/run" \
		$gqd_args >>"$gq_dir/gqd.log" 2>&1 </dev/null &
	gqd_pid=$!
	gqd_wait_up || bail "gqd did not come up" "$(tail -n 20 "$gq_dir/gqd.log")"
}

gqd_wait_up() {
	for _ in $(seq 200); do
		gqctl ping >/dev/null 2>&1 && return 0
		kill -0 "$gqd_pid" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

# gqd_stop: politely; its status is gqd's
gqd_stop() {
	kill -TERM "$gqd_pid" 2>/dev/null
	wait "$gqd_pid"
}

gqd_kill9() {
	kill -KILL "$gqd_pid" 2>/dev/null
	wait "$gqd_pid" 2>/dev/null || :
}

# gqd_wait_dead: it ended by itself (a fault point); its status is gqd's
gqd_wait_dead() { wait "$gqd_pid" 2>/dev/null; }

# gq_submit ARG...: prints the job's number
gq_submit() { gqsub --parsable "$@"; }

# wait_for 'SHELL TEXT' [SECONDS]: until it is true; for what gqctl wait cannot tell
wait_for() {
	gq_until=$(($(date +%s) + ${2:-10}))
	until eval "$1" >/dev/null 2>&1; do
		if [ "$(date +%s)" -ge "$gq_until" ]; then
			diag "still not true after ${2:-10} s: $1"
			return 1
		fi
		sleep 0.05
	done
}

# gqd_log: what this test's gqd has said so far
gqd_log() { cat "$gq_dir/gqd.log"; }
