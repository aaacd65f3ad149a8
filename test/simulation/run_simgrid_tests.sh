#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The library itself with many processes, under SimGrid's SMPI. True time is known: it is the simulator's.
#
# Usage: run_simgrid_tests.sh          the tests (under a minute)
#        run_simgrid_tests.sh study    a table on stdout: each algorithm at 64 to 16,384 processes, and the default
#                                      one on lopsided links and with slow processes (many hours; 14 GB of memory)
# Skipped where SimGrid is missing, and with MPIX_TEST_BRIEF=yes; with MPIX_TEST_QUICK=yes there is only one test.
# Environment: MH_SEED (default 3). Of the study: MH_STUDY_RANKS (default "64 1024 4096 16384"), MH_STUDY_LABELS,
# MH_STUDY_SECONDS (default 14.4, with ten calls in each), MH_STUDY_LINKS=plain for no others.
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$source_dir/../..
. "$source_dir/../tap.sh"
. "$source_dir/truth.sh"
# The simulator repeats itself.
truth_runs=1
. "$source_dir/simgrid.sh"
seed=${MH_SEED:-3}
MH_SIMULATED_CLOCK=$(simgrid_clock "$seed")
export MH_SIMULATED_CLOCK

[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
problem=$(simgrid_problem)
[ -z "$problem" ] || skip_all "$problem"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

simulate() {        # RANKS SECONDS PERIOD_US LABEL
    local status
    simgrid_platform "$work" "$1"
    simgrid_runner="timeout $limit_s"
    simgrid_run "$work" "$1" "$work/clock_truth" "$2" "$3" "$4" >"$work/said" 2>&1 </dev/null
    status=$?
    grep readings= "$work/said"
    return $status
}

# Why a simulation has no result.
complaint_of() {    # STATUS
    case $1 in
    124) echo "the $limit_s s for it were over" ;;
    *) echo "the simulator ended with status $1: $(tail -n 1 "$work/said")" ;;
    esac
}

# One row: times in ms, errors, bounds and skews in ns. Status 1: there is no result.
study_row() {       # RANKS LABEL LINKS
    local line status
    line=$(simulate "$1" "${MH_STUDY_SECONDS:-14.4}" 100000 "$2")
    status=$?
    if [ -z "$line" ]; then
        printf '%6s  %-24s %-10s no result: %s\n' "$1" "$2" "$3" "$(complaint_of $status)"
        return 1
    fi
    tr ' ' '\n' <<<"$line" | "${AWK:-awk}" -F= -v ranks="$1" -v label="$2" -v links="$3" '
        { value[$1] = $2 }
        END {
            printf "%6s  %-24s %-10s %9.2f %9.3f %10d %9d %8.0f %8.0f %8.0f %9.0f %9.0f %9.0f %5d\n", ranks, label,
                links, value["first_sync_us"] / 1000, value["last_sync_us"] / 1000,
                value["first_messages"], value["later_messages"], value["error_rms"], value["error_p50"],
                value["error_p99"], value["bound_mean"], value["skew_p50"], value["skew_p99"], value["violations"]
        }'
}

# Status 1: a row has no result.
study() {
    local labels=${MH_STUDY_LABELS:-track/skampi/20+prop hca3/100/skampi/10+prop hca3o/skampi/10+prop \
        hca2/100/skampi/10+prop \
        hca/100/skampi/10+prop jk/100/skampi/10+prop skampi/skampi/10+prop}
    local plain=$MH_SIMULATED_CLOCK ranks label failed=0
    printf '%6s  %-24s %-10s %9s %9s %10s %9s %8s %8s %8s %9s %9s %9s %5s\n' ranks algorithm links 'first(ms)' \
        'later(ms)' messages second 'rms(ns)' 'p50(ns)' 'p99(ns)' 'bound(ns)' 'skew p50' 'skew p99' wrong
    for ranks in ${MH_STUDY_RANKS:-64 1024 4096 16384}; do
        for label in $labels; do
            study_row "$ranks" "$label" plain || failed=1
        done
        [ "${MH_STUDY_LINKS-}" != plain ] || continue
        MH_SIMULATED_CLOCK=$plain,lopsided=500 study_row "$ranks" track/skampi/20+prop lopsided || failed=1
        MH_SIMULATED_CLOCK=$plain,slow=48,slowness=20000 study_row "$ranks" track/skampi/20+prop slow || failed=1
    done
    return $failed
}

# To compile with more optimization takes longer than it saves.
[ "${1-}" = study ] || simgrid_cflags=(-O0)
simgrid_build "$top" "$work/clock_truth" test/simulation/clock_{truth,simulated}.c >"$work/log" 2>&1 || {
    cat "$work/log"
    echo "Bail out! the library does not build with smpicc"
    exit 1
}
# On a machine that does nothing else, the longest takes three minutes.
limit_s=900
if [ "${1-}" = study ]; then
    limit_s=7200
    study
    exit
fi

simulate_or_complain() {
    simulate "$@" || complaint_of $?
}

judge() {           # WHAT MAX_P99_NS RANKS SECONDS PERIOD_US LABEL
    local name="$3 processes, $1, seed $seed"
    ! tap_selects "$name" || judge_truth "$name" "$2" 1000 0 simulate_or_complain "${@:3}"
}
quick judge tracked 200 64 7 100000 track/skampi/20+prop
judge "no shared clocks" 350 64 7 100000 track/skampi/20
judge hca3 50000 64 7 100000 hca3/100/skampi/10+prop
judge tracked 1000 256 7 200000 track/skampi/20+prop
tap_done
