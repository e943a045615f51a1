#!/bin/sh
# SPDX-License-Identifier: MIT
# t330-kinds.t - every kind of process that can be stored: twice stored, twice restored, and all of
# it is as it should be (tests/lib/kinds.h)
# timeout: 300
. "$(dirname "$0")/../lib/gq.sh"
driver=$GQ_BUILD/tests/lib/exec-driver
kinds=$GQ_BUILD/tests/lib/kinds
[ -x "$driver" ] && [ -x "$kinds" ] || skip_all "tests/lib/exec-driver or kinds is not built"
need_criu
gq_tmp
GQ_SHIM=$GQ_BUILD/bin/gq-shim
GQ_CRIU=$gq_criu
export GQ_SHIM GQ_CRIU
job=0

# possible KIND SKIPS: on this machine; else so many skips
possible() {
	"$kinds" "$1" probe >"$gq_dir/probe" 2>&1
	[ $? -eq 77 ] || return 0
	skip "$(cat "$gq_dir/probe")" "$2"
	return 1
}

# kind NAME [GENERATIONS]: stored and restored so often, then asked to look at itself and to end
kind() {
	case $1 in tcp6 | aio) possible "$1" 1 || return 0 ;; esac
	job=$((job + 1))
	out=$gq_dir/work/$job.out
	printf '#!/bin/sh\nexec %s %s\n' "$kinds" "$1" >"$gq_dir/$1"
	{
		echo "start $job 1 0 $gq_dir/$1"
		echo "lines $out 3"
		i=1
		while [ "$i" -le "${2:-2}" ]; do
			echo "store $job $i"
			echo "wait stored $job $i"
			echo "start $job $((i + 1)) $i $gq_dir/$1"
			echo "wait started $job $((i + 1))"
			echo "grows $out"
			i=$((i + 1))
		done
		echo "signal $job $i 15"
		echo "wait exited $job $i"
	} >"$gq_dir/commands"
	said=$(timeout 100 "$driver" "$gq_dir" <"$gq_dir/commands" 2>&1)
	like "$1: goes on right after ${2:-2} images" "$said
$(tail -n 1 "$out")" "^exited $job $i code=5 signal=0"
}

kind plain 10
for name in threads tree states timers pidfd seccomp pdeathsig attributes \
	events pipes fifo tcp tcp6 unix udp shared memfd posix-shm sysv \
	inotify unlinked mapped locks aio cwd memory; do
	kind "$name"
done
kind many 1
is 'plain: every step once' "$(awk '$1 != NR' "$gq_dir/work/1.out" | wc -l)" 0
done_testing
