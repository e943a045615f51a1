#!/bin/sh
# SPDX-License-Identifier: MIT
# t320-snapshot-failures.t - a dump that fails leaves the job running, a restore that fails leaves
# the image; each says why. Then every fault point: nothing is lost, nothing done twice.
. "$(dirname "$0")/../lib/gq.sh"
driver=$GQ_BUILD/tests/lib/exec-driver
[ -x "$driver" ] || skip_all "tests/lib/exec-driver is not built"
need_criu
need_programs python3
gq_tmp
GQ_SHIM=$GQ_BUILD/bin/gq-shim
GQ_CRIU=$gq_criu
export GQ_SHIM GQ_CRIU
chain=$GQ_BUILD/tests/lib/chain
images=$gq_dir/images

drive() {
	said=$(timeout 150 "$driver" "$gq_dir" 2>&1)
}

script() {
	cat >"$gq_dir/$1"
}

# refused JOB SCRIPT REGEX: the store fails with that text, then the job ends well
refused() {
	drive <<END
start $1 1 0 $gq_dir/$2
lines $gq_dir/work/$1.out 3
store $1 1
wait store-failed $1 1
grows $gq_dir/work/$1.out
wait exited $1 1
END
	like "$2: the reason" "$said" "^store-failed $1 1 .*text=$3"
	like "$2: the job runs on and ends well" "$said" "^exited $1 1 code=$4 signal=0"
	not_ok "$2: nothing is left of the image" "ls -d $images/$1/*"
}

script chain <<END
#!/bin/sh
exec $chain 150
END
"$chain" 150 >plain

# --- what cannot be dumped is said before anything is touched
script io_uring <<'END'
#!/usr/bin/env python3
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 4, ctypes.create_string_buffer(120)) < 0:
    print("none\nnone\nnone", flush=True)
for i in range(60):
    print(i, flush=True)
    time.sleep(0.02)
END
refused 1 io_uring 'check: process 1000 \(python3\) uses io_uring' 0

script outside <<'END'
#!/usr/bin/env python3
import os, socket, time
s = socket.socket(socket.AF_UNIX)
s.connect("../outside.sock")
for i in range(60):
    print(i, flush=True)
    time.sleep(0.02)
END
python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX)
s.bind("../outside.sock")
s.listen()
c = s.accept()
time.sleep(600)' "$gq_dir" &
server=$!
wait_for "test -S ../outside.sock"
refused 2 outside 'check: process 1000 \(python3\) is connected to a UNIX socket outside the job' 0
kill "$server"

script tcp <<'END'
#!/usr/bin/env python3
import socket, time
s = socket.create_connection(("127.0.0.1", int(open("port").read())))
for i in range(60):
    print(i, flush=True)
    time.sleep(0.02)
END
python3 -c 'import os, socket, time
s = socket.create_server(("127.0.0.1", 0))
open("port.new", "w").write(str(s.getsockname()[1]))
os.rename("port.new", "port")
time.sleep(600)' "$gq_dir" &
server=$!
wait_for "test -s port"
refused 3 tcp 'check: process 1000 \(python3\) has a TCP connection to 127.0.0.1:[0-9]+ outside the job' 0
kill "$server"

script daemon <<'END'
#!/bin/sh
(setsid sleep 30 &)
for i in $(seq 60); do echo "$i"; sleep 0.02; done
END
refused 4 daemon 'check: process [0-9]+ \(sleep\) was left behind by its parent' 0

if ! grep -q 'CapEff:.*[0-9a-f]\{9\}[13579bdf][0-9a-f]\{6\}$' /proc/self/status ||
	! capsh --has-p=cap_sys_resource 2>/dev/null; then
	drive <<END
user 65534 65534
start 5 1 0 $gq_dir/daemon
lines $gq_dir/work/5.out 3
store 5 1
wait store-failed 5 1
kill 5 1
wait exited 5 1
END
	like 'the job of a user, without CAP_SYS_RESOURCE' "$said" \
		'text=check: the job runs as uid 65534 and this machine lacks CAP_SYS_RESOURCE'
else
	skip 'this machine has CAP_SYS_RESOURCE'
fi

# --- criu's own refusal
script socket <<'END'
#!/usr/bin/env python3
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
s.bind(("127.0.0.1", 0))
s.listen()
for i in range(60):
    print(i, flush=True)
    time.sleep(0.02)
END
refused 6 socket 'dump: .*\(criu/' 0

# --- a disk that is full
if mkdir "$gq_dir/small" && mount -t tmpfs -o size=256k gq-small "$gq_dir/small" 2>/dev/null; then
	script large <<END
#!/bin/sh
exec $chain 150 4
END
	GQ_TEST_IMAGES=$gq_dir/small
	export GQ_TEST_IMAGES
	images=$gq_dir/small
	refused 7 large 'make room: .*/small has 0 MiB free, the image may need [0-9]+ MiB' 5
	mount -o remount,size=8m "$gq_dir/small"
	{
		echo "start 8 1 0 $gq_dir/large"
		echo "lines $gq_dir/work/8.out 5"
		echo 'store 8 1'
		echo 'wait store-failed 8 1'
		echo 'wait exited 8 1'
	} >"$gq_dir/commands"
	GQ_FAULT=dump.begin:sleep=1000 timeout 150 "$driver" "$gq_dir" <"$gq_dir/commands" >"$gq_dir/said" 2>&1 &
	wait_for "test -d $gq_dir/small/8/tmp.1"
	head -c 8000000 /dev/zero >"$gq_dir/small/ballast" 2>/dev/null
	wait
	drive <<END
adopt 8 1
wait exited 8 1
END
	like 'full in the middle of a dump: the job runs on' "$said" '^exited 8 1 code=5'
	like 'and the reason is said' "$(cat "$gq_dir/said")" \
		'^store-failed 8 1 .*text=dump: .*/image.gqi: write at 0 MiB: No space left on device'
	not_ok 'and nothing is left of the image' "ls -d $images/8/*"
	umount "$gq_dir/small"
	unset GQ_TEST_IMAGES
	images=$gq_dir/images
else
	skip 'no tmpfs to fill' 6
fi

# --- the gate finds a reason to say no, criu dies, criu takes too long
n=20
for fault in dump.verify:EIO dump.publish:ENOSPC dump.verify:exit dump.publish:kill dump.begin:EAGAIN; do
	n=$((n + 1))
	GQ_FAULT=$fault
	export GQ_FAULT
	drive <<END
start $n 1 0 $gq_dir/chain
lines $gq_dir/work/$n.out 20
store $n 1
wait store-failed $n 1
grows $gq_dir/work/$n.out
wait exited $n 1
END
	unset GQ_FAULT
	like "$fault: the job runs on" "$said" "^exited $n 1 code=5 signal=0"
	ok "$fault: nothing was lost or done twice" "cmp plain $n.out"
	not_ok "$fault: nothing is left of the image" "ls -d $images/$n/*"
done

GQ_TEST_DUMP_TIMEOUT_MS=300
GQ_FAULT=dump.publish:sleep=60000
export GQ_TEST_DUMP_TIMEOUT_MS GQ_FAULT
drive <<END
start 30 1 0 $gq_dir/chain
lines $gq_dir/work/30.out 20
store 30 1
wait store-failed 30 1
grows $gq_dir/work/30.out
wait exited 30 1
END
unset GQ_TEST_DUMP_TIMEOUT_MS GQ_FAULT
like 'a dump has a deadline' "$said" '^store-failed 30 1 .*text=dump: not done after'
ok 'a dump that was cut off harms nothing' 'cmp plain 30.out'

# --- from the publishing on, the image is the truth, whoever dies
for fault in dump.published:kill dump.done:kill dump.done:exit; do
	n=$((n + 1))
	GQ_FAULT=$fault
	export GQ_FAULT
	drive <<END
start $n 1 0 $gq_dir/chain
lines $gq_dir/work/$n.out 20
store $n 1
wait stored $n 1
END
	unset GQ_FAULT
	drive <<END
start $n 2 1 $gq_dir/chain
wait exited $n 2
END
	like "$fault: stored, and it goes on" "$said" "^exited $n 2 code=5 signal=0"
	ok "$fault: nothing was lost or done twice" "cmp plain $n.out"
done

# --- gqd dies while a dump runs
GQ_FAULT=dump.verify:sleep=500
export GQ_FAULT
drive <<END
start 40 1 0 $gq_dir/chain
lines $gq_dir/work/40.out 20
store 40 1
die
END
unset GQ_FAULT
drive <<END
adopt 40 1
wait stored 40 1
forget 40 1
start 40 2 1 $gq_dir/chain
wait exited 40 2
END
like 'a dump ends well without gqd' "$said" '^exited 40 2 code=5'
ok 'and nothing was lost or done twice' 'cmp plain 40.out'

# --- an end before anything is frozen wins
GQ_FAULT=dump.begin:sleep=1000
export GQ_FAULT
drive <<END
start 41 1 0 $gq_dir/chain
lines $gq_dir/work/41.out 150
store 41 1
wait exited 41 1
END
unset GQ_FAULT
like 'a job that ends by itself is not stored' "$said" '^exited 41 1 code=5'

# --- kill during a dump
GQ_FAULT=dump.verify:sleep=60000
export GQ_FAULT
drive <<END
start 42 1 0 $gq_dir/chain
lines $gq_dir/work/42.out 20
store 42 1
kill 42 1
wait exited 42 1
END
unset GQ_FAULT
like 'kill during a dump ends both' "$said" '^exited 42 1 code=0 signal=9'
not_ok 'and leaves no image' "ls -d $images/42/*"

# --- images that are no longer what was written
flip() { # FILE OFFSET: another value for that byte
	python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); b = f.read(1); f.seek(int(sys.argv[2])); f.write(bytes([b[0] ^ 1]))' "$1" "$2"
}
drive <<END
start 50 1 0 $gq_dir/chain
lines $gq_dir/work/50.out 20
store 50 1
wait stored 50 1
END
try=1
restore_fails() { # WORDS REGEX
	try=$((try + 1))
	drive <<END
start 50 $try 1 $gq_dir/chain
wait restore-failed 50 $try
has 50 1
END
	like "$1: refused" "$said" "^restore-failed 50 $try .*text=verify: $2"
	like "$1: the image stays" "$said" '^has 50 1 yes'
}
# the first format of images: a folder with criu's own files and a manifest
gq-image extract -C "$gq_dir/raw" "$images/50/1" || bail 'gq-image extract failed'
rm -r "$images/50/1"
mv "$gq_dir/raw" "$images/50/1"
pages=$images/50/1/pages-1.img
flip "$pages" 70000
restore_fails 'one bit flipped' 'image .*/50/1: pages-1.img is damaged \(its checksum is wrong\)'
flip "$pages" 70000
flip "$images/50/1/manifest" 30
restore_fails 'a bit of the manifest' '.*/manifest: (damaged|is the image)'
flip "$images/50/1/manifest" 30
mv "$images/50/1/manifest" "$gq_dir/manifest"
restore_fails 'no manifest' '.*/manifest: No such file'
head -c 300 "$gq_dir/manifest" >"$images/50/1/manifest"
restore_fails 'half a manifest' '.*/manifest: cut off'
mv "$gq_dir/manifest" "$images/50/1/manifest"
cp "$pages" "$gq_dir/pages"
truncate -s -1 "$pages"
restore_fails 'one byte missing' 'image .*/50/1: pages-1.img has [0-9]+ bytes instead of [0-9]+'
cp "$gq_dir/pages" "$pages"
mv "$gq_dir/work/50.out" "$gq_dir/work/50.away"
try=$((try + 1))
drive <<END
start 50 $try 1 $gq_dir/chain
wait restore-failed 50 $try
END
like 'an output that was moved away' "$said" 'text=restore: .*50.out'
mv "$gq_dir/work/50.away" "$gq_dir/work/50.out"
for fault in restore.begin:kill restore.done:kill restore.begin:EIO; do
	try=$((try + 1))
	GQ_FAULT=$fault
	export GQ_FAULT
	cp 50.out 50.before
	case $fault in *kill) want=gone ;; *) want=restore-failed ;; esac
	drive <<END
start 50 $try 1 $gq_dir/chain
wait $want 50 $try
has 50 1
END
	unset GQ_FAULT
	like "$fault: said, and the image stays" "$said" '^has 50 1 yes'
	cp 50.before 50.out # restore.done: it had begun to compute again
done
try=$((try + 1))
drive <<END
start 50 $try 1 $gq_dir/chain
wait exited 50 $try
END
like 'after all that it is restored' "$said" "^exited 50 $try code=5"
ok 'and nothing was lost or done twice' 'cmp plain 50.out'
done_testing
