#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What MPIX_Harmonize and a reading of the clock take at each thread level of MPI: two pinned processes, the levels in
# turns. Prints a table in Markdown with medians over the turns, and the minimum and maximum of the calls.
#
# Usage, in the build directory: run_thread_cost.sh [TURNS [CALLS]]. Environment: MPIEXEC, MPIEXEC_FLAGS, AWK.
. "$(dirname "$0")/launches.sh"

turns=${1:-9} calls=${2:-200000}

for ((turn = 0; turn < turns; turn++)); do
    for level in 0 1 2 3; do
        row=$(launch ./test/performance/harmonize_calls "$calls" $level) && [ -n "$row" ] || exit 1
        echo "$level $row" >>"$scratch/rows"
    done
done

column() { $awk -v level="$1" -v k="$2" '$1 == level { print $k }' "$scratch/rows" | sort -n; }
names=(MPI_THREAD_SINGLE MPI_THREAD_FUNNELED MPI_THREAD_SERIALIZED MPI_THREAD_MULTIPLE)
echo "| level asked for | level provided | call (ns) | min | max | reading (ns) |"
echo "|---|---|---:|---:|---:|---:|"
for level in 0 1 2 3; do
    echo "| ${names[level]} | ${names[$(column $level 2 | median)]} | $(column $level 3 | median)" \
        "| $(column $level 3 | head -n 1) | $(column $level 3 | tail -n 1) | $(column $level 4 | median) |"
done
