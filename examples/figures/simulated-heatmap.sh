. "$parts/heatmap.sh"
. "$parts/simulate.sh"
title="Reported latency of MPI_Reduce, 4 B, simulated"
papers="EuroMPI 2023, Figure 2, where truth is known"
look="As in reduce-heatmap, on simulated hosts without noise. The harmonized columns are repeated runs on clocks that
differ from run to run, and agree."

# REDUCE OPTION...: a row of the heat map. The simulator's own barriers repeat those of mpix_bench, digit for digit.
simulate_reduction() {
    local reduce=$1 seed
    shift
    progress "reduce $reduce, barriers"
    own_barrier_jobs "$*" "doublering bruck" >"$work/jobs"
    simulate reduce "$reduce" 1 --jobs "$work/jobs" || return
    for seed in $(amount "1 2 3" "1 2"); do
        progress "reduce $reduce, harmonized, seed $seed"
        simulate reduce "$reduce" "$seed" "$@" --release harmonize || return
    done
}

measure() {
    local reduce
    prepare_simulation || return
    for reduce in $(amount "ompi_basic_linear ompi_chain ompi_binary" "") ompi_binomial \
        $(amount ompi_in_order_binary ""); do
        simulate_reduction "$reduce" reduce -m 4:4 -i "$(amount 50 10)" -x 5 || return
    done
}
