#!/bin/sh
# SPDX-License-Identifier: MIT
# t002-setup.t - what setup.sh says to people, and what make install leaves behind
# shellcheck source=tests/lib/tap.sh
. "${GQ_TOP:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
: "${GQ_BUILD:=$GQ_TOP/build}"
setup=$GQ_TOP/setup.sh

for verb in deps build demo check bench; do
	like "without a verb it lists $verb" "$("$setup")" "^ +$verb "
done
"$setup" frobnicate >/dev/null 2>&1
is 'an unknown verb is a usage error' "$?" 2
is 'told in one line' "$("$setup" frobnicate 2>&1 | wc -l)" 1
like 'that names it' "$("$setup" frobnicate 2>&1)" "unknown verb 'frobnicate'"

[ -f "$GQ_BUILD/Makefile" ] || bail "nothing configured in $GQ_BUILD"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
ok 'make install into DESTDIR' 'make -s -C "$GQ_BUILD" install DESTDIR="$root"'
unit=$(find "$root" -name gqd.service)
like 'a unit that starts the installed gqd' "$(cat "$unit")" '^ExecStart=/.*/sbin/gqd -c /.*/gq\.conf '
like 'and leaves the jobs alone when it stops' "$(cat "$unit")" '^KillMode=process$'
for program in $(cd "$GQ_BUILD" && make -s --no-print-directory list-installed); do
	ok "$program" 'find "$root" -type f -perm -755 -name "$program" | grep -q .'
done
ok 'make uninstall' 'make -s -C "$GQ_BUILD" uninstall DESTDIR="$root"'
is 'leaves no file but what a person may have edited' \
	"$(find "$root" ! -type d ! -path '*/etc/gq/gq.conf')" ''
done_testing
