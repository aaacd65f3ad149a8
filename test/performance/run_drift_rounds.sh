#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The error of the global clock on two hosts, by TCP, in launches that take turns: clocks that do not drift apart, that
# drift by 10 ppm, and by 50 ppm. Drifts wander.
#
# Usage, in the build directory: run_drift_rounds.sh [ROUNDS [SECONDS]], by default 5 rounds, each of three launches of
# 60 s. Environment: MPIEXEC.
. "$(dirname "$0")/launches.sh"
. "$tests/simulation/truth.sh"

rounds=${1:-5} seconds=${2:-60}
hosts=$tests/hosts
program=test/simulation/clock_truth
[ -x "$program" ] || { echo "$program is missing here: run make check TESTS= first" >&2; exit 1; }

measure() {         # PPM SEED
    MH_SIMULATED_CLOCK=exact=host1,drift=${1}000$([ "$1" = 0 ] || echo ",walk=10,seed=$2") \
        MH_MPIEXEC=${MPIEXEC:-mpiexec} timeout $((seconds + 120)) "$hosts/with_hosts.sh" 2 "$hosts/mpiexec_hosts.sh" \
        -n 2 "$program" "$seconds" 10000 track/skampi/20+prop 1000 2>&1 </dev/null
}

# PPM COLUMN: the median of the rounds
median_of() {
    $awk -v ppm="$1" -v column="$2" '$1 == ppm { print $column }' "$scratch/rows" | median
}

for ((round = 1; round <= rounds; round++)); do
    for ppm in 0 10 50; do
        line=$(measure "$ppm" "$round")
        # shellcheck disable=SC2046
        set -- $(for key in error_rms error_p99 bound_mean violations; do truth_value "$line" $key; done)
        [ $# -eq 4 ] || { printf '%s\n' "a launch has failed:" "$line" >&2; exit 1; }
        echo "$ppm $*" >>"$scratch/rows"
        printf '%2d ppm: error rms %5.0f ns, 99th percentile %5.0f ns, bound %6.0f ns, readings outside it %d\n' \
            "$ppm" "$@"
    done
done
for ppm in 0 10 50; do
    $awk -v ppm="$ppm" -v rms="$(median_of "$ppm" 2)" -v p99="$(median_of "$ppm" 3)" \
        -v least_rms="$(median_of 0 2)" -v least_p99="$(median_of 0 3)" 'BEGIN {
            printf "%2d ppm, medians: rms %.0f ns, 99th percentile %.0f ns; over those without drift: %.2f and %.2f\n",
                ppm, rms, p99, rms / least_rms, p99 / least_p99
        }'
done
