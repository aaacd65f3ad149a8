. "$parts/arrivalmap.sh"
. "$parts/simulate.sh"
title="Collective operations by algorithm and by arrival pattern, 4 B, simulated"
papers="after CLUSTER 2024, algorithm selection by process arrival patterns, where truth is known"
look="As in arrivals, on simulated hosts without noise. The order of the algorithms depends on the pattern, and runs
whose clocks drift and jitter differently find the same orders."

# OPERATION: algorithms of the simulator's MPI; with --quick the first two.
simulated_algorithms() {
    case $1 in
    reduce) echo ompi_chain ompi_binomial ompi_basic_linear ompi_binary ompi_in_order_binary ;;
    allreduce) echo rdb redbcast rab1 lr ;;
    bcast) echo binomial_tree flattree ompi_pipeline scatter_LR_allgather ;;
    alltoall) echo bruck pair ring ;;
    esac | cut -d' ' -f"$(amount 1- 1-2)"
}
measure_cell() { simulate "$1" "$2" "$3" "$1" -m 4:4 -i "$(amount 10 8)" -x 2 --arrival "$4"; }
measure() { prepare_simulation && measure_map 40 simulated_algorithms; }
