title="How far apart processes start what follows a synchronization"
papers="Cluster 2018, Figure 8"
look="A barrier with a low and flat box disturbs the next measurement little."
needs=mpix_bench

# After a synchronization, all ranks start as far apart as it leaves them, so raw times of starts are skews.
rows() {
    $awk -F, "$read_csv"'
        BEGIN { print "release,barrier,size_bytes,call,skew_ns" }
        {
            call = value("release") "," value("barrier") "," value("size_bytes") "," value("call")
            if (value("mark") != "valid") bad[call] = 1
            take(call, value("start_ns") + 0)
        }
        END { for (i = 1; i <= n; i++) if (!(list[i] in bad)) print list[i] "," max[list[i]] - min[list[i]] }
        ' "$work/raw"
}

measure() {
    local barrier options
    options="bcast -m 4:4 $(calls_for 20 1000 1)"
    { own_barrier_jobs "$options" && release_jobs "$options" round-time harmonize; } >"$work/jobs"
    bench $max_ranks ranks,source "$max_ranks,own" --raw "$work/raw" --jobs "$work/jobs" || return
    for barrier in $(algorithms barrier); do
        choose_algorithms barrier "$barrier"
        # shellcheck disable=SC2086
        bench $max_ranks ranks,source "$max_ranks,$barrier" --raw "$work/raw" $options --release barrier || return
    done
}

table() {
    $awk -F, "$read_csv"'
        { label = barrier_label(); if (is_new(label)) order[label] = ++n }
        { print order[label] "," label "," value("skew_ns") }' "$data" |
        sort -t, -k1,1n -k3,3n | $awk -F, '
        function at(fraction,    i) { i = int(fraction * n + 0.999999); return list[i < 1 ? 1 : i] }
        function finish() {
            if (n) print label "," at(0.05) "," at(0.25) "," at(0.5) "," at(0.75) "," at(0.95)
            n = 0
        }
        BEGIN { print "label,p5,p25,p50,p75,p95" }
        $2 != label { finish() }
        { label = $2; list[++n] = $3 < 1 ? 1 : $3 }
        END { finish() }'
}
