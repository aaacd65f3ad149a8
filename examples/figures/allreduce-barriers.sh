title="Latency of MPI_Allreduce after different barriers"
papers="Cluster 2018, Figure 7"
look="All bars of one size measure the same operation. Only the barrier before it differs. There is none before the
harmonized one."
needs=mpix_bench

measure() {
    local barrier options
    options="allreduce -m 4,8,16,64 $(calls_for 20 20000 0.5)"
    # shellcheck disable=SC2086
    bench_own_barriers $max_ranks algorithm library $options || return
    # shellcheck disable=SC2086
    for barrier in $(algorithms barrier); do
        choose_algorithms barrier "$barrier"
        bench $max_ranks algorithm,source "library,$barrier" $options --release barrier || return
    done
}

table() {
    $awk -F, "$read_csv"'
        BEGIN { print "ranks,label,size_bytes,avg_us" }
        value("avg_ns") != "" {
            print value("ranks") "," barrier_label() "," value("size_bytes") "," value("avg_ns") / 1000
        }' "$data"
}
