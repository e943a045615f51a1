#!/bin/sh
# SPDX-License-Identifier: MIT
# t311-cuda.t - jobs with state on a (simulated) card: parked, dumped by the real CRIU, restored
. "$(dirname "$0")/../lib/gq.sh"
need_criu
need_programs jq bash unshare pgrep
hash=$GQ_BUILD/cuda-hash
cuda_do=$GQ_BUILD/tests/lib/cuda-do
if [ ! -x "$hash" ] || [ ! -x "$cuda_do" ]; then skip_all "cuda-hash or cuda-do is not built"; fi
sim_cards 2 80G
export hash cuda_do gq_criu gq_dir

"$hash" 100000 64 >undisturbed.out
like 'undisturbed it has a result' "$(cat undisturbed.out)" '^result [0-9a-f]{16}$'
used() { gq-simgpu list | awk -v card="$1" '$1 == card && /GPU-/ {split($6, u, "/"); print u[1]}'; }

# --- by hand: lock, checkpoint, dump in one capsule; restore in another
cat >dump.sh <<'S'
mount -t proc proc /proc
echo 999 >/proc/sys/kernel/ns_last_pid
setsid "$hash" 100000 64 </dev/null >parked.out 2>&1 &
job=$!
until grep -q step parked.out; do sleep 0.02; done
"$cuda_do" $job lock checkpoint state
mkdir img
"$gq_criu" dump -t $job -D img -o dump.log -v2 2>/dev/null || { "$cuda_do" $job restore unlock; kill $job; exit 1; }
S
cat >restore.sh <<'S'
mount -t proc proc /proc
"$gq_criu" restore -d -D img -o restore.log -v2 2>/dev/null || exit 1
job=$(pgrep -x cuda-hash)
"$cuda_do" "$job" state restore unlock
while kill -0 "$job" 2>/dev/null; do sleep 0.02; done
S
# whatever descriptors the harness has must not reach what is dumped
capsule() {
	bash -c 'for f in /proc/self/fd/*; do f=${f##*/}; [ "$f" -le 2 ] || eval "exec $f>&-"; done
		exec unshare --kill-child -pfm --propagation private sh "$1"' capsule "$1" </dev/null
}
is 'it is parked' "$(capsule ./dump.sh 2>/dev/null)" CHECKPOINTED
ok 'and dumped' 'test -s img/inventory.img'
is 'nothing is left on the card' "$(used 0)" 0
held=$(gq-simgpu hold 0 --vram 1G --detach)
is 'it comes back parked' "$(capsule ./restore.sh)" CHECKPOINTED
is 'its result is that of the undisturbed run' "$(tail -n 1 parked.out)" \
	"$(tail -n 1 undisturbed.out)"
kill "$held"

# --- as a job of gqd
gqd_start "checkpoint: { criu = \"$gq_criu\"; };" 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };' \
	'preempt: { graceful_exit_sec = 3; sudden_grace = "1s"; };'
id=$(gq_submit --gpus 1 --vram 1G -o job.out --wrap "exec $hash 500000 64")
ok 'it computes' "wait_for 'grep -q step job.out' 20"
ok 'on the one card that it was given' \
	'wait_for "gq-simgpu list | grep -q cuda-hash" 5 && [ "$(gq-simgpu list | grep -c cuda-hash)" = 1 ]'
at=$(gq-simgpu list | awk '/GPU-/ {card = $1} /cuda-hash/ {print card}')
ok 'whose memory gqd sees' "wait_for '[ \$(gqctl gpus --json | jq .[$at].vram_used_mib) -ge 64 ]' 10"
ok 'evicted' "gqctl evict $id && gqctl wait $id --state S --timeout 20"
is 'the card is free' "$(used "$at")" 0
ok 'resumed, and it ends' "gqctl resume $id; gqctl wait $id --state CD --timeout 60"
"$hash" 500000 64 >undisturbed.out
is 'nothing lost, nothing done twice' "$(grep result job.out)" "$(grep result undisturbed.out)"
done_testing
