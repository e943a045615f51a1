#!/bin/sh
# SPDX-License-Identifier: MIT
# t000-demo.t - the main story, as ./setup.sh demo shows it
. "$(dirname "$0")/../lib/gq.sh"
need_criu
need_programs curl jq python3
gq_tmp
"$GQ_TOP/examples/demo/demo.sh" "$GQ_BUILD/bin" >"$gq_dir/demo.out" 2>&1
rc=$?
[ $rc -eq 0 ] || diag "$(cat "$gq_dir/demo.out")"
ok 'the demo ends well' "[ $rc -eq 0 ]"
ok 'a job waits for a longer window' "grep -q WindowTooShort '$gq_dir/demo.out'"
ok 'the eviction stored the job' "grep -Eq '[[:space:]]store[[:space:]]' '$gq_dir/demo.out'"
unlike 'a file gets no escape codes' "$(cat "$gq_dir/demo.out")" "$(printf '\033')"
ok 'all five steps held' "grep -q 'all five steps held' '$gq_dir/demo.out'"
done_testing
