#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What MPIX_Harmonize and a reading of the clock take at each thread level of MPI: two pinned processes, the levels in
# turns. Prints a table in Markdown with medians over the turns, and the minimum and maximum of the calls.
#
# Usage, in the build directory: run_thread_cost.sh [TURNS [CALLS]]. Environment: MPIEXEC, MPIEXEC_FLAGS, AWK.
set -u
export LC_ALL=C

turns=${1:-9} calls=${2:-200000}
. "$(dirname "$0")/median.sh"
launcher=${MPIEXEC:-mpiexec}
program=./test/performance/harmonize_calls
pin=-bind-to
"$launcher" --version 2>&1 | grep -q "Open MPI" && pin=--bind-to
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

for ((turn = 0; turn < turns; turn++)); do
    for level in 0 1 2 3; do
        # The flags are a list of words.
        # shellcheck disable=SC2086
        row=$("$launcher" ${MPIEXEC_FLAGS-} "$pin" core -n 2 $program "$calls" $level </dev/null)
        echo "$level $row" >>"$scratch"
        [ -n "$row" ] || exit 1
    done
done

column() { "${AWK:-awk}" -v level="$1" -v k="$2" '$1 == level { print $k }' "$scratch" | sort -n; }
names=(MPI_THREAD_SINGLE MPI_THREAD_FUNNELED MPI_THREAD_SERIALIZED MPI_THREAD_MULTIPLE)
echo "| level asked for | level provided | call (ns) | min | max | reading (ns) |"
echo "|---|---|---:|---:|---:|---:|"
for level in 0 1 2 3; do
    echo "| ${names[level]} | ${names[$(column $level 2 | median)]} | $(column $level 3 | median)" \
        "| $(column $level 3 | head -n 1) | $(column $level 3 | tail -n 1) | $(column $level 4 | median) |"
done
