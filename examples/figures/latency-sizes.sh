title="Latency over message sizes, after a barrier and harmonized"
papers="EuroMPI 2023, Figures 6a, 7a, 9a, 10a, 12a, 13a"
look="Solid and dashed lines of one color are the same operation. If they differ, the dashed one includes the exit
pattern of the barrier. If it crosses another color where the solid one does not, the barrier decides which algorithm
seems to be the faster one."
needs=mpix_bench
plot=latency
value_column=avg_ns

# Of Open MPI's reductions, those whose curves are drawn together.
compared_algorithms() { # OPERATION
    case $mpi_library/$1 in
    Open\ MPI*/reduce) echo "library linear$(amount " binomial" "")" ;;
    *) algorithms "$1" ;;
    esac
}

measure() {
    local operation algorithm sizes calls
    sizes=$(amount 4:65536 4:64)
    calls=$(calls_for 20 5000 0.3)
    for operation in bcast reduce allreduce; do
        for algorithm in $(compared_algorithms $operation); do
            choose_algorithms $operation "$algorithm"
            release_jobs "$operation -m $sizes $calls" barrier harmonize >"$work/jobs"
            bench $max_ranks algorithm "$algorithm" --jobs "$work/jobs" || return
        done
    done
}
