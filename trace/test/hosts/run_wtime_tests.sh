#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# MPI_Wtime of a program that runs with mpix_preload, on two hosts whose clocks drift, against the truth: a clock drifts
# by 200 ppm, which is 0.6 ms in a test, and its drift wanders. The preload has simulated clocks for this.
#
# Usage, in the build directory: run_wtime_tests.sh                       the tests
#                                run_wtime_tests.sh SECONDS [alone]       one measurement; with alone, of a program that
#                                                                         makes no collective call
# Environment: MPIEXEC, MPIX_TEST_BRIEF=yes, MPIX_TEST_QUICK=yes for one of the tests; MH_SIMULATED_CLOCK
#
# Most functions are called by tap_check only, by name:
# shellcheck disable=SC2317
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$source_dir/../../.." && pwd) tests=$top/test
. "$tests/tap.sh"
. "$tests/simulation/truth.sh"
. "$top/trace/test/simulation/simulated.sh"
program=$PWD/trace/test/hosts/wtime_truth
# On a machine that does much else, a reading may err by as much as a time slice.
max_ns=100000
export MH_SIMULATED_CLOCK=${MH_SIMULATED_CLOCK:-exact=host1,drift=200000,walk=10} MPIX_HARMONIZE_CLOCK=simulated
export MH_MPIEXEC=${MPIEXEC:-mpiexec}

# SECONDS [alone]: prints what the program prints and then the report.
on_two_hosts() {
    rm -f "$scratch/report"
    timeout $(($1 + tap_limit_s)) "$tests/hosts/with_hosts.sh" 2 "$tests/hosts/mpiexec_hosts.sh" -n 2 \
        "$scratch/mpix_preload" --report "$scratch/report" "$program" "$@" 2>&1 </dev/null
    cat "$scratch/report"
}

# The best of some runs, as one interruption at the wrong time spoils what a synchronization learns.
check_each_second() {
    local output p99 run
    for ((run = 0; run < truth_runs; run++)); do
        output=$(on_two_hosts 3)
        p99=$(truth_value "$output" p99)
        [ "${p99:-$((max_ns + 1))}" -gt "$max_ns" ] || return
    done
    printf '%s\n' "no 99th percentile is at most $max_ns ns in $truth_runs runs; the last one:" "$output"
}

# A program without collective calls: its clocks are followed for a while in MPI_Init, and what the report says is true.
check_alone() {
    local output count bound
    output=$(on_two_hosts 2 alone)
    count=$(sed -n 's/^MPI_Wtime was the global clock, synchronized \([0-9]*\) times*.*/\1/p' <<<"$output")
    bound=$(sed -n 's/.*, in the end within \([0-9.]*\) us on all ranks$/\1/p' <<<"$output")
    grep -q '^no collective call of all processes' <<<"$output" && [ "${count:-0}" -ge 5 ] ||
        printf '%s\n' "the clocks were not followed in MPI_Init:" "$output"
    LC_ALL=C awk -v most="$(truth_value "$output" last_max)" -v bound="$bound" \
        'BEGIN { exit !(bound > 0 && most != "" && most <= 1000 * bound) }' ||
        printf '%s\n' "the last readings are further apart than the bound in the report:" "$output"
}

[ -e trace/test/simulation/.libs/interpose_simulated.so ] || skip_all "this build has no preload with simulated clocks"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
copy_simulated mpix_preload "$scratch" || exit 1
if [ $# -gt 0 ]; then
    on_two_hosts "$@"
    exit
fi
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
problem=$(hosts_problem "$tests/hosts/with_hosts.sh")
[ -z "$problem" ] || skip_all "$problem"
tap_check "MPI_Wtime on two hosts, a collective call each second" check_each_second
quick tap_check "MPI_Wtime on two hosts, no collective call" check_alone
tap_done
