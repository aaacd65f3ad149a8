#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test beside others, or if it is in the list, when no other runs. Where files cannot be locked, as on some
# file systems of clusters, it does not wait: give make no -j there.
#
# Usage, in the build directory: in_turn.sh LIST COMMAND... TEST
list=$1 turn=--shared
shift
for test in "$@"; do :; done
for script in $list; do
    case $test in */"$script") turn=--exclusive ;; esac
done
exec 9>in_turn.lock
flock $turn 9 2>/dev/null
"$@" 9>&-
