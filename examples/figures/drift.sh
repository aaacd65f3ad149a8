title="Clocks of all ranks against those of rank 0"
papers="Cluster 2018, Figure 2"
look="Clocks of different hosts drift apart by microseconds per second, along a straight line for seconds, but not for
minutes. Ranks of one host share a clock, so only noise is left."
needs=mpix_clock

measure() {
    progress "$max_ranks ranks, $(amount 60 1) seconds"
    collect measured raw $max_ranks mpix_clock drift --format csv --duration-s "$(amount 60 1)" \
        --interval-s "$(amount 0.1 0.02)" --raw "$work/raw"
}
rows() { cat "$work/raw"; }

# Offsets minus the first, and their residuals from a line through all, of each clock and rank.
table() {
    $awk -F, "$read_csv"'
        BEGIN { print "clock,rank,time_s,offset_ns,residual_ns" }
        value("used") != 1 { next }
        { key = value("clock") "," value("rank") }
        is_new(key) { first[key] = value("offset_ns") }
        { printf "%s,%s,%.1f,%s\n", key, value("time_ns") / 1e9, value("offset_ns") - first[key], value("residual_ns") }
    ' "$data"
}
