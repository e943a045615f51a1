#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh - the main job on this machine, with a simulated driver: lend an idle card, give it back
# before the reservation starts, resume the job where it stopped, survive the death of the daemon
#
# usage: examples/demo/demo.sh [BIN-DIRECTORY]        (./setup.sh demo does it all)
# Everything that is printed behind "|" is what the running system says.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
bin=${1:-$top/build/bin}
[ -x "$bin/gqd" ] || { echo "demo: $bin/gqd: not built; run ./setup.sh build" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "demo: needs root: namespaces and CRIU" >&2; exit 1; }
PATH=$bin:$PATH
steps=90000

dir=$(mktemp -d /tmp/gq-demo.XXXXXX)
gqd_pid=
ok=no
cleanup() {
	for id in $(gqctl jobs --json 2>/dev/null | jq -r '.[].job_id' 2>/dev/null); do
		gqctl cancel "$id" >/dev/null 2>&1 || :
	done
	[ -z "$gqd_pid" ] || { kill "$gqd_pid" 2>/dev/null && wait "$gqd_pid" 2>/dev/null; } || :
	cd /
	if [ "$ok" = yes ]; then
		rm -rf "$dir"
	else
		echo "demo: FAILED; what is left for a look: $dir (gqd.log, job output in work/)" >&2
	fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

bold='' plain=''
if [ -t 1 ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi
say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
run() { printf '$ %s\n' "$*"; "$@" 2>&1 | sed 's/^/| /'; }
fail() { echo "demo: $*" >&2; exit 1; }
field() { gqctl job "$1" --json | jq -r ".$2"; }
api() { curl -sS --fail-with-body --unix-socket "$GQ_SOCKET" "$@"; }

start_gqd() {
	gqd -c "$dir/gq.conf" --state-dir "$dir/state" --run-dir "$dir/run" >>"$dir/gqd.log" 2>&1 &
	gqd_pid=$!
	for _ in $(seq 100); do
		gqctl ping >/dev/null 2>&1 && return 0
		kill -0 "$gqd_pid" 2>/dev/null || break
		sleep 0.05
	done
	tail -n 5 "$dir/gqd.log" >&2
	fail "gqd did not come up"
}

mkdir "$dir/work"
cd "$dir/work"
GQ_SOCKET=$dir/run/gqd.sock
GQ_SIMGPU=$dir/simgpu
for libs in "$bin/../lib/simgpu" "$bin/../lib/simgpu/.libs"; do
	[ ! -e "$libs/libnvidia-ml.so.1" ] || break
done
LD_LIBRARY_PATH=$libs
export GQ_SOCKET GQ_SIMGPU LD_LIBRARY_PATH
cat >"$dir/gq.conf" <<'CONF'
pool: { unified = true; online_priority = true; offline_fill = true; };
quota: { offline_max_vram_ratio = 0.4; online_reserve_vram = "always"; };
preempt: { level = "priority"; graceful_exit_sec = 2; };
min_fill_granularity = "2s";
monitor: { idle_hold = "0s"; };
CONF
cp "$top/examples/hash-chain/chain.py" .

say "1. gqd starts with 2 simulated cards of 80 GiB; the service chat holds card 0, 30 GiB of it always"
gq-simgpu -f "$GQ_SIMGPU" create --cards 2 --memory 80G >/dev/null
start_gqd
api -X PUT http://gq/v1/services/chat -d '{"cards":["0"],"reserve_vram":"30G"}' >/dev/null
run gqctl gpus
run gqctl services

say "   an undisturbed run of the same computation, outside gq, for the comparison"
python3 chain.py $steps 3000 >reference.out &
reference=$!

say "2. chat has both cards in an hour. One job starts at once; one asks for more than the window"
api -X POST http://gq/v1/reservations \
	-d '{"service":"chat","in":"1h","duration":"1h","cards":["0","1"]}' >/dev/null
one=$(gqsub --parsable -J chain --vram 8G --grace 1s -o chain.out \
	--wrap "exec python3 chain.py $steps 3000")
two=$(gqsub --parsable -J too-long --vram 8G --time-min 2h --wrap 'sleep 7200')
gqctl wait "$one" --state R --timeout 10 >/dev/null
run gqctl jobs
[ "$(field "$two" reason)" = WindowTooShort ] || fail "job $two does not wait for WindowTooShort"

say "3. chat reserves both cards in 4 seconds: notice, exit period, snapshot, free before the time"
gqctl wait "$one" --state R --timeout 5 >/dev/null
sleep 1
reservation=$(api -X POST http://gq/v1/reservations \
	-d '{"service":"chat","in":"4s","duration":"3s","cards":["0","1"]}' | jq -r .reservation_id)
gqctl wait "$one" --state S --timeout 15 >/dev/null
run gqctl jobs
run gqctl evictions
run gqctl reservations
late=$(gqctl evictions --json | jq -r '.[0].late_ms')
[ "$late" = 0 ] || fail "reservation $reservation was $late ms late"

say "4. the reservation ends; the job is restored from its image and goes on where it stopped"
gqctl wait "$one" --state CD --timeout 60 >/dev/null
run gqctl job "$one"
wait "$reference"
run tail -n 2 chain.out
run tail -n 2 reference.out
cmp -s chain.out reference.out || fail "the results differ: steps were lost or done twice"
echo "| the two outputs are equal, line by line: no step lost, none done twice"

say "5. a second run; gqd is killed with SIGKILL; the job goes on; the next gqd adopts it"
three=$(gqsub --parsable -J again --vram 8G -o again.out --wrap "exec python3 chain.py $steps 3000")
gqctl wait "$three" --state R --timeout 10 >/dev/null
kill -KILL "$gqd_pid"
wait "$gqd_pid" 2>/dev/null || :
gqctl jobs 2>&1 | sed "s|$dir|…|g; s/^/| /" || :
before=$(wc -l <again.out)
for _ in $(seq 100); do
	[ "$(wc -l <again.out)" -le "$before" ] || break
	sleep 0.1
done
[ "$(wc -l <again.out)" -gt "$before" ] || fail "the job did not go on without gqd"
echo "| without gqd the job went from line $before to line $(wc -l <again.out)"
start_gqd
run gqctl jobs
gqctl wait "$three" --state CD --timeout 60 >/dev/null
cmp -s again.out reference.out || fail "the results of the second run differ"
[ "$(field "$three" incarnation)" = 1 ] || fail "job $three was started twice"
run gqctl history --job "$three"
gqctl cancel "$two" >/dev/null
ok=yes
say "all five steps held"
