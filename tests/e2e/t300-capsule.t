#!/bin/sh
# SPDX-License-Identifier: MIT
# t300-capsule.t - gqd/exec and gq-shim: start, exit, kill, notice, adoption, records
# With root the jobs run in capsules, else as plain children; the promises are the same.
. "$(dirname "$0")/../lib/gq.sh"
driver=$GQ_BUILD/tests/lib/exec-driver
[ -x "$driver" ] || skip_all "tests/lib/exec-driver is not built"
gq_tmp
GQ_SHIM=$GQ_BUILD/bin/gq-shim
GQ_CRIU=criu
export GQ_SHIM GQ_CRIU
mode=plain
[ "$(id -u)" -ne 0 ] || mode=

# drive: commands from stdin, what happened to $said
drive() {
	# shellcheck disable=SC2086 # empty or one word
	said=$(timeout 150 "$driver" "$gq_dir" $mode 2>&1)
}

script() {
	cat >"$gq_dir/$1"
}

# --- a whole life
script life <<'END'
#!/bin/sh
echo "pid $$ cwd $(pwd) umask $(umask) arg $1 run $GQ_RUN_DIR"
test -r "$GQ_RUN_DIR/incarnation" && echo "incarnation $(cat "$GQ_RUN_DIR/incarnation")"
ls -l /proc/self/fd | sed -n 's/.*[0-9] \([0-9]*\) -> .*/fd \1/p' | sort -u | tr '\n' ' '
echo >&2 "an error line"
exit 7
END
drive <<END
start 1 1 0 $gq_dir/life hello
wait exited 1 1
start 1 1 0 $gq_dir/life again
wait exited 1 1
forget 1 1
END
like 'it starts' "$said" '^started 1 1 '
like 'its exit code comes back' "$said" '^exited 1 1 code=7 signal=0'
is 'the same incarnation never runs twice' "$(grep -c '^pid' work/1.out 2>/dev/null || grep -c '^pid' 1.out)" 1
like 'working directory, umask, argument' "$(cat 1.out)" "cwd $gq_dir/work umask 0027 arg hello"
like 'the run folder is readable inside' "$(cat 1.out)" '^incarnation 1$'
like 'only three descriptors are open' "$(cat 1.out)" '^fd 0 fd 1 fd 2 (fd 3 )?$|^fd 0 fd 1 fd 2 (fd 3 )?an'
like 'errors go with the output' "$(cat 1.out)" 'an error line'
is 'a forgotten end leaves no record' "$(ls "$gq_dir/state/exit")" ''

# --- ends of other kinds
script signalled <<'END'
#!/bin/sh
kill -USR1 $$
END
script sleeper <<'END'
#!/bin/sh
sleep 1000 & sleep 1000 &
setsid sleep 1000 &
echo ready
wait
END
script left <<'END'
#!/bin/sh
setsid sleep 1000 &
exit 0
END
script nothing <<'END'
#!/nowhere/interpreter
END
drive <<END
start 2 1 0 $gq_dir/signalled
wait exited 2 1
start 3 1 0 $gq_dir/sleeper
lines $gq_dir/work/3.out 1
kill 3 1
wait exited 3 1
start 4 1 0 $gq_dir/left
wait exited 4 1
start 5 1 0 $gq_dir/nothing
wait start-failed 5 1
END
like 'a signal is reported as one' "$said" '^exited 2 1 code=0 signal=10'
like 'kill ends the job' "$said" '^exited 3 1 code=0 signal=9'
like 'what a job leaves behind does not keep it alive' "$said" '^exited 4 1 code=0 signal=0'
like 'a missing interpreter is said' "$said" '^start-failed 5 1 .*text=script: the program in its #! line does not exist'
is 'no process is left' "$(pgrep -fx 'sleep 1000' | while read -r p; do
	grep -qs "$gq_dir" "/proc/$p/environ" && echo "$p"; done)" ''

# --- notice
script noticed <<'END'
#!/bin/sh
trap 'echo got it; cat "$GQ_NOTICE"; got=1' USR1
echo ready
while [ -z "$got" ]; do sleep 0.05; done
while [ -e "$GQ_NOTICE" ]; do sleep 0.05; done
exit 3
END
drive <<END
start 6 1 0 $gq_dir/noticed
lines $gq_dir/work/6.out 1
notice 6 1 10
lines $gq_dir/work/6.out 7
notice-off 6 1
wait exited 6 1
END
like 'a notice comes with its signal' "$(cat 6.out)" '^got it$'
like 'the file says why' "$(cat 6.out)" '^reason=reservation$'
like 'the file says how long' "$(cat 6.out)" '^deadline=1796000000.000$'
like 'the file says it in ISO too' "$(cat 6.out)" '^deadline_iso=2026-11-30T'
like 'called off: the file is gone' "$said" '^exited 6 1 code=3'

# --- gqd dies
script patient <<'END'
#!/bin/sh
echo ready
while [ ! -e go ]; do sleep 0.05; done
echo done
exit 9
END
drive <<END
start 7 1 0 $gq_dir/patient
lines $gq_dir/work/7.out 1
die
END
touch go
wait_for "test -s $gq_dir/state/exit/7.1" 20
drive <<END
adopt 7 1
wait exited 7 1
END
like 'the record speaks when gqd was away' "$said" '^exited 7 1 code=9'
rm go
drive <<END
start 8 1 0 $gq_dir/patient
lines $gq_dir/work/8.out 1
die
END
drive <<END
adopt 8 1
wait started 8 1
adopt 8 1
wait started 8 1
adopt-done
signal 8 1 9
wait exited 8 1
adopt 8 2
END
like 'a living job is adopted' "$said" '^started 8 1 '
like 'and obeys the new gqd' "$said" '^exited 8 1 code=0 signal=9'
like 'a pair that never started is not adopted' "$said" '^error 8 2 job 8.2 was never started'
like 'an adopted job is no stray' "$said" '^strays 0$'
drive <<END
start 9 1 0 $gq_dir/patient
lines $gq_dir/work/9.out 1
die
END
drive <<END
adopt-done
END
like 'a job that nobody adopts is a stray' "$said" '^strays 1$'
ok 'and is ended' "wait_for '! test -e $gq_dir/run/shim/9.1.sock' 20"

# --- whose process is it
script owned <<'END'
#!/bin/sh
echo $$
while [ ! -e go ]; do sleep 0.05; done
END
drive <<END &
start 11 1 0 $gq_dir/owned
lines $gq_dir/work/11.out 1
lines $gq_dir/work/go 0
wait exited 11 1
END
wait_for "test -s 11.out"
owned=$(gq_ours | while read -r p; do grep -aqs 'spool/11/script' "/proc/$p/cmdline" && echo "$p"; done | head -n 1)
drive <<END
owner $owned
owner $$
END
like 'a process is known by its job' "$said" "^owner $owned 11$"
like 'others are foreign' "$said" "^owner $$ 0$"
touch go
wait
rm go

# --- the shim dies
script vanish <<'END'
#!/bin/sh
echo $PPID
sleep 1000
END
drive <<END &
start 10 1 0 $gq_dir/vanish
lines $gq_dir/work/10.out 1
wait gone 10 1
END
wait_for "test -s 10.out" 20
for p in $(pgrep -x gq-shim); do
	grep -qs "$gq_dir" "/proc/$p/environ" && kill -KILL "$p"
done
ok 'a shim that is killed takes all with it, and is reported' 'wait'
is 'nothing of its capsule is left' "$(gq_ours | while read -r p; do
	grep -aqs 'sleep.1000' "/proc/$p/cmdline" && echo "$p"; done)" ''
drive <<END
adopt 10 1
wait gone 10 1
forget 10 1
forget-job 10
END
like 'the end without a record is reported again' "$said" '^gone 10 1 '
not_ok 'a forgotten job leaves no spool' "test -e $gq_dir/state/spool/10"

# --- fault points
for fault in shim.start shim.exec shim.exit_record shim.reported; do
	n=$((${n:-20} + 1))
	GQ_FAULT=$fault:kill
	export GQ_FAULT
	if [ "$fault" = shim.reported ]; then want=exited; else want=gone; fi
	drive <<END
start $n 1 0 $gq_dir/life
wait $want $n 1
END
	unset GQ_FAULT
	like "killed at $fault: $want" "$said" "^$want $n 1 "
done

# --- a power loss may take the mark, and leave the record that was synced
drive <<END
start 27 1 0 $gq_dir/life
wait exited 27 1
END
rm "$gq_dir/state/spool/27/mark.1"
drive <<END
start 27 1 0 $gq_dir/life
wait exited 27 1
END
is 'what has a record never runs again' "$(grep -c '^pid' 27.out)" 1

# --- a power loss may leave the copy of the script empty
drive <<END
start 28 1 0 $gq_dir/life
wait exited 28 1
forget 28 1
END
chmod u+w "$gq_dir/state/spool/28/script"
: >"$gq_dir/state/spool/28/script"
drive <<END
start 28 2 0 $gq_dir/life
wait exited 28 2
END
like 'a script that was cut off is written again' "$said" '^exited 28 2 code=7'

# --- no room for the exit record: the shim stays until a gqd has its last message on disk
GQ_FAULT=shim.exit_record:ENOSPC@0
export GQ_FAULT
drive <<END
start 29 1 0 $gq_dir/life
wait exited 29 1
die
END
unset GQ_FAULT
not_ok 'a full disk leaves no exit record' "test -e $gq_dir/state/exit/29.1"
drive <<END
adopt 29 1
wait exited 29 1
adopt 29 1
wait exited 29 1
forget 29 1
END
like 'the next gqd is told the end all the same' "$said" '^exited 29 1 code=7'
unlike 'and never that the job is gone' "$said" '^gone '
ok 'once forgotten the shim leaves' "wait_for '! test -e $gq_dir/run/shim/29.1.sock' 10"

if [ -z "$mode" ]; then
	drive <<END
user 65534 65534
start 30 1 0 $gq_dir/life
wait exited 30 1
doctor
END
	like 'a user of any number runs its own script' "$said" '^exited 30 1 code=7'
	is 'its output is its own' "$(stat -c %u 30.out)" 65534
	mkdir -m 700 "$gq_dir/work/31.out"
	drive <<END
start 31 1 0 $gq_dir/life
wait start-failed 31 1
END
	like 'an output that cannot be opened is said' "$said" 'text=output .*/31.out: Is a directory'
fi
done_testing
