#!/bin/sh
# SPDX-License-Identifier: MIT
# c.t - cppcheck's quick look at the C sources, and whether clang-format would change them
# shellcheck source=tests/lib/tap.sh
. "${GQ_TOP:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
cd "$GQ_TOP" || exit 1
sources=$(tests/lib/sources '*.c' '*.h')

if command -v cppcheck >/dev/null; then
	# Not asked about: what gcc tells better (uninitvar), what _cleanup_ does behind its back (leaks).
	# shellcheck disable=SC2046 # a list of files
	out=$(cppcheck --quiet -j2 --std=c11 --enable=warning,portability --inline-suppr --max-configs=1 \
		--suppress=unknownMacro --suppress=missingInclude --suppress=preprocessorErrorDirective \
		--suppress=syntaxError --suppress=internalAstError --suppress=ctuOneDefinitionRuleViolation \
		--suppress=varFuncNullUB --suppress=uninitvar --suppress=resourceLeak --suppress=memleak \
		--suppress=normalCheckLevelMaxBranches \
		--template='{file}:{line}: {id}: {message}' -I . -I lib -I gqd \
		$(echo "$sources" | grep '\.c$' | grep -v '^tests/') 2>&1)
	is 'cppcheck finds nothing' "$out" ''
else
	skip 'cppcheck not found: apt-get install cppcheck'
fi

if command -v clang-format >/dev/null; then
	# shellcheck disable=SC2086
	out=$(clang-format --dry-run $sources 2>&1 | sed -n 's/^\([^:]*\):.*/\1/p' | sort | uniq -c | sort -rn)
	if [ -z "$out" ]; then
		pass 'clang-format would change nothing'
	else
		printf 'not ok %d - clang-format would change nothing # TODO make format\n' $((tap_count += 1))
		diag "$(echo "$out" | wc -l) files, the most lines in: $(echo "$out" | head -n 5 | tr -s ' \n' ' ')"
	fi
else
	skip 'clang-format not found: apt-get install clang-format'
fi
done_testing
