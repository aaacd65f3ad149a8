. "$parts/heatmap.sh"
title="Reported latency of MPI_Reduce, 4 B, simulated"
papers="EuroMPI 2023, Figure 2, where truth is known"
look="As in reduce-heatmap, on simulated hosts without noise. The harmonized columns are repeated runs on clocks that
differ from run to run, and agree."
data_library="SimGrid SMPI, $simgrid_ranks_per_host processes a host"

problem() {
    if [ -n "$(simgrid_problem)" ]; then
        simgrid_problem
    elif [ -z "$sources" ]; then
        echo "it builds the library's sources for the simulator, and they are not here: give --sources"
    elif [ $ranks_given -eq 1 ] && [ $max_ranks -lt 2 ]; then
        echo "it needs 2 ranks, --ranks gives fewer"
    fi
}

build_simulation() {
    local dir=$build_dir
    [ -n "$dir" ] || dir=$work/build
    mkdir -p "$dir" || return
    dir=$(cd "$dir" && pwd) && simulation=$dir/mpix_bench_simulated
    if [ -x "$simulation" ] && [ -z "$(find "$sources"/{lib,include,examples,test} -name '*.[ch]' -newer "$simulation" \
        2>/dev/null)" ]; then
        return 0
    fi
    progress "building mpix_bench for the simulator"
    simgrid_build "$sources" "$simulation" examples/bench/{mpix_bench.c,suite} test/simulation/clock_simulated.c \
        >>"$log" 2>&1 && return 0
    complain "$figure_name: mpix_bench does not build for the simulator"
    return $failed
}

# REDUCE SEED [OPTION]...: simulates mpix_bench on $simulated_ranks ranks, with this algorithm of the simulator's MPI.
simulate() {
    local reduce=$1 seed=$2 status
    shift 2
    echo "\$ (reduce $reduce, seed $seed) mpix_bench $*" >>"$log"
    MPIX_HARMONIZE_CLOCK=simulated MH_SIMULATED_CLOCK=$(simgrid_clock "$seed") \
        simgrid_run "$work" "$simulated_ranks" --log=root.thres:critical "--cfg=smpi/reduce:$reduce" \
        --cfg=smpi/barrier:ompi_bruck "$simulation" --format csv "$@" >"$work/out" 2>>"$log"
    status=$?
    # smpirun adds lines of its own.
    if grep -E '^(operation|#|[a-z_]+,)' "$work/out" | append_csv algorithm,source,run "$reduce,own,$seed" &&
        [ $status -le 1 ]; then
        return 0
    fi
    complain "$figure_name: simulating mpix_bench $* failed, exit status $status (reduce $reduce)"
    return $failed
}

# REDUCE OPTION...: a row of the heat map. The simulator's own barriers repeat those of mpix_bench, digit for digit.
simulate_reduction() {
    local reduce=$1 seed
    shift
    progress "reduce $reduce, barriers"
    own_barrier_jobs "$*" "doublering bruck" >"$work/jobs"
    simulate "$reduce" 1 --jobs "$work/jobs" || return
    for seed in $(amount "1 2 3" "1 2"); do
        progress "reduce $reduce, harmonized, seed $seed"
        simulate "$reduce" "$seed" "$@" --release harmonize || return
    done
}

measure() {
    local reduce
    simulated_ranks=$(amount 128 32)
    [ $ranks_given -eq 0 ] || simulated_ranks=$max_ranks
    build_simulation || return
    simgrid_platform "$work" "$simulated_ranks"
    for reduce in $(amount "ompi_basic_linear ompi_chain ompi_binary" "") ompi_binomial \
        $(amount ompi_in_order_binary ""); do
        simulate_reduction "$reduce" reduce -m 4:4 -i "$(amount 50 10)" -x 5 || return
    done
}
