#!/bin/sh
# SPDX-License-Identifier: MIT
# t500-peers.t - a user acts on own jobs only; operators on all; who it is, the kernel says
. "$(dirname "$0")/../lib/gq.sh"
need_root
need_programs jq setpriv curl
user=65534
group=games
sim_cards 2 80G
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };' "operator_group = \"$group\";"

as_user() { setpriv --reuid $user --regid $user --clear-groups "$@"; }
as_other() { setpriv --reuid 65533 --regid 65533 --clear-groups "$@"; }
as_operator() { setpriv --reuid 65532 --regid 65532 --groups $group "$@"; }
status() { "$@" >out 2>err; echo $?; }
http() { as_user curl -sS -o /dev/null -w '%{http_code}' --unix-socket "$GQ_SOCKET" "$@"; }

is 'the socket is open to all' "$(stat -c %a "$GQ_SOCKET")" 666
mine=$(as_user gqsub --parsable -J mine --vram 1G --wrap 'id -u >who.txt; id -G >>who.txt; exec sleep 600')
roots=$(gq_submit -J roots --vram 1G --wrap 'exec sleep 600')
ok 'a user submits' 'gqctl wait "$mine" --state R --timeout 30'
ok 'root, too' 'gqctl wait "$roots" --state R --timeout 30'
ok 'the job runs as its user' 'wait_for "[ \$(wc -l <who.txt) = 2 ]"'
is 'and only as that' "$(tr '\n' ' ' <who.txt)" "$user $user "

ok 'everybody sees the queue' '[ "$(as_other gqctl jobs -H | wc -l)" = 2 ]'
is 'but not the submission of another' "$(status as_other gqctl job "$mine" --json --spec)" 1
ok 'its user does' 'as_user gqctl job "$mine" --json --spec | jq -e .spec.script'
ok 'as does an operator' 'as_operator gqctl job "$mine" --json --spec | jq -e .spec.script'
for act in cancel hold release resume evict; do
	is "$act of another's job: refused" "$(status as_other gqctl $act "$mine")" 1
	like "$act: why" "$(cat err)" "job $mine: belongs to another user"
	is "$act of root's job: 403" "$(http -X POST "http://gq/v1/jobs/$roots/$act")" 403
done
is 'they are as they were' "$(gqctl jobs --json | jq -r '[.[].state] | join(",")')" R,R
is 'another uid in the body is refused' "$(http http://gq/v1/jobs -d '{"uid":0,"script":"#!/bin/sh\nid\n","cwd":"/"}')" 400
is 'priority is for operators' "$(status as_user gqsub --priority 100000 --wrap true)" 1

# Services and reservations.
is 'a user registers no service' "$(http -X PUT http://gq/v1/services/chat -d '{"cards":["0"]}')" 403
ok 'an operator does' 'as_operator gqctl services put chat --cards 0'
is 'a user does not change it' "$(http -X PUT http://gq/v1/services/chat -d '{"state":"busy"}')" 403
is 'nor renew it' "$(http -X POST http://gq/v1/services/chat/renew)" 403
is 'nor delete it' "$(http -X DELETE http://gq/v1/services/chat)" 403
is 'nor reserve for it' "$(http http://gq/v1/reservations -d '{"service":"chat","in":"1h"}')" 403
is 'nor for nobody' "$(http http://gq/v1/reservations -d '{"count":1,"in":"1h"}')" 403
like 'an operator reserves' "$(as_operator gqctl reserve --service chat --in 1h --duration 1m)" 'Reservation 1'
is 'a user does not take it back' "$(http -X DELETE http://gq/v1/reservations/1)" 403
is 'nor move it' "$(http -X PUT http://gq/v1/reservations/1 -d '{"in":"2h"}')" 403
is 'a user does not stop gqd' "$(http -X POST http://gq/v1/shutdown)" 403

ok 'a user ends its own job' 'as_user gqctl cancel "$mine" && gqctl wait "$mine" --state CA --timeout 30'
ok "an operator anybody's" 'as_operator gqctl cancel "$roots" && gqctl wait "$roots" --state CA --timeout 30'
is 'the history knows who' "$(gqctl history --job "$mine" --json | jq -r '[.[] | select(.user) | .user] | unique | join(",")')" nobody

# The spool is closed to users.
as_user sh -c "find '$gq_dir/state' '$gq_dir/run' -type f" >seen 2>/dev/null
is 'no file of gqd can be read by a user' "$(while read -r f; do as_user test -r "$f" && echo "$f"; done <seen)" ''
done_testing
