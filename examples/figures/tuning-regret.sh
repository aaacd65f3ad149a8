. "$parts/simulate.sh"
title="What a choice of algorithm loses, by how it was measured, simulated"
papers="after EuroMPI 2023, for the choice of algorithms, where truth is known"
look="A choice loses nothing if it takes the fastest algorithm. Truth is the time on clocks without an error. The mean
over ranks after a barrier, which is what most benchmarks report, hides the ranks that finish last. Harmonized starts
choose what is fastest if ranks come together. If they come as an arrival pattern has it, what counts is the time from
the last arrival to the last exit, and the choice has to be made by measuring with this pattern."

# US: by how much the ranks of an application come apart.
regret_patterns() { amount "last-late:$1,ascending:$1,bell:$1" "last-late:$1"; }

# Run 0 is the truth.
measure() {
    local operation algorithm run options
    prepare_simulation || return
    for operation in $(amount "allreduce bcast reduce" allreduce); do
        for algorithm in $(simulated_algorithms $operation); do
            for run in 0 $(amount "1 2 3" 1); do
                progress "$operation $algorithm, run $run"
                options="$operation -m $(amount 8,1K,16K,128K 8,1K) -i 3 -x 1"
                { release_jobs "$options" harmonize $([ "$run" = 0 ] || echo barrier) &&
                    echo "$options --arrival $(regret_patterns 40)"; } >"$work/jobs"
                exact_clocks=$([ "$run" = 0 ] && echo yes) simulate $operation "$algorithm" "$run" \
                    --jobs "$work/jobs" || return
            done
        done
    done
}

# For each way, size, pattern and run: the algorithm that seems the fastest, and how much slower than the fastest it is
# in truth.
table() {
    $awk -F, "$read_csv"'
        value("avg_ns") == "" { next }
        {
            row = value("operation") "," value("size_bytes"); algorithm = value("algorithm")
            pattern = value("release") == "harmonize" ? value("arrival") : ""
            if (pattern == "together") pattern = ""
            time = pattern == "" ? value("median_ns") : value("from_last_ns")
        }
        value("run") == 0 { truth[row "," pattern, algorithm] = time + 0; patterns[pattern]; next }
        value("release") == "barrier" {
            add("after a barrier", "", time)
            add("by the mean over ranks", "", value("avg_ns"))
        }
        pattern != "" { add("with its arrivals", pattern, time); next }
        value("release") == "harmonize" {
            for (one in patterns) add(one == "" ? "harmonized" : "harmonized for arrivals", one, time)
        }
        function add(way, its, time,    key) {
            key = row "," its SUBSEP way SUBSEP value("run")
            if (!(key in best)) keys[++n] = key
            if (!(key in best) || time + 0 < best[key]) { best[key] = time + 0; chosen[key] = algorithm }
        }
        END {
            print "operation,size_bytes,arrival,way,run,algorithm,fastest,lost_percent"
            for (i = 1; i <= n; i++) {
                split(keys[i], part, SUBSEP)
                least = ""
                for (pair in truth) {
                    split(pair, of, SUBSEP)
                    if (of[1] == part[1] && (least == "" || truth[pair] < least)) { least = truth[pair]; name = of[2] }
                }
                if (least > 0)
                    printf "%s,%s,%s,%s,%s,%.3f\n", part[1], part[2], part[3], pretty(chosen[keys[i]]), pretty(name),
                        100 * (truth[part[1], chosen[keys[i]]] / least - 1)
            }
        }' "$data"
}

tell() {
    table | $awk -F, "$read_csv"'
        { take(value("way"), value("lost_percent") + 0); wrong[value("way")] += value("lost_percent") >= 0.5 }
        END {
            for (i = 1; i <= n; i++)
                printf "%s: %d of %d choices are not the fastest; lost %.1f %% on average, at most %.1f %%.\n",
                    list[i], wrong[list[i]], count[list[i]], sum[list[i]] / count[list[i]], max[list[i]]
        }'
}
