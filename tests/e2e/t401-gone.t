#!/bin/sh
# SPDX-License-Identifier: MIT
# t401-gone.t - all processes gone at once, as after a reboot: running jobs start again or resume from
# their image, stored ones are restored, --no-requeue says that it is lost
. "$(dirname "$0")/../lib/gq.sh"
need_criu
need_programs jq python3
sim_cards 2 80G
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };' \
	'preempt: { graceful_exit_sec = 1; };'
cp "$GQ_TOP/examples/hash-chain/chain.py" .
python3 chain.py 20000 1000 >reference
job() { gqctl job "$1" --json | jq -r ".$2"; }
crash() { # gqd, shims and jobs; shims first, or one would record how its job was killed
	kill -STOP "$gqd_pid"
	for who in gq-shim 'gqd python3 sleep sh'; do
		for p in $(gq_ours); do
			case " $who " in
			*" $(cat "/proc/$p/comm" 2>/dev/null) "*) kill -KILL "$p" 2>/dev/null ;;
			esac
		done
	done
	wait "$gqd_pid" 2>/dev/null
}

fresh=$(gq_submit --vram 1G -o fresh.out --wrap 'exec python3 chain.py 20000 1000')
once=$(gq_submit --vram 1G --no-requeue --checkpoint none --wrap 'exec sleep 300')
gqctl wait "$fresh" --state R --timeout 10
gqctl wait "$once" --state R --timeout 10
ok 'both compute' "wait_for '[ -s fresh.out ]' 10"
crash
gqd_start
ok 'no-requeue: FAILED' "gqctl wait $once --state F --timeout 10"
is 'no-requeue: and why' "$(job "$once" reason)" NodeFail
ok 'the other runs again to its end' "gqctl wait $fresh --state CD --timeout 60"
is 'as the second incarnation' "$(job "$fresh" incarnation)" 2
is 'with the right result' "$(tail -n 1 fresh.out)" "$(tail -n 1 reference)"

kept=$(gq_submit --vram 1G --grace 0s -o kept.out --wrap 'exec python3 chain.py 20000 1000')
gqctl wait "$kept" --state R --timeout 10
ok 'it computes' "wait_for '[ -s kept.out ]' 10"
gqctl evict "$kept"
ok 'stored' "gqctl wait $kept --state S --timeout 20"
crash
gqd_start
is 'a stored job is still stored' "$(job "$kept" state)" S
gqctl resume "$kept"
ok 'and is restored from its image' "gqctl wait $kept --state R --timeout 20"
crash
gqd_start
ok 'killed while it ran restored: it resumes from the image again' \
	"gqctl wait $kept --state CD --timeout 60"
is 'never from its beginning' "$(job "$kept" requeues)" 0
is 'with the right result' "$(tail -n 1 kept.out)" "$(tail -n 1 reference)"
ok 'its image is gone with it' "wait_for '[ -z \"\$(find \$gq_dir/state/images -name image.gqi)\" ]' 5"
done_testing
