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

# Eight runs with 1,000 readings after each call: at least a million altogether, some millions on an idle machine.
on_node() {         # NAME CLOCK RANKS LABEL MAX_P99_NS [READINGS_A_CALL [JUMPS]]
    tap_selects "$1" || return 0
    local more=${6:-1000}
    MH_SIMULATED_CLOCK=exact=rank0,$2
    judge_truth "$1" "$5" $((130 * (more + 1))) "${7:-0}" processes "$3" 3 1000 "$4" "$more"
}

processes() {       # RANKS ARGUMENT...
    # shellcheck disable=SC2086
    limited "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n "$1" "$program" "${@:2}" 2>&1 </dev/null
}

quick on_node "one node, 10 ppm, random walk" drift=10000,walk=10,seed=1 2 track/skampi/20 20000
on_node "one node, -50 ppm, a clock two seconds behind" drift=-50000,walk=10,seed=2,offset=-2e9 2 track/skampi/20 20000
MPIX_HARMONIZE_WANDER_MAX_PPB_PER_S=1000 on_node "one node, the drift steps by 1 ppm" \
    drift=10000,step_at=1500000000,step=1000 2 track/skampi/20 20000
on_node "one node, clocks not shared, found out by prop" drift=10000,walk=10,seed=3,offset=5e6 2 prop 20000
on_node "one node, hca3" drift=10000,walk=10,seed=4 2 hca3/20/skampi/10 600000
on_node "one node, hca2" drift=10000,walk=10,seed=5 2 hca2/20/skampi/10 600000
on_node "one node, jk" drift=10000,walk=10,seed=6 2 jk/100/meanrtt/10 600000
on_node "one node, offsets only" drift=10000,walk=10,seed=7 2 hca3o/skampi/10 600000

# Between the jump and the next call nobody can know of it, so only the readings after calls count. A jump ahead is
# found out if it is longer than its process waits for the others, on a busy machine some milliseconds.
on_node "one node, a clock jumps ahead" drift=10000,walk=10,seed=8,jump_at=1500000000,jump=1e9 2 track/skampi/20 \
    600000 0 1
on_node "one node, a clock jumps back" drift=10000,walk=10,seed=9,jump_at=1500000000,jump=-1e10 2 track/skampi/20 \
    600000 0 1
on_node "one node, a shared clock jumps ahead" jump_at=1500000000,jump=1e9 2 prop 600000 0 1

# The first process has synchronized three milliseconds before it hears of the other: longer than the interval.
with_long_rounds() {    # NAME
    tap_selects "$1" || return 0
    MH_SIMULATED_CLOCK=exact=rank0,drift=10000,slow=1,slowness=3e6
    MPIX_HARMONIZE_BARRIER=tree MPIX_HARMONIZE_RESYNC_INTERVAL_NS=1000000 \
        judge_truth "$1" 100000000 10 0 processes 2 1 1000 hca3o/skampi/1
}
with_long_rounds "one node, rounds take longer than the interval"

on_hosts() {        # NAME CLOCK MAX_P99_NS
    tap_selects "$1" || return 0
    local problem
    MH_SIMULATED_CLOCK=exact=host1,$2
    problem=$(hosts_problem "$hosts/with_hosts.sh")
    if [ -z "$problem" ]; then judge_truth "$1" "$3" 100 0 two_hosts; else tap_skip "$1" "$problem"; fi
}

two_hosts() {
    MH_MPIEXEC=${MPIEXEC:-mpiexec} limited "$hosts/with_hosts.sh" 2 \
        "$hosts/mpiexec_hosts.sh" -n 2 "$program" 5 1000 track/skampi/20+prop 1000 2>&1 </dev/null
}

quick on_hosts "two hosts, 10 ppm, random walk" drift=10000,walk=10,seed=1 100000
on_hosts "two hosts, 50 ppm, random walk" drift=50000,walk=10,seed=2,offset=1e12 100000
tap_done
