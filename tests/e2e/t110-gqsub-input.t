#!/bin/sh
# SPDX-License-Identifier: MIT
# t110-gqsub-input.t - what gqsub reads and refuses by itself: scripts, options, precedence, the request
# shellcheck source=tests/lib/gq.sh
. "$(dirname "$0")/../lib/gq.sh"
gq_tmp

# script NAME TEXT: a file made by printf
script() {
	# shellcheck disable=SC2059 # the text is a format on purpose
	printf "$2" >"$1"
}
# refused WORDS STATUS REGEX ARG...: one line on stderr that matches, nothing on stdout
refused() {
	words=$1 status=$2 regex=$3
	shift 3
	out=$(gqsub "$@" 2>err </dev/null)
	is "$words: status" "$?" "$status"
	like "$words: says so" "$(cat err)" "$regex"
	is "$words: in one line, and nothing else" "$(wc -l <err)$out" 1
}
# field NAME: of the JSON on stdin
field() { python3 -c 'import json,sys; print(json.load(sys.stdin).get(sys.argv[1]))' "$1"; }
need_programs python3

script good '#!/bin/sh\n#GQ --job-name="my job" --vram=8G -t 10\n#SBATCH --gres=gpu:2\necho hi\n'
refused 'no daemon' 1 "^gqsub: no gqd at $GQ_SOCKET \\(No such file or directory\\): start it with" good

refused 'no such script' 1 '^gqsub: nope.sh: not found; to run a command use --wrap' nope.sh
refused 'a directory' 1 '^gqsub: \.: is a directory' .
script empty ''
refused 'an empty script' 1 '^gqsub: empty: is empty' empty
refused 'nothing on standard input' 1 '^gqsub: stdin: is empty'
script dos '#!/bin/sh\n\necho hi\r\n'
refused 'DOS line ends' 1 '^gqsub: dos: line 3 ends in CR LF' dos
script bare 'echo hi\n'
refused 'no #! line' 1 '^gqsub: bare: the first line does not say what runs it' bare
script latin '#!/bin/sh\n# caf\351\n'
refused 'not UTF-8' 1 '^gqsub: latin: line 2 is not UTF-8 \(byte 0xe9\)' latin
refused 'a binary' 1 'is a binary \(NUL byte at' "$(command -v gqsub)"
{
	printf '#!/bin/sh\n#GQ '
	head -c 1048576 /dev/zero | tr '\0' x
} >long
refused 'a #GQ line of 1 MiB' 2 '^gqsub: long: line 2: is longer than 65536 bytes' long
{
	printf '#!/bin/sh\n: '
	head -c 1048576 /dev/zero | tr '\0' x
} >data
ok 'a line of 1 MiB that is not #GQ is fine' 'gqsub --print-json data'
head -c 5000000 /dev/zero | tr '\0' '\n' >huge
refused 'a script of 5 MB' 1 '^gqsub: huge: is larger than 4 MiB' huge
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	script secret '#!/bin/sh\n'
	chmod 600 secret
	like 'not readable' "$(setpriv --reuid 65534 --clear-groups "$(command -v gqsub)" secret 2>&1)" \
		'^gqsub: secret: you may not read it'
else
	skip 'needs root and setpriv'
fi

refused 'an unknown option' 2 '^gqsub: unknown option --frob: see --help$' --frob good
refused 'an ambiguous one' 2 '^gqsub: option --check is ambiguous: ' --check=app good
refused 'a value that is missing' 2 '^gqsub: option --vram needs a value' --vram
refused 'a bad duration' 2 "^gqsub: --time: 'soon' is not a duration" --time=soon good
refused 'too many cards' 2 "^gqsub: --gpus: '17' is not a whole number from 1 to 16" -G17 good
refused 'two machines' 2 '^gqsub: --nodes: asked for 2, gq runs on one machine' -N2 good
refused 'a contradiction' 2 '^gqsub: time_min: 3600 s is more than the time limit of 600 s' --time-min=1h good
refused 'script and --wrap' 1 '^gqsub: --wrap and the script good: only one' --wrap=true good
refused 'a bad pattern' 2 "^gqsub: output: '%z'" -o %z good
script wrong '#!/bin/sh\n# two\n\n#GQ --vram=90x\n'
refused 'a bad line of a script' 2 "^gqsub: wrong: line 4: --vram: '90x' is not a size" wrong

is 'a line of the script counts' "$(gqsub --print-json good | field vram)" 8192
is 'the command line wins' "$(gqsub --vram 3G --print-json good | field vram)" 3072
is 'a variable wins over the script' "$(GQSUB_VRAM=4G SBATCH_VRAM=5G gqsub --print-json good | field vram)" 4096
is 'not over the command line' "$(GQSUB_VRAM=4G gqsub --vram=6G --print-json good | field vram)" 6144
is 'another spelling has the same place' "$(gqsub --gpus=1 --print-json good | field gpus)" None
is 'SBATCH_TIMELIMIT as in sbatch' "$(SBATCH_TIMELIMIT=7 gqsub --print-json good | field time_limit)" 420
like 'a bad variable is named' "$(GQSUB_QOS=top gqsub good 2>&1)" "^gqsub: GQSUB_QOS: --qos: 'top' is not"
is 'a quoted name' "$(gqsub --print-json good | field name)" 'my job'
is 'the name of the file' "$(gqsub --print-json data | field name)" data
is 'arguments behind the script are its own' "$(gqsub --print-json good --vram 1 -- x | field args)" \
	"['--vram', '1', '--', 'x']"
is 'the working directory' "$(gqsub --print-json good | field cwd)" "$(pwd -P)"
is '-D relative to it' "$(gqsub -D sub --print-json good | field cwd)" "$(pwd -P)/sub"
is 'the umask' "$(umask 027 && gqsub --print-json good | field umask)" 027
# shellcheck disable=SC3045 # every sh here has it
like 'the limits' "$( (ulimit -n 77 && gqsub --print-json good) | field rlimits)" "'NOFILE': \\[77, 77\\]"
is 'abbreviated options' "$(gqsub --job=x --print good | field name)" x
is 'a script from standard input' "$(gqsub --print-json <good | field name)" 'my job'
is '--wrap' "$(gqsub --print-json --wrap 'echo "$HOME"' | field script)" '#!/bin/sh
# made by gqsub --wrap
echo "$HOME"'

env=$(FOO=1 BAR=2 gqsub --export=NONE --print-json good | field env)
unlike '--export=NONE' "$env" 'FOO'
like '--export=NONE keeps PATH' "$env" "'PATH="
env=$(FOO=1 BAR=2 gqsub --export=FOO,BAZ=3 --print-json good | field env)
like '--export=NAME' "$env" "'FOO=1'"
like '--export=NAME=VALUE' "$env" "'BAZ=3'"
unlike '--export with a list leaves the rest' "$env" "'BAR=2'"
env=$(FOO=1 BAR=2 gqsub --export=ALL,FOO=9 --print-json good | field env)
like '--export=ALL,NAME=VALUE' "$env" "'BAR=2'.*'FOO=9'"
unlike 'one value only' "$env" "'FOO=1'"
like 'a variable that is not UTF-8 is left out' \
	"$(BAD=$(printf '\351') gqsub --print-json good 2>&1 >/dev/null)" \
	'^gqsub: environment: BAD is not UTF-8 and is left out$'
like 'an option without meaning is ignored, and said' "$(gqsub -p gpu --print-json good 2>&1 >/dev/null)" \
	'^gqsub: --partition has no meaning here and is ignored$'
is '-Q is quiet about it' "$(gqsub -Q -p gpu --print-json good 2>&1 >/dev/null)" ''

like '--help' "$(gqsub --help)" '^  -G, --gpus=\[TYPE:\]N '
like '--version' "$(gqsub --version)" '^gqsub [0-9]+\.'
like '--usage' "$(gqsub --usage)" '^usage: gqsub '
done_testing
