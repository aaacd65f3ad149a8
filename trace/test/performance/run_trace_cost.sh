#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What mpix_trace adds to a call of MPI_Send or MPI_Recv, and to a request, which takes MPI_Isend or MPI_Irecv, and
# MPI_Wait: round trips of short messages between two processes, pinned if there are two processors, with and without it
# in turns; and to MPI_Put. mpix_clock list tells what a reading of the clock costs, of which a call takes two.
#
# Usage, in the build directory: run_trace_cost.sh [TURNS [BLOCKS [OPTION_OF_MPIX_TRACE]...]].
# Environment: CC, MPIEXEC, MPIEXEC_FLAGS.
. "$(dirname "$0")/../../../test/performance/launches.sh"

turns=${1:-25} blocks=${2:-1000}

# Compilers are lists of words.
# shellcheck disable=SC2086
${CC:-mpicc} -O2 "$source_dir/trace_cost.c" -o "$scratch/trace_cost" || exit 1

medians() {         # [WRAPPER]...: in ns, of round trips by calls that wait and by requests, and of MPI_Put
    launch "$@" "$scratch/trace_cost" "$blocks"
}

# In a round trip each process sends and receives once.
for ((turn = 0; turn < turns; turn++)); do
    plain=$(medians) && recorded=$(medians ./bin/mpix_trace -o "$scratch/trace" "${@:3}") || exit 1
    rm -rf "$scratch/trace"
    echo "$plain $recorded"
done | $awk -v added="$scratch/added" '
    NF == 6 {
        call = ($4 - $1) / 2
        request = ($5 - $2) / 2
        access = $6 - $3
        printf "round trip %.1f ns, recorded %.1f ns: %.1f ns a call; ", $1, $4, call
        printf "by requests %.1f ns, recorded %.1f ns: %.1f ns a request; ", $2, $5, request
        printf "put %.1f ns, recorded %.1f ns: %.1f ns an access\n", $3, $6, access
        printf "%.3f %.3f %.3f\n", call, request, access >added
    }'
[ -s "$scratch/added" ] || exit 1
done_turns=$(wc -l <"$scratch/added")
column=1
for what in "a call" "a request" "an access"; do
    printf 'median of %d turns: %.1f ns %s\n' "$done_turns" "$(cut -d ' ' -f $column "$scratch/added" | median)" "$what"
    column=$((column + 1))
done
