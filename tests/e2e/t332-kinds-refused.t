#!/bin/sh
# SPDX-License-Identifier: MIT
# t332-kinds-refused.t - what no image can hold is refused in plain words before anything is frozen,
# with the cure, and the job runs on
. "$(dirname "$0")/../lib/gq.sh"
driver=$GQ_BUILD/tests/lib/exec-driver
kinds=$GQ_BUILD/tests/lib/kinds
[ -x "$driver" ] && [ -x "$kinds" ] || skip_all "tests/lib/exec-driver or kinds is not built"
need_criu
need_programs python3
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

# refused KIND WORDS-AND-CURE
refused() {
	possible "$1" 2 || return 0
	job=$((job + 1))
	out=$gq_dir/work/$job.out
	printf '#!/bin/sh\nexec %s %s\n' "$kinds" "$1" >"$gq_dir/$1"
	said=$(timeout 100 "$driver" "$gq_dir" 2>&1 <<END
start $job 1 0 $gq_dir/$1
lines $out 3
store $job 1
wait store-failed $job 1
grows $out
signal $job 1 15
wait exited $job 1
END
	)
	like "$1: the words, and the cure" "$said" "^store-failed $job 1 .*text=check: process [0-9]+ \\(kinds\\) $2"
	like "$1: the job runs on and ends well" "$said" "^exited $job 1 code=5 signal=0"
}

refused io_uring 'uses io_uring - set UV_USE_IO_URING=0'
refused perf 'has a performance counter open - run it without the profiler'
refused fanotify 'uses fanotify - watch files with inotify'
refused userfaultfd 'handles page faults itself \(userfaultfd\) - '
refused bpf 'holds a kernel object that criu does not know: bpf-prog - '
refused fuse 'serves a FUSE file system - mount'
refused tun 'has a network device open - make'
refused loop 'has a loop device open - set up'
refused pty 'has a terminal open - use files or pipes'
refused notify 'supervises system calls \(seccomp notification\) - start'
refused traced 'is traced by process 1000 \(a debugger\) - end the debugger'
refused hugetlb 'has memory in reserved huge pages - use madvise'
refused namespace 'has its own net namespace - start it without its sandbox'
refused orphan "was left behind by its parent \\(a daemon outside the job's tree\\) - let the job wait"
mkfifo kind.outside
python3 -c 'import time
f = open("kind.outside")
time.sleep(600)' "$gq_dir" &
server=$!
refused pipe 'writes to a pipe of a process outside the job - use a file'
kill "$server"
done_testing
