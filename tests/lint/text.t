#!/bin/sh
# SPDX-License-Identifier: MIT
# text.t - what every file of the repository must and must not say
# shellcheck source=tests/lib/tap.sh
. "${GQ_TOP:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
cd "$GQ_TOP" || exit 1
files() { tests/lib/sources "$@"; }

no_spdx=$(files '*.c' '*.h' '*.sh' '*.t' '*.py' Makefile.am configure.ac |
	while read -r f; do head -n 3 "$f" | grep -q 'SPDX-License-Identifier: MIT' || echo "$f"; done)
is 'a licence line in the first three lines of every source' "$no_spdx" ''

no_purpose=$(files '*.c' '*.h' '*.sh' '*.t' |
	while read -r f; do head -n 4 "$f" | grep -Fq "$(basename "$f") - " || echo "$f"; done)
is 'every source says in its first lines what it is for' "$no_purpose" ''

# banned.h bans them in the compiler where it is included; this finds the rest
words='strcpy|strcat|strncpy|strncat|strtok|sprintf|vsprintf|gets|atoi|atol|localtime|gmtime|ctime|asctime'
words="$words|tmpnam|mktemp|system|popen|alloca"
banned=$(files '*.c' '*.h' | grep -vE '^(lib/base/banned.h$|tests/)' |
	xargs grep -nE "(^|[^A-Za-z0-9_.>])($words)\(" | grep -vE ':[0-9]+:\s*(\*|/[*/])')
is 'no banned function is called outside of tests' "$banned" ''

generated=$(files | grep -E '(^|/)(configure|Makefile(\.in)?|config\.(h|status|log)(\.in)?|aclocal\.m4)$|\.(o|lo|la|a|so|gcno|gcda)$')
is 'nothing generated is committed' "$generated" ''

# Paths that only mean something on the machine of whoever wrote them, and notes to oneself.
places='(^|[^A-Za-z0-9_.*-])/(root|home/[a-z]+|mnt)/[A-Za-z]|(^|[[:space:]=])/work/[A-Za-z]'
local_paths=$(files | grep -v '^tests/lint/text.t$' | xargs grep -nIE "$places" 2>/dev/null |
	grep -vE '/home/(alice|bob|carol|user|you|me|ann|joe)')
is 'no path of a private machine' "$local_paths" ''
notes=$(files | grep -v '^tests/lint/text.t$' | xargs grep -nIwE 'TODO|FIXME|XXX|HACK' 2>/dev/null |
	grep -vE '# TODO|XXXX|"XXX')
is 'no unfinished business in comments' "$notes" ''
hosts=$(files | grep -v '^tests/lint/text.t$' | xargs grep -nIE '(deb|ftp|snapshot|security)\.debian\.org' 2>/dev/null)
is 'no archive host is named: apt knows them' "$hosts" ''

# One line of tabs or of spaces, never a trailing blank, always a newline at the end
blanks=$(files '*.c' '*.h' '*.sh' '*.t' '*.mk' '*.md' '*.def' | xargs grep -nE '[[:blank:]]+$' | cut -d: -f1,2)
is 'no blanks at the end of a line' "$blanks" ''
long=$(files '*.c' '*.h' | grep -v '^tests/' | xargs awk '
	{ l = $0; gsub(/\t/, "        ", l); if (length(l) > 132) print FILENAME ":" FNR ": " length(l) }')
is 'no line of C beyond 132 columns' "$long" ''
done_testing
