. "$parts/arrivalmap.sh"
. "$parts/simulate.sh"
title="MPI_Reduce by algorithm and by arrival pattern, 4 B, simulated"
papers="after CLUSTER 2024, algorithm selection by process arrival patterns, where truth is known"
look="As in arrivals, on simulated hosts without noise. The order of the algorithms depends on the pattern, and runs
whose clocks drift and jitter differently find the same orders."

measure() {
    local reduce seed
    simulated_ranks=$(amount 128 32)
    [ $ranks_given -eq 0 ] || simulated_ranks=$max_ranks
    build_simulation || return
    simgrid_platform "$work" "$simulated_ranks"
    for reduce in $(amount "ompi_basic_linear" "") ompi_chain $(amount ompi_binary "") ompi_binomial \
        $(amount ompi_in_order_binary ""); do
        for seed in $(amount "1 2 3" "1 2"); do
            progress "reduce $reduce, seed $seed"
            simulate "$reduce" "$seed" reduce -m 4:4 -i "$(amount 10 8)" -x 2 --arrival "$(all_arrivals 40)" || return
        done
    done
}
