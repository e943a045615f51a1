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
while n < 40:
    time.sleep(0.05)
    n += 1
    print(n, flush=True)
S
conf='min_fill_granularity = "1s"; monitor: { idle_hold = "0s"; };
preempt: { graceful_exit_sec = 1; kill_wait = "2s"; };'

# up: gqd runs; one that the fault has killed is followed by one without it
up() {
	kill -0 "$gqd_pid" 2>/dev/null && return
	wait "$gqd_pid" 2>/dev/null
	heal
}

heal() {
	gqd_env=
	# shellcheck disable=SC2119 # a restart: gq.conf stays
	gqd_start
}

# shellcheck disable=SC2317 # called by wait_for
is_left() { gqctl job "$id" --json | jq -e '.ended or (.evictions > 0 and .cause == null)'; }

# story FAULT PROGRAM: a job is submitted, evicted, resumed; a fault of the shim is healed after the
# eviction, since every new shim would meet it again
story() {
	find "$gq_dir/state" "$gq_dir/run" work.out -mindepth 0 -delete 2>/dev/null
	mkdir -p "$gq_dir/state" "$gq_dir/run"
	: >"$gq_dir/gqd.log"
	gqd_env="GQ_FAULT=$1"
	env GQ_FAULT="$1" gqd -c "$gq_dir/gq.conf" --state-dir "$gq_dir/state" \
		--run-dir "$gq_dir/run" >>"$gq_dir/gqd.log" 2>&1 </dev/null &
	gqd_pid=$!
	gqd_wait_up || up
	id=
	until id=$(gq_submit -o work.out --grace 0s --wrap 'exec python3 steps.py' 2>/dev/null); do
		up
		# the answer was lost with gqd; what it had committed must not be submitted again
		id=$(gqctl jobs --all --json | jq -r '.[0].job_id // empty')
		[ -z "$id" ] || break
	done
	if [ "$2" != gqd ]; then # whatever a shim can do wrong, it does now
		wait_for 'gqctl job "$id" --json | jq -e ".incarnation > 1 or .start_time != null"' 10
	fi
	wait_for 'up; gqctl reserve --in 1s --duration 1s --cards 0' 10
	wait_for 'up; is_left' 10
	if [ "$2" != gqd ]; then
		case $1 in restore.*) wait_for 'gqctl job "$id" --json | jq -e ".incarnation > 1"' 10 ;; esac
		gqd_stop
		heal
		gqctl release "$id" >/dev/null 2>&1 # where it had failed too often
	fi
	wait_for 'up; gqctl job "$id" --json | jq -e ".ended"' 60
	up
}

round() {
	story "$1:kill@$2" "$3"
	gqctl job "$id" --json >job.json
	twice=$(sort -n work.out 2>/dev/null | uniq -d | wc -l)
	is "$1@$2: the job ends well" "$(jq -r .state job.json)" CD ||
		diag "$(tail -n 15 "$gq_dir/gqd.log")"
	is "$1@$2: its last step is there" "$(tail -n 1 work.out)" 40
	ok "$1@$2: no step twice, but for a start from its beginning or an older image that is said" \
		"[ $twice -eq 0 ] || jq -e '.requeues > 0 or .lost_s > 0 or .incarnation > 2' job.json"
	ok "$1@$2: the card is free again" \
		"wait_for 'gqctl gpus --json | jq -e \".[0].job_id == null\"' 10"
	gqd_stop
}

printf '%s\n' "$conf" >"$gq_dir/gq.conf"
gqd --list-faults >"$gq_dir/faults"
ok 'there are fault points' "[ -s '$gq_dir/faults' ]"
while IFS='	' read -r name program _; do
	round "$name" 1 "$program"
	[ "$program" != gqd ] || round "$name" 4 "$program"
done <"$gq_dir/faults"
done_testing
