#!/bin/sh
# SPDX-License-Identifier: MIT
# t112-gqsub-job.t - what a job finds: its environment, directory, limits, files, arguments; what gqsub --wait returns
# shellcheck source=tests/lib/gq.sh
. "$(dirname "$0")/../lib/gq.sh"
gqd_start 'monitor: { idle_hold = "1s"; };'
here=$(pwd -P)

run() { gqsub --wait --quiet "$@"; } # to its end, with its exit code
out() { cat "$here/gq-$(ls | sed -n 's/^gq-\([0-9]*\)\.out$/\1/p' | sort -n | tail -n 1).out"; }

FOO=bar run --wrap 'env'
env=$(out)
like 'GQ_JOB_ID is the number' "$env" '^GQ_JOB_ID=1$'
like 'GQ_INCARNATION' "$env" '^GQ_INCARNATION=1$'
like 'GQ_JOB_NAME' "$env" '^GQ_JOB_NAME=wrap$'
like 'GQ_SUBMIT_DIR' "$env" "^GQ_SUBMIT_DIR=$here$"
like 'GQ_NOTICE lies in GQ_RUN_DIR' "$env" "^GQ_NOTICE=$(printf '%s\n' "$env" | sed -n 's/^GQ_RUN_DIR=//p')/"
like 'GQ_GPUS' "$env" '^GQ_GPUS=[01]$'
like 'one card by UUID' "$env" '^CUDA_VISIBLE_DEVICES=GPU-[0-9a-f-]*$'
like 'CUDA_DEVICE_ORDER' "$env" '^CUDA_DEVICE_ORDER=PCI_BUS_ID$'
like 'the environment of the submission' "$env" '^FOO=bar$'
run -G2 --wrap 'echo "$CUDA_VISIBLE_DEVICES"'
like 'two cards' "$(out)" '^GPU-[^,]*,GPU-[^,]*$'
FOO=bar run --export=NONE --wrap 'echo "<$FOO> $PATH"'
like '--export=NONE' "$(out)" '^<> /'

(umask 027 && run --wrap 'umask; pwd')
is 'umask and directory' "$(out)" "0027
$here"
# shellcheck disable=SC3045 # every sh here has it
(ulimit -n 99 && run --wrap 'ulimit -n')
is 'limits' "$(out)" 99
mkdir sub
run -D sub -o there --wrap pwd
is '-D, and -o relative to it' "$(cat sub/there)" "$here/sub"
echo words >in
run -i in -o out -e err --wrap 'cat; echo no >&2'
is '-i and -o' "$(cat out)" words
is '-e' "$(cat err)" no
run -o out --wrap 'echo more'
is 'output is appended' "$(cat out)" 'words
more'
run -o out --open-mode=truncate --wrap 'echo anew'
is '--open-mode=truncate' "$(cat out)" anew
run -J 'a/b' -o '%x-%4j-%u.log' --wrap true
ok 'patterns' 'ls a_b-00*-"$(id -un)".log'

cat >script <<'SH'
#!/bin/bash
#GQ --job-name=mine --output=%x.out
echo "$GQ_JOB_NAME ${BASH_VERSION:+bash} <$1> <$2>"
SH
run script 'two words' --vram
is 'a script with its interpreter, options and arguments' "$(cat mine.out)" 'mine bash <two words> <--vram>'
printf '#!/bin/sh\nwhile ! test -e go; do sleep 0.05; done\necho old\n' >slow
gqsub -Q --wait -o slow.out slow &
pid=$!
wait_for 'test -e slow.out'
printf '#!/bin/sh\necho new\n' >slow
touch go
wait "$pid"
is 'the script is copied at submit' "$(cat slow.out)" old

run --wrap 'exit 7'
is 'exit code' $? 7
run --wrap 'kill -USR1 $$'
is 'ended by a signal' $? 1
gqsub --vram 200G --wrap true 2>err
is 'a refusal' $? 1
like 'in one line' "$(cat err)" '^gqsub: vram: asked for 204800 MiB'
like '--test-only' "$(gqsub --test-only --wrap true 2>&1)" '^gqsub: would '

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	setpriv --reuid 65534 --regid 65534 --clear-groups gqsub --wait -Q -o user.out --wrap 'id -u; id -g'
	is 'it runs as the user who submitted it' "$(cat user.out)" '65534
65534'
	is 'who owns the output' "$(stat -c %u user.out)" 65534
else
	skip 'needs root and setpriv' 2
fi
done_testing
