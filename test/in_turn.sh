#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test beside others, or if it is in the list, when no other runs. With Open MPI, those behind a word "/" in the
# list run beside others, too, as processes that wait there give the processors away. Where files cannot be locked, as
# on some file systems of clusters, it does not wait: give make no -j there. Adds a line to in_turn.seconds: how long
# the test took, the processors' time for it, and its name.
#
# Usage, in the build directory: in_turn.sh LIST COMMAND... TEST
list=$1 turn=--shared
shift
for test in "$@"; do :; done
case ${MPI_LIBRARY-} in "Open MPI"*) list=${list%% / *} ;; esac
for script in $list; do
    case $test in */"$script") turn=--exclusive ;; esac
done
exec 9>in_turn.lock
flock $turn 9 2>/dev/null
begin_s=$(date +%s)
"$@" 9>&-
status=$?
took_s=$(($(date +%s) - begin_s))
times >in_turn.$$
"${AWK:-awk}" -v took_s=$took_s -v test="${test##*/}" 'END {
    split($0, part, /[ms ]+/)
    printf "%d %.0f %s\n", took_s, 60 * (part[1] + part[3]) + part[2] + part[4], test }' in_turn.$$ >>in_turn.seconds
rm in_turn.$$
exit $status
