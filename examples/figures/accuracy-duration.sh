title="Accuracy of the global clock against the duration of synchronization"
papers="Cluster 2018, Figures 3 to 6"
look="Good algorithms are in the lower left corner, and still are some time after the synchronization, when a bad
estimate of the drift shows."
needs=mpix_clock_check

measure() {
    check_clocks $max_ranks "$(amount track,skampi,jk,hca,hca2,hca3,hca3o,hca3+prop track,hca3o)" "$(amount 0,2 0,0.1)"
}

# Some durations are below the digits shown.
table() {
    $awk -F, "$read_csv"'
        BEGIN { print "ranks,sync,age,took_ms,error_ns" }
        {
            took_ms = at_least(value("took_ns") / 1e6, 0.001); error = at_least(error_ns(), 1)
            print value("ranks") "," value("sync") "," value("age_ns") / 1e9 "," took_ms "," error
        }' "$data"
}
