#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What mpix_trace adds to a call: round trips of short messages between two processes, with and without it in turns.
# mpix_clock_list tells what a reading of the clock costs, of which a call takes two.
#
# Usage, in the build directory: run_trace_cost.sh [TURNS [BLOCKS]]. Environment: CC, MPIEXEC, MPIEXEC_FLAGS.
set -u
export LC_ALL=C

turns=${1:-9} blocks=${2:-4000}
source_dir=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# Compilers and flags are lists of words.
# shellcheck disable=SC2086
${CC:-mpicc} -O2 "$source_dir/trace_cost.c" -o "$scratch/trace_cost" || exit 1

round_trip() {      # [WRAPPER]...: the median in ns
    # shellcheck disable=SC2086
    "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 "$@" "$scratch/trace_cost" "$blocks" </dev/null
}

# Each process makes two calls in a round trip.
for ((turn = 0; turn < turns; turn++)); do
    plain=$(round_trip) && recorded=$(round_trip ./lib/trace/mpix_trace -o "$scratch/trace") || exit 1
    rm -rf "$scratch/trace"
    echo "$plain $recorded"
done | awk '
    NF == 2 { printf "round trip %.1f ns, recorded %.1f ns: %.1f ns a call\n", $1, $2, cost[++turns] = ($2 - $1) / 2 }
    END {
        for (i = 1; i <= turns; i++) {
            for (k = smaller = equal = 0; k < turns;) { k++; smaller += cost[k] < cost[i]; equal += cost[k] == cost[i] }
            if (smaller <= (turns - 1) / 2 && (turns - 1) / 2 < smaller + equal) median = cost[i]
        }
        if (turns < 1) exit 1
        printf "median of %d turns: %.1f ns a call\n", turns, median
    }'
