title="Latency over processes, 4 B, after a barrier and harmonized"
papers="EuroMPI 2023, Figures 8, 11, 14"
look="Harmonized curves should grow smoothly. Those after a barrier go up and down with the shape of the barrier."
needs=mpix_bench
value_column=avg_ns

measure() {
    local ranks operation
    for ranks in $(split_list "$ranks_list"); do
        for operation in bcast reduce allreduce; do
            release_jobs "$operation -m 4:4 $(calls_for 20 50000 0.5)" barrier harmonize
        done >"$work/jobs"
        bench "$ranks" algorithm library --jobs "$work/jobs" || return
    done
}
