# shellcheck shell=bash
# shellcheck disable=SC2034
title="Clocks of all ranks against those of rank 0"
papers="Cluster 2018, Figure 2"
look="Clocks of different hosts part by microseconds a second, in a straight line for seconds, not for minutes. Ranks of
one host share their clocks: then there is only noise."
needs=mpix_clock_drift

measure() {
    progress "$(max_ranks) ranks, $(amount 60 1) seconds"
    launch "$(max_ranks)" mpix_clock_drift --format csv --duration-s "$(amount 60 1)" \
        --interval-s "$(amount 0.1 0.02)" --raw "$work/raw" >"$work/out" && append_csv measured raw <"$work/raw"
}

# Offsets minus the first, and their residuals from a line through all, of each clock and rank.
table() {
    $awk -F, "$read_csv"'
        value("used") != 1 { next }
        {
            key = value("clock") SUBSEP value("rank")
            if (!(key in n)) { keys[++count] = key; first[key] = value("offset_ns") }
            i = ++n[key]; x[key, i] = value("time_ns") / 1e9; y[key, i] = value("offset_ns") - first[key]
            sx[key] += x[key, i]; sy[key] += y[key, i]; sxx[key] += x[key, i] ^ 2; sxy[key] += x[key, i] * y[key, i]
        }
        END {
            print "clock,rank,time_s,offset_ns,residual_ns"
            for (k = 1; k <= count; k++) {
                key = keys[k]; split(key, part, SUBSEP); wide = n[key] * sxx[key] - sx[key] ^ 2
                slope = wide > 0 ? (n[key] * sxy[key] - sx[key] * sy[key]) / wide : 0
                for (i = 1; i <= n[key]; i++)
                    printf "%s,%s,%s,%.1f,%.1f\n", part[1], part[2], x[key, i], y[key, i],
                        y[key, i] - sy[key] / n[key] - slope * (x[key, i] - sx[key] / n[key])
            }
        }' "$data"
}
