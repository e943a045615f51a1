#!/bin/sh
# SPDX-License-Identifier: MIT
# t003-helpers.t - gq.sh brings up a gqd of one's own, takes it down again, and leaves no trace
. "$(dirname "$0")/../lib/gq.sh"
need_programs jq
sim_cards 3 40G
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };'

is 'the simulated cards are seen' "$(gqctl gpus --json | jq length)" 3
id=$(gq_submit -o out.txt --wrap 'echo hello')
like 'a job gets a number' "$id" '^[0-9]+$'
ok 'and runs to its end' 'gqctl wait "$id" --state CD --timeout 30'
is 'with its output where it was told to' "$(cat out.txt)" hello

long=$(gq_submit --wrap 'exec sleep 600')
ok 'another one runs' 'gqctl wait "$long" --state R --timeout 30'
gqd_kill9
not_ok 'gqd is dead' 'gqctl ping'
gqd_start
is 'and starts on what it left: the job is there' "$(gqctl job "$long" --json | jq -r .state)" R
gqd_stop
is 'asked to stop it ends well' "$?" 0
ok 'and leaves the job alone' '[ -n "$(gq_ours)" ]'

# A test inside the test, cut off in the middle: nothing of it stays.
cat >inner.t <<EOF_INNER
. '$GQ_TOP/tests/lib/gq.sh'
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };'
inner=\$(gq_submit --wrap 'exec sleep 600')
gqctl wait "\$inner" --state R --timeout 30
echo "\$gq_dir"
kill -TERM \$\$
EOF_INNER
left=$(env -u GQ_SOCKET -u GQ_SIMGPU sh inner.t 2>/dev/null | tail -n 1)
like 'a test that is cut off had a folder' "$left" '/gq-test\.'
not_ok 'which is gone' '[ -e "$left" ]'
name=${left##*/g} # the brackets keep grep from finding itself
is 'with every process that named it' \
	"$(grep -ls -e "/[g]$name" /proc/[0-9]*/cmdline /proc/[0-9]*/environ | wc -l)" 0
done_testing
