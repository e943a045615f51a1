#!/bin/sh
# SPDX-License-Identifier: MIT
# t120-gqctl.t - every command: what it prints, its --json, its exit status
. "$(dirname "$0")/../lib/gq.sh"
need_programs jq
sim_cards 2 80G
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };'

status() { "$@" >out 2>err; echo $?; }

# Usage errors: status 2, one line.
is 'no command' "$(status gqctl)" 2
is 'an unknown command' "$(status gqctl frob)" 2
is 'an unknown option' "$(status gqctl jobs --frob)" 2
is 'in one line' "$(wc -l <err)" 1
is 'a word too many' "$(status gqctl gpus 1)" 2
is 'a job that is no number' "$(status gqctl job x)" 2
is 'no job at all' "$(status gqctl cancel)" 2
is 'a state that is none' "$(status gqctl wait 1 --state XX)" 2
is 'a time that is none' "$(status gqctl wait 1 --timeout soon)" 2
is 'two ways to leave' "$(status gqctl evict 1 --store --requeue)" 2
for c in $(gqctl --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	ok "$c --help" "gqctl $c --help | grep -q '^usage: gqctl $c'"
done

# The pages say which version they are of.
for page in gqsub/gqsub.1 gqctl/gqctl.1 checkpoint/gq-image.1 lib/conf/gq.conf.5; do
	like "$page" "$(grep '^\.TH' "$GQ_BUILD/$page")" "\"gq $(gqd --version | sed 's/.* //')\""
done

# Without a gqd.
is 'no gqd: status 1' "$(GQ_SOCKET=/nowhere/sock status gqctl jobs)" 1
like 'the line says which socket, and what to do' "$(cat err)" '/nowhere/sock.*start'
is 'doctor without a gqd: status 1' "$(GQ_SOCKET=/nowhere/sock status gqctl doctor)" 1
like 'and what can be seen from here' "$(cat out)" '^(ok|!!) cgroup'

# Jobs.
long=$(gq_submit -J long --vram 1G --wrap 'exec sleep 600')
held=$(gq_submit -J held -H --wrap true)
ok 'it runs' 'gqctl wait $long --state R --timeout 30'
like 'jobs has squeue columns' "$(gqctl jobs)" '^JOBID +NAME +USER +ST +TIME +GPUS +CARDS +REASON$'
like 'a running job' "$(gqctl jobs)" "^ *$long +long +[a-z]+ +R +[0-9:]+ +1 +[01]$"
like 'a held one and why' "$(gqctl jobs)" "^ *$held +held +.* PD +0:00 +1 +JobHeldUser$"
is '-t' "$(gqctl jobs -H -t PD | awk '{print $1}')" "$held"
is '-n' "$(gqctl jobs -H -n long | awk '{print $1}')" "$long"
is '-u nobody' "$(gqctl jobs -H -u nobody)" ''
is '-u with no such user' "$(status gqctl jobs -u no-such-user)" 1
is '--limit takes the newest' "$(gqctl jobs -H -l 1 | awk '{print $1}')" "$held"
is '--json is the array of the API' "$(gqctl jobs --json | jq -c '[.[] | [.job_id, .state]]')" "[[$long,\"R\"],[$held,\"PD\"]]"
like 'job tells the reason in words' "$(gqctl job "$held")" 'Reason +JobHeldUser: .*release'
is 'job --json' "$(gqctl job "$long" --json | jq -r .name)" long
is 'job --json --spec has the script' "$(gqctl job "$long" --json --spec | jq -r .spec.script | grep -c sleep)" 1
is 'no such job: status 1' "$(status gqctl job 999)" 1
like 'and which' "$(cat err)" 'job 999'

# Acting.
is 'hold what is held' "$(status gqctl hold "$held")" 1
ok 'release' 'gqctl release "$held"'
ok 'and it runs to its end' 'gqctl wait "$held" --state CD --timeout 30'
is 'ended ones only with -a' "$(gqctl jobs -H | awk '{print $1}')" "$long"
like '-a' "$(gqctl jobs -a)" "^ *$held +held .* CD "
is 'wait for what cannot come: status 1' "$(status gqctl wait "$held" --state R --timeout 30)" 1
like 'and why' "$(cat err)" 'ended as CD'
is 'wait until the time is up: status 1' "$(status gqctl wait "$long" --state CD --timeout 0.1s)" 1
is 'evict what does not run' "$(status gqctl evict "$held")" 1
ok 'evict --requeue --wait' 'gqctl evict "$long" --requeue --grace 0 --wait'
is 'an eviction is recorded' "$(gqctl evictions --json | jq -r '.[0] | "\(.job) \(.cause) \(.how)"')" "$long operator requeue"
is 'with all its fields' "$(gqctl evictions --json | jq -r '.[0] | [has("incarnation","cards","notice_at","due_at","predicted_free_at","free_at","late_ms","lost_s","sudden","error")] | all')" true
like 'evictions as a table' "$(gqctl evictions)" "^ *$long +1 +[01] +operator"
like 'and in the job' "$(gqctl job "$long")" 'Evicted +run 1 .*operator: requeue'
ok 'cancel' 'gqctl cancel "$long" && gqctl wait "$long" --state CA --timeout 30'
is 'cancel again' "$(status gqctl cancel "$long")" 1
is 'several at once, one of them wrong' "$(status gqctl cancel 998 999)" 1
is 'are named one by one' "$(grep -c 'job 99[89]' err)" 2

# Cards, windows, services, reservations.
like 'gpus' "$(gqctl gpus)" '^ +1 GPU-[-0-9a-f]+ .* idle +'
is 'gpus --json' "$(gqctl gpus --json | jq -r '.[1].vram_total_mib')" 81920
like 'windows' "$(gqctl windows)" '^ +0 +idle .* open .* yes '
ok 'services put' 'gqctl services put chat --cards 0 --reserve-vram 30G --lease 60s --notice 1s'
like 'services' "$(gqctl services)" '^chat +idle +0 +30G +1:00 '
ok 'services put again changes it' 'gqctl services put chat --state busy'
is 'and keeps the rest' "$(gqctl services --json | jq -c '.[0] | [.state, .reserve_vram_mib, .lease_s, .cards]')" '["busy",30720,60,[0]]'
ok 'services renew' 'gqctl services renew chat --state idle'
like 'reserve' "$(gqctl reserve --service chat --in 1h --duration 10m --cards 0,1)" '^Reservation 1$'
like 'reservations' "$(gqctl reservations)" '^ *1 +chat +planned .* 0,1 +all '
is 'a window ends where it starts' "$(gqctl windows --json | jq -r '.[0].reservation_id')" 1
is 'reserve with both cards and count' "$(status gqctl reserve --in 1h --cards 0 --count 1)" 1
is 'reserve more than there are' "$(status gqctl reserve --in 1h --duration 1h --count 3)" 1
is 'reserve --daily' "$(gqctl reserve --in 2h --duration 1h --count 1 --daily >/dev/null; gqctl reservations --json | jq -r '.[1].repeat')" daily
ok 'unreserve' 'gqctl unreserve 1 2'
is 'none is left' "$(gqctl reservations --json | jq -c .)" '[]'
is 'unreserve again' "$(status gqctl unreserve 1)" 1
ok 'services delete' 'gqctl services delete chat'
is 'no service is left' "$(gqctl services --json | jq -c .)" '[]'

# The rest.
like 'history, newest first' "$(gqctl history --job "$long" | sed -n 2p)" "job $long +.* CANCELLED"
is 'history --json' "$(gqctl history --job "$long" --limit 1 --json | jq -r '.[0] | "\(.kind) \(.id)"')" "job $long"
like 'ping' "$(gqctl ping)" '^gqd [0-9.]+, pid [0-9]+, .*2 cards'
like 'doctor' "$(gqctl doctor)" '^ok +driver .*simulated'
is 'doctor --json' "$(gqctl doctor --json | jq -r '[.[] | has("what", "ok", "text", "cure")] | all')" true
ok 'shutdown' 'gqctl shutdown'
gqd_wait_dead
is 'gqd ended well' $? 0
done_testing
