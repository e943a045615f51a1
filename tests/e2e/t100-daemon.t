#!/bin/sh
# SPDX-License-Identifier: MIT
# t100-daemon.t - gqd by itself: options, a bad config, one per directory, reload, stop
. "$(dirname "$0")/../lib/gq.sh"
need_programs jq
sim_cards 2 80G

gqd --frob >out 2>&1
is 'an unknown option: status 2' $? 2
is 'in one line' "$(wc -l <out)" 1
like 'that names it' "$(cat out)" '^gqd: .*--frob'
gqd surplus >out 2>&1
is 'a surplus word: status 2' $? 2
like '--version' "$(gqd --version)" '^gq [0-9]'
like '--help names the config' "$(gqd --help)" '--config=FILE'

bad() {
	printf '%s\n' "$2" >bad.conf
	gqd -c bad.conf --check-config >out 2>&1
	is "$1: status 1" $? 1
	is "$1: one line" "$(wc -l <out)" 1
	like "$1: file and line" "$(cat out)" 'bad.conf:?.*(line )?[0-9]+'
	like "$1: what" "$(cat out)" "$3"
}
bad 'unknown option' 'pool: { unifyed = true; };' 'unifyed.*unified'
bad 'wrong type' 'pool: { unified = "maybe"; };' 'unified'
bad 'out of range' 'quota: { offline_max_vram_ratio = 1.5; };' 'offline_max_vram_ratio.*1\.5'
bad 'bad duration' 'min_fill_granularity = "soonish";' 'min_fill_granularity.*soonish'
bad 'syntax' 'pool: { unified = true; ' 'syntax'
gqd -c /nowhere/gq.conf --check-config >out 2>&1
is 'no such config: status 1' $? 1
like 'says which' "$(cat out)" '/nowhere/gq.conf.*No such file'
gqd --sample-config >sample.conf
ok 'the sample config is good' 'gqd -c sample.conf --check-config'

gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };'
gqd -c "$gq_dir/gq.conf" --state-dir "$gq_dir/state" --run-dir "$gq_dir/run" >out 2>&1
is 'a second gqd on the same directory: status 1' $? 1
like 'is told who has it' "$(cat out)" "another gqd \\(pid $gqd_pid\\)"
ok 'the first serves on' 'gqctl ping'

job=$(gq_submit --vram 30G --wrap 'exec sleep 300')
gqctl wait "$job" --state R --timeout 10
printf 'min_fill_granularity = "1s";\nmonitor: { idle_hold = "0s"; };\nquota: { offline_max_vram_ratio = 0.1; };\n' \
	>"$gq_dir/gq.conf"
kill -HUP "$gqd_pid"
ok 'SIGHUP: the new ratio is in force' \
	"wait_for 'gqctl windows --json | jq -e \".[1].vram_mib == 8192\"' 5"
not_ok 'for new jobs too' 'gqsub --vram 30G --wrap true'
echo 'pool: {' >"$gq_dir/gq.conf"
kill -HUP "$gqd_pid"
ok 'a bad file is reported' "wait_for 'gqd_log | grep -q \"the old settings stay\"' 5"
is 'and changes nothing' "$(gqctl windows --json | jq '.[1].vram_mib')" 8192
printf 'min_fill_granularity = "1s";\n' >"$gq_dir/gq.conf"

gqd_stop
is 'SIGTERM: status 0' $? 0
ok 'without a daemon gqctl says which socket, in one line, status 1' \
	'out=$(gqctl jobs 2>&1); [ $? -eq 1 ] && [ "$(printf "%s\n" "$out" | wc -l)" -eq 1 ] && printf %s "$out" | grep -q "$GQ_SOCKET"'
gqd_start
is 'the job ran on without gqd' "$(gqctl job "$job" --json | jq -r '.state + (.incarnation | tostring)')" R1
gqctl cancel "$job"
ok 'and is still ours to end' "gqctl wait $job --state CA --timeout 20"
gqctl shutdown
wait "$gqd_pid"
is 'gqctl shutdown: status 0' $? 0
done_testing
