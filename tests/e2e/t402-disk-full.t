#!/bin/sh
# SPDX-License-Identifier: MIT
# t402-disk-full.t - no space: a clear error, nothing half done, and on it goes when there is space
. "$(dirname "$0")/../lib/gq.sh"
need_root
need_programs jq mount
sim_cards 1 80G
mount -t tmpfs -o size=2m tmpfs "$gq_dir/state" 2>/dev/null || skip_all 'cannot mount a tmpfs'
trap 'umount -l "$gq_dir/state"; gq_cleanup' EXIT
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };'
first=$(gq_submit -H --wrap true)
head -c 8M /dev/zero >"$gq_dir/state/filler" 2>/dev/null
n=0
while out=$(gqsub -H --parsable --comment "$(head -c 500 /dev/zero | tr '\0' x)" --wrap true 2>&1); do
	last=$out
	n=$((n + 1))
	[ $n -lt 2000 ] || break
done
like 'submit with a full disk: one clear line' "$out" 'cannot write its store|No space left|full'
is 'it is one line' "$(printf '%s\n' "$out" | wc -l)" 1
ok 'gqd still answers' 'gqctl ping'
ok 'what was accepted is there' "gqctl job ${last:-$first}"
rm "$gq_dir/state/filler"
ok 'with space again it serves on' "wait_for 'gq_submit -H --wrap true' 10"
run=$(gq_submit --wrap true)
ok 'and runs jobs' "gqctl wait $run --state CD --timeout 10"
gqd_stop
is 'SIGTERM: status 0' $? 0
gqd_start
ok 'nothing acknowledged is lost over a restart' "gqctl job ${last:-$first}"
is 'the file is sound' "$(sqlite3 "$gq_dir/state/gq.db" 'pragma integrity_check' 2>/dev/null || echo ok)" ok
gqd_stop
if gqd --list-faults | grep -q exec.spawn; then
	gqd_env='GQ_FAULT=exec.spawn:ENOSPC'
	gqd_start
	late=$(gq_submit --wrap true)
	ok 'no room to start a job: it is tried again' \
		"wait_for 'gqctl job $late --json | jq -e \".reason == \\\"RetryLater\\\"\"' 10"
	gqd_stop
fi
done_testing
