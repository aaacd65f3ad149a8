#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How well mpix_bench replays the arrivals of a traced program: the median spread of arrivals at the call site where
# processes waited longest for each other, in the trace and in the replay, with two processes.
#
# Usage, in the build directory: run_trace_replay.sh [PROGRAM [ARGUMENT]...]. By default a program in which rank 1 comes
# 3 ms late to each of 40 calls. Environment: CC, MPIEXEC, MPIEXEC_FLAGS.
. "$(dirname "$0")/../../../test/performance/launches.sh"
pin=()

if [ $# -eq 0 ]; then
    # shellcheck disable=SC2086
    ${CC:-mpicc} "$source_dir/../check_late.c" -o "$scratch/late" || exit 1
    set -- "$scratch/late"
fi
launch ./bin/mpix_trace -o "$scratch/trace" "$@" >&2 || exit 1
./bin/mpix_trace_report "$scratch/trace" --write-arrivals "$scratch/arrivals.csv" >"$scratch/report" || exit 1
function=$(sed -n '1s/^# MPI_\([A-Za-z_]*\) .*/\1/p' "$scratch/arrivals.csv")
calls=$(grep -c '^[0-9]*,1,' "$scratch/arrivals.csv")
# Invalid samples are measured again, as far as the program does; those that remain do not count.
launch ./bin/mpix_bench "$(tr '[:upper:]' '[:lower:]' <<<"$function")" -m 8:8 -i "$calls" -x 2 \
    --arrival "file:$scratch/arrivals.csv" --raw "$scratch/raw" --format csv >"$scratch/results"
[ $? -le 1 ] || exit 1

spreads() {         # RANK_COLUMN TIME_COLUMN [CONDITION]: of each call, for lines of rank 0 and 1 in turn
    awk -F, "${3:-1} && \$$1 == 0 { first = \$$2 }
        ${3:-1} && \$$1 == 1 { print (\$$2 > first ? \$$2 - first : first - \$$2) }"
}

traced=$(grep '^[0-9]' "$scratch/arrivals.csv" | spreads 2 3 | median)
replayed=$(spreads 6 7 '$10 ~ /^file:/ && $9 == "valid"' <"$scratch/raw" | median)
[ -n "$replayed" ] || { echo "run_trace_replay.sh: mpix_bench has no valid sample; is the machine busy?" >&2; exit 1; }
awk -v was="$traced" -v is="$replayed" -v what="MPI_$function, $calls calls" 'BEGIN {
    printf "%s: median spread %.3f us in the trace, %.3f us in the replay", what, was / 1e3, is / 1e3
    if (was > 0) printf ": %+.1f %%", (is - was) / was * 100
    print "" }'
