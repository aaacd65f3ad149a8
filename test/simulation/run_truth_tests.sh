#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The global clock against the truth, on real processes whose base clocks have known errors: on one node, and on two
# hosts in namespaces (skipped where those cannot be made).
#
# Usage, in the build directory: run_truth_tests.sh. Environment: MPIEXEC, MPIEXEC_FLAGS, MPIX_TEST_BRIEF=yes to skip,
# MPIX_TEST_QUICK=yes for one test of each place.
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../tap.sh"
. "$source_dir/truth.sh"
hosts=$source_dir/../hosts
program=./test/simulation/clock_truth
export MH_SIMULATED_CLOCK

[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
[ -x "$program" ] || { echo "Bail out! $program is missing in $PWD"; exit 1; }
case $(basename "${MPIEXEC:-mpiexec}") in
smpirun) skip_all "the simulator has tests of its own" ;;
esac

# Each scenario says what clocks are like and what must hold:
#   place           node (default) or hosts, of which there are two
#   clock           simulated.h; that of the first process or host is exact
#   sync            the label of the synchronization
#   settings        of the library, as words NAME=VALUE
#   seconds         how long (default 3), with a call every two milliseconds
#   readings        those after each call (default 200): millions altogether, of which none may be outside its bound
#   jumps           how many steps of a clock are found (default 0); readings between one and the next call do not count
#   least_readings  as many as 130 calls have, unless it says otherwise: on a busy machine there are fewer
#   error_p99_ns    99 of 100 readings after calls are at most so far off
#   tier            quick, if it belongs to the quick tests
# shellcheck disable=SC2034 # those that others do not set
scenario() {        # FILE
    local name=${1##*/} problem=
    local place=node clock sync settings='' seconds=3 readings=200 jumps=0 least_readings='' error_p99_ns tier=full
    # shellcheck disable=SC1090
    . "$1"
    tap_tier=$tier
    tap_selects "$name" || return 0
    if [ "$place" = hosts ]; then
        MH_SIMULATED_CLOCK=exact=host1,$clock
        problem=$(hosts_problem "$hosts/with_hosts.sh")
    else
        MH_SIMULATED_CLOCK=exact=rank0,$clock
    fi
    if [ -z "$problem" ]; then
        judge_truth "$name" "$error_p99_ns" "${least_readings:-$((130 * (readings + 1)))}" "$jumps" "on_$place"
    else
        tap_skip "$name" "$problem"
    fi
}

# Settings and flags are words, and there may be none.
# shellcheck disable=SC2086
on_node() {
    limited env $settings "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 "$program" "$seconds" 2000 "$sync" "$readings" \
        2>&1 </dev/null
}
# shellcheck disable=SC2086
on_hosts() {
    limited env $settings MH_MPIEXEC="${MPIEXEC:-mpiexec}" "$hosts/with_hosts.sh" 2 \
        "$hosts/mpiexec_hosts.sh" -n 2 "$program" "$seconds" 2000 "$sync" "$readings" 2>&1 </dev/null
}

for file in "$source_dir"/scenarios/[12]*; do
    scenario "$file"
done
tap_done
