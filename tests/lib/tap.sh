# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# tap.sh - say what is true, in TAP (sourced)
#
#   ok WORDS 'SHELL TEXT'     the text, evaluated, returns 0; its output is shown if it does not
#   not_ok WORDS 'SHELL TEXT' it returns something else
#   is WORDS GOT WANTED       two equal strings
#   like WORDS GOT REGEX      GOT matches the extended regular expression (any line of it)
#   unlike WORDS GOT REGEX
#   pass WORDS / fail WORDS [WHY]
#   skip WHY [N]              stands for N assertions that cannot be made here
#   skip_all WHY              the whole file; before the first assertion
#   bail WHY                  nothing further makes sense in this file
#   done_testing              last line of every test
tap_count=0
tap_failed=0

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

pass() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' "$tap_count" "$1"
}

fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$1"
	[ $# -lt 2 ] || diag "$2"
}

ok() {
	if tap_out=$(eval "$2" 2>&1 </dev/null); then
		pass "$1"
	else
		fail "$1" "status $? of: $2
$tap_out"
	fi
}

not_ok() {
	if tap_out=$(eval "$2" 2>&1 </dev/null); then
		fail "$1" "status 0 of: $2
$tap_out"
	else
		pass "$1"
	fi
}

is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got:    $2
wanted: $3"
	fi
}

like() {
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then
		pass "$1"
	else
		fail "$1" "got:      $2
no match: $3"
	fi
}

unlike() {
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then
		fail "$1" "got:   $2
match: $3"
	else
		pass "$1"
	fi
}

skip() {
	for _ in $(seq "${2:-1}"); do
		tap_count=$((tap_count + 1))
		printf 'ok %d # SKIP %s\n' "$tap_count" "$1"
	done
}

skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

bail() {
	fail "$1" "${2:-}"
	done_testing
}

done_testing() {
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}
