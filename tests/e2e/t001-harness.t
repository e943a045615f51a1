#!/bin/sh
# SPDX-License-Identifier: MIT
# t001-harness.t - run-tests counts what a test says, and takes silence, crashes and lost plans for failures
# shellcheck source=tests/lib/tap.sh
. "${GQ_TOP:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# script NAME LINE...: a test program
script() {
	name=$dir/$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"$name"
	chmod +x "$name"
}
run() { "$GQ_TOP/tests/lib/run-tests" --timeout 1 "$@" 2>&1; }
last() { run "$@" | tail -n 1; }

script good 'echo "ok 1 - a"; echo "ok 2 - b # SKIP no root"; echo 1..2'
script bad 'echo "ok 1 - a"; echo "not ok 2 - b"; echo "# why it is so"; echo 1..2; echo heard >&2; exit 1'
script skipped 'echo "1..0 # SKIP no card"'
script crash 'echo "ok 1 - a"; echo 1..1; kill -SEGV $$'
script short 'echo "ok 1 - a"; echo 1..2'
script silent ':'
script status 'echo "ok 1 - a"; echo 1..1; exit 3'
script slow 'echo "ok 1 - a"; exec sleep 60'
script cmocka 'echo 1..1; echo "not ok 1 - a # SKIP"'
script todo 'echo "not ok 1 - a # TODO one day"; echo 1..1'

is 'passed and skipped' "$(last "$dir/good")" '1 passed, 0 failed, 1 skipped'
ok 'status 0 without a failure' 'run "$dir/good"'
is 'a failed assertion' "$(last "$dir/bad")" '1 passed, 1 failed'
like 'is shown with its comment' "$(run "$dir/bad")" '# why it is so'
like 'and with what was said on stderr' "$(run "$dir/bad")" '\| heard'
not_ok 'and gives a status' 'run "$dir/bad"'
is 'a whole file skipped' "$(last "$dir/skipped")" '0 passed, 0 failed, 1 skipped'
is 'a crash behind good words' "$(last "$dir/crash")" '1 passed, 1 failed'
is 'a plan that was not kept' "$(last "$dir/short")" '1 passed, 1 failed'
is 'silence' "$(last "$dir/silent")" '0 passed, 1 failed'
is 'a bad status behind good words' "$(last "$dir/status")" '1 passed, 1 failed'
is 'no end in sight' "$(last "$dir/slow")" '1 passed, 1 failed'
is "cmocka's way to say skipped" "$(last "$dir/cmocka")" '0 passed, 0 failed, 1 skipped'
is 'expected to fail' "$(last "$dir/todo")" '1 passed, 0 failed'
is 'a test that is not there' "$(last "$dir/absent")" '0 passed, 1 failed'
is 'the sum of several' "$(last "$dir/good" "$dir/bad" "$dir/skipped")" '2 passed, 1 failed, 2 skipped'
done_testing
