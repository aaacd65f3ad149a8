# SPDX-License-Identifier: BSD-3-Clause
#
# mpix_bench in the simulator, for figures of it. To be sourced by them. The way to the simulator is that of the tests.
if [ -n "$sources" ]; then
    . "$sources/test/simulation/simgrid.sh" || exit $failed
    simgrid_runner=supervise
    data_library="SimGrid SMPI, $simgrid_ranks_per_host processes a host"
fi

problem() {
    if [ -z "$sources" ]; then
        echo "it builds the library's sources for the simulator, and they are not here: give --sources"
    elif [ -n "$(simgrid_problem)" ]; then
        simgrid_problem
    elif [ $ranks_given -eq 1 ] && [ $max_ranks -lt 2 ]; then
        echo "it needs 2 ranks, --ranks gives fewer"
    fi
}

# OPERATION: algorithms of the simulator's MPI; with --quick the first two.
simulated_algorithms() {
    case $1 in
    reduce) echo ompi_chain ompi_binomial ompi_basic_linear ompi_binary ompi_in_order_binary ;;
    allreduce) echo rdb redbcast rab1 lr ;;
    bcast) echo binomial_tree flattree ompi_pipeline scatter_LR_allgather ;;
    alltoall) echo bruck pair ring ;;
    esac | cut -d' ' -f"$(amount 1- 1-2)"
}

# Builds the simulation, and describes hosts for $simulated_ranks ranks.
prepare_simulation() {
    local dir=$build_dir
    simulated_ranks=$(amount 128 32)
    [ $ranks_given -eq 0 ] || simulated_ranks=$max_ranks
    simgrid_platform "$work" "$simulated_ranks"
    [ -n "$dir" ] || dir=$work/build
    mkdir -p "$dir" || return
    dir=$(cd "$dir" && pwd) && simulation=$dir/mpix_bench_simulated
    if [ -x "$simulation" ] && [ -z "$(find "$sources"/{lib,include,tools,test} -name '*.[ch]' -newer "$simulation" \
        2>/dev/null)" ]; then
        return 0
    fi
    progress "building mpix_bench for the simulator"
    # All of the folder but the other program.
    # shellcheck disable=SC2046
    simgrid_build "$sources" "$simulation" $(cd "$sources" && printf '%s\n' tools/bench/*.c | grep -v skew) \
        test/simulation/clock_simulated.c >>"$log" 2>&1 && return 0
    complain "$figure_name: mpix_bench does not build for the simulator"
    return $failed
}

# smpirun adds lines of its own.
rows() { grep -E '^(operation|#|[a-z_]+,)' "$work/out"; }

# OPERATION ALGORITHM SEED [OPTION]...: simulates mpix_bench, with this algorithm of the simulator's MPI. With
# $exact_clocks=yes, clocks have no error.
simulate() {
    local operation=$1 algorithm=$2 seed=$3
    shift 3
    echo "\$ ($operation $algorithm, seed $seed) mpix_bench $*" >>"$log"
    local clock=$(simgrid_clock "$seed")
    [ "${exact_clocks-}" != yes ] || clock=exact=n0,spread=0,walk=0,jitter=0,seed=1
    MPIX_HARMONIZE_CLOCK=simulated MH_SIMULATED_CLOCK=$clock \
        simgrid_run "$work" "$simulated_ranks" --log=root.thres:critical --cfg=smpi/barrier:ompi_bruck \
        "--cfg=smpi/$operation:$algorithm" "$simulation" --format csv "$@" >"$work/out" 2>>"$log"
    keep $? algorithm,source,run "$algorithm,own,$seed" "mpix_bench simulated with $operation $algorithm"
}
