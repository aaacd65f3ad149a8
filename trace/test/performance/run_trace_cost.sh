#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What mpix_trace adds to a call of MPI_Send or MPI_Recv, and to a request, which takes MPI_Isend or MPI_Irecv, and
# MPI_Wait: round trips of short messages between two processes, pinned if there are two processors, with and without it
# in turns. mpix_clock list tells what a reading of the clock costs, of which a call takes two.
#
# Usage, in the build directory: run_trace_cost.sh [TURNS [BLOCKS [OPTION_OF_MPIX_TRACE]...]].
# Environment: CC, MPIEXEC, MPIEXEC_FLAGS.
. "$(dirname "$0")/../../../test/performance/launches.sh"

turns=${1:-25} blocks=${2:-1000}

# Compilers are lists of words.
# shellcheck disable=SC2086
${CC:-mpicc} -O2 "$source_dir/trace_cost.c" -o "$scratch/trace_cost" || exit 1

round_trips() {     # [WRAPPER]...: the medians in ns, by calls that wait and by requests
    launch "$@" "$scratch/trace_cost" "$blocks"
}

# In a round trip each process sends and receives once.
for ((turn = 0; turn < turns; turn++)); do
    plain=$(round_trips) && recorded=$(round_trips ./bin/mpix_trace -o "$scratch/trace" "${@:3}") || exit 1
    rm -rf "$scratch/trace"
    echo "$plain $recorded"
done | $awk -v added="$scratch/added" '
    NF == 4 {
        call = ($3 - $1) / 2
        request = ($4 - $2) / 2
        printf "round trip %.1f ns, recorded %.1f ns: %.1f ns a call; ", $1, $3, call
        printf "by requests %.1f ns, recorded %.1f ns: %.1f ns a request\n", $2, $4, request
        printf "%.3f %.3f\n", call, request >added
    }'
[ -s "$scratch/added" ] || exit 1
done_turns=$(wc -l <"$scratch/added")
printf 'median of %d turns: %.1f ns a call\n' "$done_turns" "$(cut -d ' ' -f 1 "$scratch/added" | median)"
printf 'median of %d turns: %.1f ns a request\n' "$done_turns" "$(cut -d ' ' -f 2 "$scratch/added" | median)"
