#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 900
# t400-crash.t - a walk over all fault points: whatever of gqd and shim dies there, no job is lost,
# none is done twice, no card is given twice
# The story of each round: one job of several steps is submitted, evicted by a reservation, resumed.
# The steps are appended to a file by the job itself, so a second run would show.
. "$(dirname "$0")/../lib/gq.sh"
need_debug
need_criu
need_programs jq python3
sim_cards 1 80G

cat >steps.py <<'S'
import time
n = 0
while n < 60:
    time.sleep(0.05)
    n += 1
    print(n, flush=True)
S
conf='min_fill_granularity = "1s"; monitor: { idle_hold = "0s"; };
preempt: { graceful_exit_sec = 1; kill_wait = "2s"; };'

# up: gqd runs, whether or not the fault has killed the last one
up() {
	if ! kill -0 "$gqd_pid" 2>/dev/null; then
		wait "$gqd_pid" 2>/dev/null
		gqd_env=
		# shellcheck disable=SC2119 # a restart: gq.conf stays
		gqd_start
	fi
}

story() {
	rm -rf "$gq_dir"/state/* "$gq_dir"/run/* "$gq_dir"/work/out
	gqd_env="GQ_FAULT=$1"
	: >"$gq_dir/gqd.log"
	env GQ_FAULT="$1" gqd -c "$gq_dir/gq.conf" --state-dir "$gq_dir/state" \
		--run-dir "$gq_dir/run" >>"$gq_dir/gqd.log" 2>&1 </dev/null &
	gqd_pid=$!
	gqd_wait_up || up
	id=
	until id=$(gq_submit -o out --grace 0s --wrap 'exec python3 steps.py' 2>/dev/null); do
		up
		# the answer was lost with gqd; what it had committed must not be submitted again
		id=$(gqctl jobs --all --json | jq -r '.[0].job_id // empty')
		[ -z "$id" ] || break
	done
	wait_for 'up; gqctl job "$id" --json | jq -e ".state != \"PD\" and .state != \"CF\""' 20
	wait_for 'up; gqctl reserve --in 2s --duration 1s --cards 0' 10
	wait_for 'up; gqctl job "$id" --json | jq -e ".ended"' 60
	up
}

printf '%s\n' "$conf" >"$gq_dir/gq.conf"
gqd --list-faults >"$gq_dir/faults"
ok 'there are fault points' "[ -s '$gq_dir/faults' ]"
while IFS='	' read -r name _ _; do
	for visit in 1 3; do
		story "$name:kill@$visit"
		state=$(gqctl job "$id" --json | jq -r .state)
		lines=$(sort -n out 2>/dev/null | uniq -d | wc -l)
		runs=$(gqctl job "$id" --json | jq -r .requeues)
		[ "$state" = CD ] || diag "$(tail -n 15 "$gq_dir/gqd.log")" "$(gqctl job "$id")"
		is "$name:kill@$visit: the job ends well" "$state" CD
		is "$name:kill@$visit: its last step is there" "$(tail -n 1 out)" 60
		ok "$name:kill@$visit: no step twice, unless it was started again and says so" \
			"[ $lines -eq 0 ] || [ $runs -gt 0 ]"
		ok "$name:kill@$visit: the card is free again" \
			"wait_for 'gqctl gpus --json | jq -e \".[0].job == null\"' 10"
		gqd_stop
	done
done <"$gq_dir/faults"
done_testing
