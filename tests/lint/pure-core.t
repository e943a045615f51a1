#!/bin/sh
# SPDX-License-Identifier: MIT
# pure-core.t - the core decides only: its object files need nothing that reads a clock, a file or the world
# shellcheck source=tests/lib/tap.sh
. "${GQ_TOP:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
: "${GQ_BUILD:=$GQ_TOP/build}"
core=$GQ_BUILD/libcore.a
[ -f "$core" ] || skip_all "no libcore.a in $GQ_BUILD"

# Names from outside that a decision may need: memory, strings, sorting, formatting into memory.
allowed='^(malloc|calloc|realloc|reallocarray|free|mem[a-z]+|str[a-z]+|snprintf|vsnprintf|qsort|bsearch|abort'
allowed="$allowed|__assert_fail|__[a-z]+_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__ctype_b_loc|__errno_location"
allowed="$allowed|__(asan|ubsan|gcov|gcc|llvm)_.*|__isoc23_strto[a-z]+|__isoc99_sscanf|getenv)\$"

# Our own: what the other archives that the core may stand on define.
ours=$(nm --defined-only "$core" "$GQ_BUILD/libbase.a" "$GQ_BUILD/libjob.a" 2>/dev/null |
	awk 'NF == 3 { print $3 }' | sort -u)
# A file of lib/base that the core calls must be as pure: these are.
foreign=$(nm -u "$core" | awk 'NF == 2 { print $2 }' | sort -u |
	grep -Ev "$allowed" | grep -Fxv "$ours")
is 'libcore.a needs nothing from outside but memory and strings' "$foreign" ''

impure='^(time_now|gq_time_now|gq_now|now_.*|log_.*|gq_log.*|file_.*)$'
calls=$(nm -u "$core" | awk 'NF == 2 { print $2 }' | sort -u | grep -E "$impure")
is 'nor anything of lib/base that reads a clock, logs or touches a file' "$calls" ''
done_testing
