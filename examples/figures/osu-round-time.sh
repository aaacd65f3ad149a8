title="Latency of MPI_Allreduce, by the scheme of the OSU benchmarks and by Round-Time"
papers="Cluster 2018, Figure 9"
look="If the two differ, the difference is the effect of the barrier. Bars from the minimum to the maximum of several
launches show which scheme repeats better."
needs=mpix_bench

measure() {
    local run
    release_jobs "allreduce -m $(amount 4:4096 4:16) $(calls_for 20 5000 0.3)" barrier round-time harmonize \
        >"$work/jobs"
    for ((run = 1; run <= $(amount 5 2); run++)); do
        bench $max_ranks run $run --jobs "$work/jobs" || return
    done
}

# Mean, minimum and maximum over the launches.
table() {
    $awk -F, "$read_csv"'
        value("avg_ns") != "" { take(value("release") "," value("size_bytes"), value("avg_ns") / 1000) }
        END {
            print "release,size_bytes,mean_us,min_us,max_us"
            for (i = 1; i <= n; i++)
                print list[i] "," sum[list[i]] / count[list[i]] "," min[list[i]] "," max[list[i]]
        }' "$data"
}
