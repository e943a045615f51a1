# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# progress.sh - say what is being done in one line, keep the details in a log (sourced)
#
# step WORDS LOG CMD...  runs CMD with its output appended to LOG. It prints "==> WORDS",
# a sign of life every 15 seconds, the time it took if that was noticeable, and the last
# lines of the log if CMD failed; its status is CMD's.

say() { printf '==> %s\n' "$*" >&2; }
complain() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

tick() {
	ticks=0
	while sleep 15; do
		ticks=$((ticks + 15))
		printf '    ... %d s\n' "$ticks" >&2
	done
}

step() {
	step_words=$1 step_log=$2
	shift 2
	mkdir -p "$(dirname "$step_log")"
	say "$step_words"
	step_from=$(date +%s)
	step_line=$(($(wc -l 2>/dev/null <"$step_log" || echo 0) + 1))
	tick &
	step_ticker=$!
	step_rc=0
	"$@" >>"$step_log" 2>&1 </dev/null || step_rc=$?
	kill "$step_ticker" 2>/dev/null
	wait "$step_ticker" 2>/dev/null || :
	step_took=$(($(date +%s) - step_from))
	if [ "$step_rc" -ne 0 ]; then
		complain "$step_words: failed with status $step_rc; the end of $step_log:"
		tail -n "+$step_line" "$step_log" | tail -n 20 | sed 's/^/    | /' >&2
	elif [ "$step_took" -ge 3 ]; then
		printf '    done in %d s\n' "$step_took" >&2
	fi
	return "$step_rc"
}
