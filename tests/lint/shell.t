#!/bin/sh
# SPDX-License-Identifier: MIT
# shell.t - shellcheck has nothing to say about any shell script
# shellcheck source=tests/lib/tap.sh
. "${GQ_TOP:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
cd "$GQ_TOP" || exit 1
command -v shellcheck >/dev/null || skip_all "shellcheck not found: apt-get install shellcheck"

tests/lib/sources | while read -r f; do
	case $f in
	tests/fuzz/corpus/* | tests/fixtures/*) ;;
	*.sh) echo "$f" ;;
	*.[chm]*) ;;
	*) head -c 64 "$f" | head -n 1 | tr -d '\0' | grep -Eq '^#!.*[/ ](ba|da)?sh( |$)' && echo "$f" ;;
	esac
done >"${TMPDIR:-/tmp}/gq-shell.$$"
while read -r f; do
	ok "$f" "shellcheck -S warning -x -P SCRIPTDIR -P '$GQ_TOP' '$f'"
done <"${TMPDIR:-/tmp}/gq-shell.$$"
rm -f "${TMPDIR:-/tmp}/gq-shell.$$"
done_testing
