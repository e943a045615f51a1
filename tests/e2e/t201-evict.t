#!/bin/sh
# SPDX-License-Identifier: MIT
# t201-evict.t - the roads out of a card: app, none, no-requeue, exit in time, called off, sudden
. "$(dirname "$0")/../lib/gq.sh"
need_programs jq
sim_cards 1 80G
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };' \
	'preempt: { graceful_exit_sec = 3; sudden_grace = "1s"; kill_wait = "2s"; };'
job() { gqctl job "$1" --json | jq -r ".$2"; }
last() { gqctl evictions --job "$1" --json | jq -r ".[0].$2"; }
reserve() { gqctl reserve --in "$1" --duration "$2" --cards 0 | tr -dc 0-9; }

# app: saves itself, exits 85, runs again when there is room
cat >app.sh <<'S'
#!/bin/sh
n=$(cat saved 2>/dev/null || echo 0)
trap 'echo $n >saved; cp "$GQ_NOTICE" notice.copy; exit 85' TERM
echo "start at $n"
while [ "$n" -lt 40 ]; do sleep 0.1; n=$((n + 1)); done
echo "end at $n"
S
a=$(gq_submit --checkpoint app -o app.out app.sh)
gqctl wait "$a" --state R --timeout 10
ok 'the job has begun' "wait_for 'grep -q start app.out' 10"
reserve 4s 2s >/dev/null
ok 'app: it leaves by its own save' "gqctl wait $a --state PD --timeout 10"
is 'app: how' "$(last "$a" how)" app
is 'app: nothing late' "$(last "$a" late_ms)" 0
is 'app: nothing lost' "$(last "$a" lost_s)" 0
like 'app: the notice gave the reason' "$(cat notice.copy)" 'reason=reservation'
like 'app: and the deadline' "$(cat notice.copy)" 'deadline=[0-9]+'
ok 'app: it runs again and ends' "gqctl wait $a --state CD --timeout 30"
is 'app: two incarnations, output appended' "$(grep -c start app.out)" 2
like 'app: the second went on from the save' "$(tail -n 2 app.out)" 'start at [1-9]'

# none: TERM at notice, killed at the end of the exit period, requeued
cat >deaf.sh <<'S'
#!/bin/sh
trap '' TERM
echo "run $GQ_INCARNATION"
[ "$GQ_INCARNATION" -gt 1 ] && exit 0
while :; do sleep 0.1; done
S
b=$(gq_submit --checkpoint none --grace 1s -o deaf.out deaf.sh)
ok 'the deaf job has begun' "wait_for 'grep -q run deaf.out' 10"
reserve 2s 1s >/dev/null
ok 'none: it is ended and waits' "gqctl wait $b --state PD --timeout 10"
is 'none: how' "$(last "$b" how)" requeue
is 'none: not late' "$(last "$b" late_ms)" 0
ok 'none: what it lost is said' "[ \"\$(last $b lost_s | cut -d. -f1)\" -ge 0 ]"
ok 'none: runs again from its beginning' "gqctl wait $b --state CD --timeout 20"
is 'none: its number stays, the incarnation grows' "$(job "$b" incarnation)" 2

# --no-requeue ends as PREEMPTED
c=$(gq_submit --checkpoint none --no-requeue --grace 1s --wrap 'exec sleep 60')
gqctl wait "$c" --state R --timeout 10
reserve 2s 1s >/dev/null
ok 'no-requeue: PREEMPTED' "gqctl wait $c --state PR --timeout 10"

# a job that ends by itself in the exit period is COMPLETED
d=$(gq_submit --checkpoint none --grace 3s -o d.out --wrap 'trap "" TERM; sleep 2; exit 0')
gqctl wait "$d" --state R --timeout 10
reserve 4s 1s >/dev/null
ok 'an end in the exit period is an end' "gqctl wait $d --state CD --timeout 10"

# called off: the reservation goes, the job stays
e=$(gq_submit --checkpoint app --signal USR2@60 --grace 3s -o e.out \
	--wrap 'trap "echo told" USR2; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do sleep 0.2; done; echo through')
gqctl wait "$e" --state R --timeout 10
r=$(reserve 4s 60s)
ok 'the asked-for signal comes with the notice' "wait_for 'grep -q told e.out' 10"
gqctl unreserve "$r"
ok 'called off: it computes to its end' "gqctl wait $e --state CD --timeout 20"
is 'called off: said so' "$(last "$e" how)" called-off
is 'called off: one incarnation' "$(job "$e" incarnation)" 1

# sudden: less notice than the promise
f=$(gq_submit --checkpoint none --grace 3s --wrap 'trap "" TERM; sleep 60; sleep 60')
gqctl wait "$f" --state R --timeout 10
sleep 0.3
r=$(reserve 0s 3s)
ok 'sudden: away as fast as possible' "gqctl wait $f --state PD --timeout 6"
is 'sudden: recorded' "$(last "$f" sudden)" true
ok 'sudden: with its lateness' "[ \"\$(last $f late_ms)\" -gt 0 ]"
ok 'sudden: the reservation shows it' \
	"gqctl reservations --json | jq -e '.[] | select(.reservation_id == $r) | .sudden and .late_ms > 0'"
gqctl cancel "$f"

# a service says busy; its lease runs out
gqctl services put chat --cards 0 --lease 2s
g=$(gq_submit --checkpoint none --grace 1s --wrap 'exec sleep 60')
ok 'lent while the service is idle and renews' \
	"wait_for 'gqctl services renew chat; gqctl wait $g --state R --timeout 0' 10"
ok 'a lost lease counts as in use' "gqctl wait $g --state PD --timeout 10"
is 'and is the cause' "$(last "$g" cause)" lease-lost
gqctl services renew chat --state idle
ok 'renewed, it is lent again' "wait_for 'gqctl services renew chat; gqctl wait $g --state R --timeout 0' 10"
gqctl services renew chat --state busy
ok 'busy takes it back' "gqctl wait $g --state PD --timeout 5"
is 'and is the cause' "$(last "$g" cause)" service-busy
gqctl services delete chat
gqctl cancel "$g"

# time limit
h=$(gq_submit -t 0:02 --wrap 'trap "" TERM; sleep 60; sleep 60')
ok 'TIMEOUT at the limit, KILL behind TERM' "gqctl wait $h --state TO --timeout 15"
is 'with the reason' "$(job "$h" reason)" TimeLimit
done_testing
