#!/bin/sh
# SPDX-License-Identifier: MIT
# t202-inside.t - what a job sees of itself: environment, user, limits, output, input, exit code
. "$(dirname "$0")/../lib/gq.sh"
need_programs jq curl
sim_cards 2 80G
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };'
uuid() { gqctl gpus --json | jq -r ".[$1].uuid"; }

cat >look.sh <<'S'
#!/bin/sh
env | sort
echo "cwd=$(pwd) umask=$(umask) files=$(ulimit -n) stdin=$(cat)"
echo "args=$*"
test -r "$GQ_RUN_DIR/incarnation" && echo "incarnation file=$(cat "$GQ_RUN_DIR/incarnation")"
test -e "$GQ_NOTICE" || echo "no notice yet"
exit 7
S
printf 'hello' >in.txt
# shellcheck disable=SC3045 # dash and bash have it
# GQ_RUN_DIR and GQ_NOTICE: as inside a job that submits another
id=$(umask 027 && ulimit -n 512 && A=1 GQ_RUN_DIR=/elsewhere GQ_NOTICE=/etc/passwd gq_submit -J look -A team --gpus 2 --vram 4G -i in.txt \
	-o 'out-%j-%x-%u.txt' --export ALL,B=2 look.sh one 'two words')
ok 'a job that exits 7 is FAILED' "gqctl wait $id --state F --timeout 10"
is 'with its code' "$(gqctl job "$id" --json | jq .exit_code)" 7
is 'and the reason' "$(gqctl job "$id" --json | jq -r .reason)" NonZeroExitCode
out=out-$id-look-$(id -un).txt
ok 'the output pattern' "[ -s '$out' ]"
has() { ok "$1" "grep -Fqx '$2' '$out'"; }
has 'GQ_JOB_ID' "GQ_JOB_ID=$id"
has 'GQ_INCARNATION' 'GQ_INCARNATION=1'
has 'GQ_JOB_NAME' 'GQ_JOB_NAME=look'
has 'GQ_JOB_ACCOUNT' 'GQ_JOB_ACCOUNT=team'
has 'GQ_SUBMIT_DIR' "GQ_SUBMIT_DIR=$PWD"
has 'GQ_GPUS' 'GQ_GPUS=0,1'
has 'GQ_VRAM_MIB' 'GQ_VRAM_MIB=4096'
has 'GQ_CHECKPOINT_EXIT_CODE' 'GQ_CHECKPOINT_EXIT_CODE=85'
has 'cards by UUID' "CUDA_VISIBLE_DEVICES=$(uuid 0),$(uuid 1)"
has 'in PCI order' 'CUDA_DEVICE_ORDER=PCI_BUS_ID'
has 'a variable of the submitter' 'A=1'
has 'and one of --export' 'B=2'
has 'cwd, umask, limit, stdin' "cwd=$PWD umask=0027 files=512 stdin=hello"
has 'arguments' 'args=one two words'
has 'its own run folder, not its submitter'"'"'s' "GQ_RUN_DIR=$gq_dir/run/jobs/$id"
is 'and only that one' "$(grep -c '^GQ_RUN_DIR=\|^GQ_NOTICE=' "$out")" 2
has 'the incarnation, also for restored jobs' 'incarnation file=1'
has 'no notice while nothing is wanted' 'no notice yet'

id=$(gq_submit --export NONE -o none.out --wrap 'env')
gqctl wait "$id" --state CD --timeout 10
ok 'export NONE: nothing of the submitter' "! grep -q '^A=\\|^GQ_SOCKET=' none.out"
ok 'but a PATH and a HOME' "grep -q '^PATH=' none.out && grep -q '^HOME=' none.out"

id=$(gq_submit --wrap 'kill -9 $$')
ok 'a job that dies of a signal is FAILED' "gqctl wait $id --state F --timeout 10"
is 'with the signal' "$(gqctl job "$id" --json | jq .exit_signal)" 9

gqsub -Q -W --wrap 'exit 3' >/dev/null 2>&1
is 'gqsub --wait returns the exit code' $? 3
gqsub -Q -W --wrap 'kill -9 $$' >/dev/null 2>&1
is 'and 1 for a signal' $? 1

# a client may write any limit: nobody gets above those of gqd
curl -s --unix-socket "$gq_dir/run/gqd.sock" http://gq/v1/jobs -d '{"script":"#!/bin/cat /proc/self/limits\n",
	"cwd":"'"$PWD"'", "output":"limits.out", "rlimits":{"RTPRIO":[99,99], "NOFILE":[100,null]}}' >answer
id=$(jq .job_id answer)
gqctl wait "$id" --state CD --timeout 10
limit() { sed -n "s/^Max $1  *\([^ ]*\)  *\([^ ]*\) .*/\1 \2/p" "$2"; }
is 'a limit that was asked for, down to what gqd has' "$(limit 'open files' limits.out)" \
	"100 $(limit 'open files' "/proc/$gqd_pid/limits" | cut -d' ' -f2)"
is 'no priority that gqd itself lacks' "$(limit 'realtime priority' limits.out | cut -d' ' -f2)" \
	"$(limit 'realtime priority' "/proc/$gqd_pid/limits" | cut -d' ' -f2)"

# another user: own rights, nothing of root's
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && id nobody >/dev/null 2>&1; then
	as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
	mkdir nobody && chown nobody nobody
	id=$(cd nobody && as_nobody gqsub --parsable --wrap 'id -u; id -G; touch mine; echo x >../root-only')
	: >root-only && chmod 600 root-only
	gqctl wait "$id" --state F --timeout 10
	is 'the job runs as its user' "$(head -n 1 "nobody/gq-$id.out")" "$(id -u nobody)"
	is 'and its files belong to the user' "$(stat -c %U "nobody/mine")" nobody
	out=$(as_nobody gqsub --parsable -o /etc/gq-not-mine --wrap true)
	ok 'output where the user may not write: FAILED' "gqctl wait $out --state F --timeout 10"
	ok 'and no such file' '[ ! -e /etc/gq-not-mine ]'
	like 'the reason is said' "$(gqctl job "$out")" 'gq-not-mine.*[Pp]ermission denied'
fi

mkdir gone && id=$(cd gone && gq_submit -H --wrap true) && rmdir gone && gqctl release "$id"
ok 'the folder is gone at start: FAILED' "gqctl wait $id --state F --timeout 10"
like 'and says which' "$(gqctl job "$id")" 'gone.*No such file'
is 'with the reason' "$(gqctl job "$id" --json | jq -r .reason)" JobLaunchFailure
done_testing
