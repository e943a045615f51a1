#!/bin/sh
# SPDX-License-Identifier: MIT
# t333-grade.t - gqctl tells how well a job can be snapshotted, and what to do about it
. "$(dirname "$0")/../lib/gq.sh"
need_root
need_programs jq python3
kinds=$GQ_BUILD/tests/lib/kinds
[ -x "$kinds" ] || skip_all "tests/lib/kinds is not built"
sim_cards 2 80G
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };'

good=$(gq_submit --vram 1G --wrap "exec $kinds plain")
bad=$(gq_submit --vram 1G --wrap "exec $kinds fanotify")
grade() { gqctl job "$1" --json | jq -r .grade; }
ok 'an ordinary job is C3' "wait_for '[ \"\$(grade $good)\" = C3 ]' 40"
is 'without findings' "$(gqctl job "$good" --json | jq -c .findings)" '[]'
if "$kinds" fanotify probe >/dev/null 2>&1; then
	ok 'one with fanotify is C1' "wait_for '[ \"\$(grade $bad)\" = C1 ]' 40"
	like 'the finding names the process, the thing and the cure' \
		"$(gqctl job "$bad" --json | jq -r '.findings[0]')" \
		'^process 1000 \(kinds\) uses fanotify - watch files with inotify$'
	like 'for people: the grade in words' "$(gqctl job "$bad")" 'C1: can be parked in host memory'
	like 'for people: the cure' "$(gqctl job "$bad")" 'cure: watch files with inotify'
	gqd_kill9
	gqd_start
	ok 'a new gqd is told again' "wait_for '[ \"\$(grade $bad)\" = C1 ]' 20"
else
	skip 'no fanotify' 5
fi
gqctl cancel "$good" "$bad" >/dev/null
ok 'of an ended job nothing is said' "gqctl wait $good --state CA --timeout 20 && [ \$(grade $good) = null ]"
done_testing
