#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - run.sh fuzz_NAME [SECONDS]: feed one parser with what libFuzzer makes up
#
# tests/fuzz/fuzz_NAME.c is compiled by clang together with the sources it names in a line
# "fuzz: lib/base/parse.c ..."; libraries as "-ljansson". The corpus is tests/fuzz/corpus/NAME;
# what crashed is left in the current directory as crash-*.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
name=${1:-} seconds=${2:-60}
source=$top/tests/fuzz/$name.c
if [ -z "$name" ] || [ ! -f "$source" ]; then
	echo "run.sh: which one? there are: $(cd "$top/tests/fuzz" && echo fuzz_*.c)" >&2
	exit 2
fi
command -v clang >/dev/null || {
	echo "run.sh: clang not found: apt-get install clang" >&2
	exit 1
}
config=${GQ_BUILD:-.}/config.h
[ -f "$config" ] || config=$top/build/config.h
with=
# shellcheck disable=SC2013 # words are what is wanted
for word in $(sed -n 's/^.*fuzz: //p' "$source"); do
	case $word in
	-*) with="$with $word" ;;
	*) with="$with $top/$word" ;;
	esac
done
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
# shellcheck disable=SC2086 # a list of files and libraries
clang -g -O1 -std=gnu17 -fsanitize=fuzzer,address,undefined -include "$config" \
	-I"$top" -I"$top/lib" -I"$top/gqd" -o "$bin/$name" "$source" $with
mkdir -p "$bin/corpus"
seed=$top/tests/fuzz/corpus/${name#fuzz_}
[ -d "$seed" ] || seed=
"$bin/$name" -max_total_time="$seconds" -print_final_stats=1 "$bin/corpus" ${seed:+"$seed"}
