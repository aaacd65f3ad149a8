title="How far apart processes start what follows a synchronization"
papers="Cluster 2018, Figure 8"
look="A low and flat box disturbs little what is measured next."
needs=mpix_bench

# What all ranks start after a synchronization, they start as far apart as it leaves them: from raw times to skews.
raw_to_skews() {
    $awk -F, -v group="$1" "$read_csv"'
        BEGIN { print "synchronization,size_bytes,call,skew_ns" }
        {
            release = value("release")
            key = group != "" ? group : release == "barrier" ? "own " value("barrier") : release
            call = key "," value("size_bytes") "," value("call")
            if (value("mark") != "valid") bad[call] = 1
            take(call, value("start_ns") + 0)
        }
        END { for (i = 1; i <= n; i++) if (!(list[i] in bad)) print list[i] "," max[list[i]] - min[list[i]] }'
}

# RANKS GROUP [OPTION]...: skews of the calls of mpix_bench with these options.
bench_skews() {
    local ranks=$1 group=$2 status
    shift 2
    launch "$ranks" mpix_bench --format csv --raw "$work/raw" "$@" >"$work/out"
    status=$?
    if [ $status -le 1 ] && raw_to_skews "$group" <"$work/raw" >"$work/skews" &&
        append_csv ranks "$ranks" <"$work/skews"; then
        return 0
    fi
    complain "$figure_name: mpix_bench $* at $ranks ranks failed, exit status $status"
    return $failed
}

measure() {
    local barrier calls
    calls="$(calls_for 20 1000 1)"
    progress "$max_ranks ranks, barriers of mpix_bench"
    {
        own_barrier_jobs "bcast -m 4:4 $calls"
        release_jobs "bcast -m 4:4 $calls" round-time harmonize
    } >"$work/jobs"
    bench_skews $max_ranks "" --jobs "$work/jobs" || return
    # shellcheck disable=SC2086
    for barrier in $(algorithms barrier); do
        choose_algorithm barrier "$barrier"
        progress "$max_ranks ranks, barrier $barrier"
        bench_skews $max_ranks "MPI $barrier" bcast -m 4:4 $calls --release barrier || return
    done
}

table() {
    $awk -F, "$read_csv"'
        { name = value("synchronization"); if (is_new(name)) order[name] = ++n }
        { print order[name] "," name "," value("skew_ns") }' "$data" |
        sort -t, -k1,1n -k3,3n | $awk -F, '
        function at(fraction,    i) { i = int(fraction * n + 0.999999); return list[i < 1 ? 1 : i] }
        function pretty(name) {
            sub(/^own /, "", name); sub(/^harmonize$/, "MPIX_Harmonize", name)
            sub(/recursive_?doubling/, "recursive doubling", name); sub(/double_?ring/, "double ring", name)
            return name
        }
        function finish() {
            if (n) print pretty(name) "," at(0.05) "," at(0.25) "," at(0.5) "," at(0.75) "," at(0.95)
            n = 0
        }
        BEGIN { print "label,p5,p25,p50,p75,p95" }
        $2 != name { finish() }
        { name = $2; list[++n] = $3 < 1 ? 1 : $3 }
        END { finish() }'
}
