#!/bin/sh
# SPDX-License-Identifier: MIT
# autogen.sh - make configure and Makefile.in from configure.ac and Makefile.am
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
exec autoreconf --install --force --warnings=all,no-obsolete "$@"
