#!/bin/sh
# SPDX-License-Identifier: MIT
# t310-snapshot.t - real jobs, stored by CRIU and restored: each must end as if it had never been away
. "$(dirname "$0")/../lib/gq.sh"
driver=$GQ_BUILD/tests/lib/exec-driver
[ -x "$driver" ] || skip_all "tests/lib/exec-driver is not built"
need_criu
gq_tmp
GQ_SHIM=$GQ_BUILD/bin/gq-shim
GQ_CRIU=$gq_criu
export GQ_SHIM GQ_CRIU
chain=$GQ_BUILD/tests/lib/chain

drive() {
	said=$(timeout 150 "$driver" "$gq_dir" 2>&1)
}

script() {
	cat >"$gq_dir/$1"
}

# round JOB SCRIPT GENERATIONS [EXIT]: start, then so often: store, restore; then let it end
round() {
	{
		echo "start $1 1 0 $gq_dir/$2"
		echo "lines $gq_dir/work/$1.out 10"
		i=1
		while [ "$i" -le "$3" ]; do
			echo "store $1 $i"
			echo "wait stored $1 $i"
			echo "start $1 $((i + 1)) $i $gq_dir/$2"
			echo "wait started $1 $((i + 1))"
			echo "grows $gq_dir/work/$1.out"
			i=$((i + 1))
		done
		echo "wait exited $1 $i"
	} >"$gq_dir/commands"
	drive <"$gq_dir/commands"
	like "$2: ends well in its incarnation $(($3 + 1))" "$said" "^exited $1 $(($3 + 1)) code=${4:-0} signal=0"
}

# --- the same numbers as without any interruption, over three images
script chain <<END
#!/bin/sh
exec $chain 400
END
round 1 chain 3 5
"$chain" 400 >plain
ok 'chain: the output is what an undisturbed run writes' 'cmp plain 1.out'

# --- a program in Python without a line about snapshots, some memory, files, a thread
script python <<'END'
#!/usr/bin/env python3
import hashlib, os, tempfile, threading, time
state, table = b"", {}
beat = [0]
def beater():
    while True:
        beat[0] += 1
        time.sleep(0.01)
threading.Thread(target=beater, daemon=True).start()
scratch = tempfile.TemporaryFile()
scratch.write(b"x" * 3000000)
r, w = os.pipe()
os.write(w, b"in the pipe")
for step in range(150):
    state = hashlib.sha256(state + str(step).encode()).digest()
    table[step] = state * 1000
    scratch.write(state)
    print(step, state.hex(), flush=True)
    time.sleep(0.01)
scratch.seek(3000000)
assert scratch.read() == b"".join(table[s][:32] for s in range(150))
assert os.read(r, 100) == b"in the pipe"
assert beat[0] > 50
print("whole")
END
if command -v python3 >/dev/null; then
	round 2 python 2
	python3 "$gq_dir/python" >plain
	ok 'python: the output is what an undisturbed run writes' 'cmp plain 2.out'
else
	skip 'no python3' 2
fi

# --- a script with children, a pipeline between them, its own text still open
script bash <<'END'
#!/bin/bash
echo "$GQ_INCARNATION $(cat "$GQ_RUN_DIR/incarnation")"
( for i in $(seq 60); do echo "$i"; sleep 0.02; done ) | while read -r i; do
	echo "step $i"
done
echo "$GQ_INCARNATION $(cat "$GQ_RUN_DIR/incarnation")"
sleep 0.1 &
wait $!
echo "end $?"
exit 4
END
round 3 bash 2 4
is 'bash: every step once' "$(grep -c '^step' 3.out)/$(sort -u 3.out | grep -c '^step')" 60/60
is 'bash: first it was incarnation 1' "$(head -n 1 3.out)" '1 1'
is 'bash: the run folder knows the incarnation, the old environment does not' \
	"$(tail -n 2 3.out | head -n 1)" '1 3'

# --- things that need an option of criu each
script kinds <<'END'
#!/usr/bin/env python3
import fcntl, mmap, multiprocessing, os, signal, socket, time
lock = open("kinds.lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
a, b = socket.socketpair()
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
shared = mmap.mmap(-1, 4096)
with open("/dev/shm/named", "w+b") as f:
    f.truncate(1 << 20)
    named = mmap.mmap(f.fileno(), 1 << 20)
named[5000:5005] = b"hello"
semaphore = multiprocessing.get_context("spawn").Semaphore(1)
os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
alarms = []
signal.signal(signal.SIGALRM, lambda *x: alarms.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
child = os.fork()
if child == 0:
    while True:
        shared[0] = (shared[0] + 1) % 256
        time.sleep(0.01)
for step in range(100):
    a.send(b"%d" % step)
    assert b.recv(10) == b"%d" % step
    client.send(b"%d" % step)
    assert peer.recv(10) == b"%d" % step
    with semaphore:
        print(step, flush=True)
    time.sleep(0.01)
assert named[5000:5005] == b"hello" and named[:4096] == bytes(4096)
before = shared[0]
time.sleep(0.2)
assert shared[0] != before and len(alarms) > 5
signal.setitimer(signal.ITIMER_REAL, 0)
os.kill(child, 9)
signal.setitimer(signal.ITIMER_REAL, 0)
os.waitpid(child, 0)
END
if command -v python3 >/dev/null; then
	round 4 kinds 2
	is 'kinds: every step once' "$(sort -u 4.out | wc -l)/$(wc -l <4.out)" 100/100
else
	skip 'no python3' 2
fi

# --- System V memory lives in the job's own IPC namespace
script sysv <<END
#!/bin/sh
ipcmk -M 4096 >/dev/null
exec $chain 200
END
if command -v ipcmk >/dev/null; then
	round 5 sysv 1 5
else
	skip 'no ipcmk'
fi

# --- more memory; the numbers depend on every page
script big <<END
#!/bin/sh
exec $chain 60 128
END
round 6 big 1 5
"$chain" 60 128 >plain
ok 'big: the output is what an undisturbed run writes' 'cmp plain 6.out'

# --- new PIDs go on where they were, and the same job is found by any of its PIDs
script pids <<'END'
#!/bin/bash
for i in $(seq 80); do
	sh -c 'echo $$'
	sleep 0.02
done
END
round 7 pids 2
is 'pids: none is given twice' "$(sort -n -u 7.out | wc -l)" 80

# --- a parent that waits for a vforked child cannot be stopped by criu: it is waited for
script vfork <<'END'
#!/usr/bin/env python3
import os, time
os.mkfifo("gate")
if os.fork() == 0:  # each child is held before its exec until this one opens the other end
    for i in range(6):
        time.sleep(0.7)
        open("gate", "w").close()
    os._exit(0)
for i in range(6):
    print(i, flush=True)
    hold = [(os.POSIX_SPAWN_OPEN, 5, "gate", os.O_RDONLY, 0)]
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}, file_actions=hold), 0)
    time.sleep(0.2)
print("end", flush=True)
END
drive <<END
start 9 1 0 $gq_dir/vfork
lines $gq_dir/work/9.out 2
store 9 1
wait stored 9 1
start 9 2 1 $gq_dir/vfork
wait exited 9 2
END
like 'vfork: it is stored' "$said" '^stored 9 1 '
like 'vfork: and resumed, to its end' "$(tail -n 1 "$gq_dir/work/9.out")" '^end'

# --- orders that come while nothing can be done about them are kept
drive <<END
start 8 1 0 $gq_dir/chain
store 8 1
wait stored 8 1
start 8 2 1 $gq_dir/chain
store 8 2
wait stored 8 2
start 8 3 2 $gq_dir/chain
signal 8 3 15
wait exited 8 3
END
like 'a store ordered too early is done later' "$said" '^stored 8 2 '
like 'a signal sent to a job being restored arrives' "$said" '^exited 8 3 code=0 signal=15'

# --- what the user sees
modes=$(find "$gq_dir/images" ! -type d -perm /077)
is 'images are nobody else'"'"'s' "$modes" ''
ok 'no image of an ended job stays after forget-job' "printf 'forget-job 1\n' |
	'$driver' '$gq_dir' && wait_for '! test -e $gq_dir/images/1' &&
	wait_for '! ls $gq_dir/images/drop.* 2>/dev/null'"
done_testing
